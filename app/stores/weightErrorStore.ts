/** What fewer bits cost the loaded models, as it was measured; one measurement at a time. */
import { create } from "zustand";
import type { EngineProblem } from "../../src/worker/protocol";
import type { WeightError } from "../../src/worker/weightError";
import { engine, onEngineMessage } from "./engineStore";
import { releaseEngine, takeEngine } from "./jobStore";

export interface WeightErrorState {
  /** By model. */
  errors: Readonly<Record<string, WeightError>>;
  /** The model that is measured now, and how far that is, 0 to 1. */
  measuring?: { id: string; share: number } | undefined;
  /** Of the last measurement. */
  failed?: { id: string; problem: EngineProblem } | undefined;
}

export const useWeightErrors = create<WeightErrorState>(() => ({ errors: {} }));

onEngineMessage("measuring", ({ share }) =>
  useWeightErrors.setState(({ measuring }) => ({ measuring: measuring && { ...measuring, share } })),
);

/** What was measured of a model before it was loaded in another format. */
export function forgetWeightError(id: string): void {
  useWeightErrors.setState(({ errors: { [id]: _, ...errors }, failed }) => ({
    errors,
    failed: failed?.id === id ? undefined : failed,
  }));
}

export const stopMeasuring = () => void engine().stop();

/** Does nothing while the engine is at work. */
export async function measureWeightError(id: string): Promise<void> {
  if (!takeEngine("weightError", stopMeasuring)) return;
  forgetWeightError(id);
  useWeightErrors.setState({ measuring: { id, share: 0 }, failed: undefined });
  const outcome = await engine()
    .measureWeights(id)
    .catch((error) => ({ status: "failed", problem: { kind: "engineFailed", detail: String(error) } }) as const);
  releaseEngine("weightError");
  useWeightErrors.setState(({ errors }) => ({
    measuring: undefined,
    ...(outcome.status === "finished" && { errors: { ...errors, [id]: outcome.error } }),
    ...(outcome.status === "failed" && { failed: { id, problem: outcome.problem } }),
  }));
}
