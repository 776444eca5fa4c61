/** The corpus that questions are asked about, generated from its seed in the worker. */
import { create } from "zustand";
import type { WorldSummary } from "../../src/worker/protocol";
import { engine } from "./engineStore";

export interface WorldState {
  world?: WorldSummary;
  /** Why the last world could not be made. */
  failure?: string;
}

export const useWorld = create<WorldState>(() => ({}));

let wanted: string | undefined;

/** Generates a corpus of a seed unless it is there already; the last call wins. */
export async function openWorld(seed: number, corpus: WorldSummary["corpus"] = "encyclopedia"): Promise<void> {
  const key = `${corpus} ${seed}`;
  if (wanted === key && !useWorld.getState().failure) return;
  wanted = key;
  useWorld.setState({ failure: undefined });
  try {
    const world = await engine().world(seed, corpus);
    if (wanted === key) useWorld.setState({ world });
  } catch (error) {
    if (wanted === key) useWorld.setState({ failure: String(error) });
  }
}
