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

let wanted: number | undefined;

/** Generates the world of a seed unless it is there already; the last call wins. */
export async function openWorld(seed: number): Promise<void> {
  if (wanted === seed && !useWorld.getState().failure) return;
  wanted = seed;
  useWorld.setState({ failure: undefined });
  try {
    const world = await engine().world(seed);
    if (wanted === seed) useWorld.setState({ world });
  } catch (error) {
    if (wanted === seed) useWorld.setState({ failure: String(error) });
  }
}
