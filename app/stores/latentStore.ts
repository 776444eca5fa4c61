/** What is looked at in the latent recursion: the selected part, the space, and the axes of its map. */
import { create } from "zustand";
import type { VocabularySample } from "../../src/worker/recursionProtocol";
import type { MapAxes } from "../engine/mapAxes";
import { engine } from "./engineStore";

export type LatentSelection = { part: "vector"; key: string } | { part: "turn"; round: number; agent: number };

export interface LatentState {
  selected?: LatentSelection | undefined;
  /** Model whose space is drawn. */
  space?: string | undefined;
  /** Embeddings by model. */
  vocabularies: Readonly<Record<string, VocabularySample>>;
  /** By space and what they were fitted on. Once fitted, axes stay until the visitor lets them go. */
  axes: Readonly<Record<string, MapAxes>>;
}

export const useLatents = create<LatentState>(() => ({ vocabularies: {}, axes: {} }));

/** Tokens of a map's ground. */
const GROUND_TOKENS = 700;

/** Selects a part; selecting it again lets it go. */
export function selectLatent(selection: LatentSelection): void {
  const { selected } = useLatents.getState();
  const isSame = JSON.stringify(selected) === JSON.stringify(selection);
  useLatents.setState({ selected: isSame ? undefined : selection });
}

export function clearLatentSelection(): void {
  useLatents.setState({ selected: undefined });
}

const asked = new Set<string>();

/** Fetches a model's embeddings from the worker, once; the model must be loaded. */
export async function openVocabulary(model: string): Promise<void> {
  if (asked.has(model)) return;
  asked.add(model);
  try {
    const outcome = await engine().vocabulary(model, GROUND_TOKENS);
    if (outcome.status === "ready") {
      useLatents.setState(({ vocabularies }) => ({ vocabularies: { ...vocabularies, [model]: outcome.sample } }));
      return;
    }
  } catch {
    // The worker's own failure is told elsewhere; without embeddings the map has no ground.
  }
  asked.delete(model);
}

export function keepAxes(key: string, axes: MapAxes): void {
  useLatents.setState((state) => ({ axes: { ...state.axes, [key]: axes } }));
}

/** Lets the axes of a space go, so that they are fitted anew. */
export function dropAxes(space: string): void {
  useLatents.setState(({ axes }) => ({
    axes: Object.fromEntries(Object.entries(axes).filter(([key]) => !key.startsWith(`${space}:`))),
  }));
}
