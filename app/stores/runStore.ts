/** The run on the screen: asked, waiting for the model, running, over. Its events stay in the recorder. */
import { create } from "zustand";
import type { TraceEvent } from "../../src/index";
import type { EngineProblem, ResearchRequest, RunOutcome } from "../../src/worker/protocol";
import { EventRecorder } from "../engine/eventRecorder";
import { foldEvents, type RunView } from "../engine/runView";
import { engine, loadEngine, onEngineMessage, useEngine } from "./engineStore";
import { releaseEngine, takeEngine } from "./jobStore";

export interface RunState {
  /** "waiting" is the time until the model is loaded; "stopping" the moment between Stop and the last event. */
  phase: "idle" | "waiting" | "running" | "stopping" | "over";
  view?: RunView;
  problem?: EngineProblem;
}

export const useRun = create<RunState>(() => ({ phase: "idle" }));

/** Whether a run occupies the engine. */
export const isBusy = (state: RunState): boolean => state.phase !== "idle" && state.phase !== "over";

let current = 0;
const recorder = new EventRecorder<TraceEvent, RunView>(foldEvents, (view) =>
  useRun.setState(view?.finished ? { view, phase: "over" } : { view }),
);
onEngineMessage("events", ({ run, events }) => {
  if (run === current) recorder.push(events);
});

// A worker that crashed never answers: its run is over with what has arrived.
useEngine.subscribe(({ status }) => {
  const { view } = useRun.getState();
  if (status !== "failed" || !isBusy(useRun.getState())) return;
  current++;
  useRun.setState({ phase: view ? "over" : "idle" });
});

useRun.subscribe((state) => !isBusy(state) && releaseEngine("research"));

/** Starts a run, once the model is there. Does nothing while the engine works for another run. */
export async function ask(request: Omit<ResearchRequest, "run">): Promise<void> {
  if (isBusy(useRun.getState()) || !takeEngine("research", stop)) return;
  const run = ++current;
  recorder.reset();
  useRun.setState({ phase: "waiting", view: undefined, problem: undefined });
  const ready = await loadEngine();
  if (run !== current) return;
  if (!ready) {
    useRun.setState({ phase: "idle" });
    return;
  }
  useRun.setState({ phase: "running" });
  let outcome: RunOutcome;
  try {
    outcome = await engine().research({ ...request, run });
  } catch (error) {
    outcome = { status: "failed", problem: { kind: "engineFailed", detail: String(error) } };
  }
  // A finished run is over when its last event has arrived; a failed one may never send it.
  if (run === current && outcome.status === "failed") useRun.setState({ phase: "over", problem: outcome.problem });
}

export function stop(): void {
  const { phase } = useRun.getState();
  if (phase === "waiting") {
    current++;
    useRun.setState({ phase: "idle" });
  } else if (phase === "running") {
    useRun.setState({ phase: "stopping" });
    void engine().stop();
  }
}

/** The events of the run on the screen, oldest first. */
export function recordedEvents(): TraceEvent[] {
  return recorder.events();
}
