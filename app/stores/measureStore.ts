/** Packings that System 1 really read, with the engine of this tab: what was measured, and how far a measurement is. */
import { create } from "zustand";
import type { PackingMeasurement } from "../../src/index";
import type { EngineProblem } from "../../src/worker/protocol";
import type { MeasureOutcome, MeasureRequest } from "../../src/worker/researchProtocol";
import { engine, loadEngine, onEngineMessage, useEngine, wantModels } from "./engineStore";
import { releaseEngine, takeEngine } from "./jobStore";

export interface MeasureState {
  phase: "idle" | "waiting" | "running" | "stopping";
  /** What is or was measured. */
  request?: Omit<MeasureRequest, "run"> | undefined;
  rows?: readonly PackingMeasurement[] | undefined;
  /** What it was measured on. */
  device?: string | undefined;
  /** Readings done, of all. */
  progress?: { done: number; total: number } | undefined;
  /** The bins are too large: the most that the model reads. */
  most?: number | undefined;
  problem?: EngineProblem | undefined;
}

export const useMeasure = create<MeasureState>(() => ({ phase: "idle" }));

let current = 0;
onEngineMessage("measureProgress", ({ run, done, total }) => {
  if (run === current) useMeasure.setState({ progress: { done, total } });
});

useMeasure.subscribe(({ phase }) => phase === "idle" && releaseEngine("measurement"));

// A worker that crashed never answers.
useEngine.subscribe(({ status }) => {
  if (status !== "failed" || useMeasure.getState().phase === "idle") return;
  current++;
  useMeasure.setState({ phase: "idle" });
});

/** Loads the model and measures; does nothing while the engine works for others. */
export async function measurePackings(request: Omit<MeasureRequest, "run">): Promise<void> {
  if (useMeasure.getState().phase !== "idle" || !takeEngine("measurement", stopMeasuring)) return;
  const run = ++current;
  useMeasure.setState({
    ...{ phase: "waiting", request, rows: undefined, progress: undefined, most: undefined, problem: undefined },
  });
  // The room works without the engine until somebody measures.
  wantModels([request.model]);
  const ready = await loadEngine();
  if (run !== current) return;
  if (!ready) {
    useMeasure.setState({ phase: "idle" });
    return;
  }
  const { devices, models } = useEngine.getState();
  const own = models.find(({ id }) => id === request.model)?.engine;
  useMeasure.setState({
    phase: "running",
    device: (devices.find((device) => device.engine === own) ?? devices[0])?.name,
  });
  let outcome: MeasureOutcome;
  try {
    outcome = await engine().measurePacking({ ...request, run });
  } catch (error) {
    outcome = { status: "failed", problem: { kind: "engineFailed", detail: String(error) } };
  }
  if (run !== current) return;
  useMeasure.setState({
    phase: "idle",
    progress: undefined,
    ...(outcome.status === "finished" && { rows: outcome.rows }),
    ...(outcome.status === "tooLarge" && { most: outcome.most }),
    ...(outcome.status === "failed" && { problem: outcome.problem }),
  });
}

export function stopMeasuring(): void {
  const { phase } = useMeasure.getState();
  if (phase === "waiting") {
    current++;
    useMeasure.setState({ phase: "idle" });
  } else if (phase === "running") {
    useMeasure.setState({ phase: "stopping" });
    void engine().stop();
  }
}
