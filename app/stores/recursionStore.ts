/** The recursions of this visit: the one that runs, those that ran, and one that was recorded before. */
import { create } from "zustand";
import type { RecursionEvent } from "../../src/index";
import type { EngineProblem, RunOutcome } from "../../src/worker/protocol";
import type { RecursionRequest, RelaySpec } from "../../src/worker/recursionProtocol";
import { EventRecorder } from "../engine/eventRecorder";
import { parseRecursionTrace } from "../engine/recursionTrace";
import { fetchTrace } from "../engine/shippedTrace";
import { engine, loadEngine, onEngineMessage, useEngine } from "./engineStore";
import { releaseEngine, takeEngine } from "./jobStore";

export type RunRequest = Omit<RecursionRequest, "run">;

export interface RecursionRun {
  id: number;
  /** recorded: shipped with the page. file: opened by the visitor. */
  origin: "live" | "recorded" | "file";
  relay: RelaySpec;
  /** Unknown of runs from a file. */
  request?: RunRequest;
  events: readonly RecursionEvent[];
  isOver: boolean;
}

export interface RecursionState {
  /** "waiting" is the time until the models are loaded. */
  phase: "idle" | "waiting" | "running" | "stopping";
  /** Oldest first. */
  runs: readonly RecursionRun[];
  /** Id of the run on the screen. */
  shown?: number | undefined;
  problem?: EngineProblem | undefined;
}

export const useRecursion = create<RecursionState>(() => ({ phase: "idle", runs: [] }));

const KEPT_RUNS = 12;

let current = 0;
let ended: ((event: RecursionEvent) => void) | undefined;
const recorder = new EventRecorder<RecursionEvent, readonly RecursionEvent[]>(
  (before = [], events) => [...before, ...events],
  (events = []) => {
    const last = events.at(-1);
    const isOver = last?.type === "recursionFinished";
    change(current, { events, isOver });
    if (isOver) ended?.(last);
  },
);

onEngineMessage("recursionEvents", ({ run, events }) => {
  if (run === current) recorder.push(events);
});

useRecursion.subscribe(({ phase }) => phase === "idle" && releaseEngine("recursion"));

// A worker that crashed never answers: its run is over with what has arrived.
useEngine.subscribe(({ status }) => {
  if (status !== "failed" || useRecursion.getState().phase === "idle") return;
  change(current, { isOver: true });
  current++;
  useRecursion.setState({ phase: "idle" });
});

function change(id: number, to: Partial<RecursionRun>): void {
  useRecursion.setState(({ runs }) => ({ runs: runs.map((run) => (run.id === id ? { ...run, ...to } : run)) }));
}

function add(run: RecursionRun): void {
  useRecursion.setState(({ runs }) => ({
    // What was recorded gives way to what is live.
    runs: [...runs.filter(({ origin }) => run.origin !== "live" || origin !== "recorded"), run].slice(-KEPT_RUNS),
    shown: run.id,
  }));
}

export function isBusy({ phase }: RecursionState): boolean {
  return phase !== "idle";
}

export function showRun(id: number): void {
  useRecursion.setState({ shown: id });
}

/** Runs recursions one after the other, once the models are there. Does nothing while the engine works for others. */
export async function runRecursions(requests: readonly RunRequest[]): Promise<void> {
  if (isBusy(useRecursion.getState()) || !takeEngine("recursion", stopRecursion)) return;
  useRecursion.setState({ phase: "waiting", problem: undefined });
  const ticket = ++current;
  const ready = await loadEngine();
  if (ticket !== current) return;
  if (ready) {
    useRecursion.setState({ phase: "running" });
    for (const request of requests) if (!(await runOne(request))) break;
  }
  useRecursion.setState({ phase: "idle" });
}

/** Resolves to whether the next one may run. */
async function runOne(request: RunRequest): Promise<boolean> {
  const id = ++current;
  recorder.reset();
  add({ id, origin: "live", relay: request.relay, request, events: [], isOver: false });
  const finished = new Promise<RecursionEvent>((resolve) => {
    ended = resolve;
  });
  let outcome: RunOutcome;
  try {
    outcome = await engine().recur({ ...request, run: id });
  } catch (error) {
    outcome = { status: "failed", problem: { kind: "engineFailed", detail: String(error) } };
  }
  if (id !== current) return false;
  if (outcome.status === "failed") {
    recorder.flush();
    // It may have failed before its first event.
    const { runs } = useRecursion.getState();
    const kept = runs.filter((run) => run.id !== id || run.events.length > 0);
    useRecursion.setState({ problem: outcome.problem, runs: kept, shown: kept.at(-1)?.id });
    change(id, { isOver: true });
    return false;
  }
  // The run is over for the screen when its last event has been drawn.
  const last = await finished;
  return last.type === "recursionFinished" && last.reason === "answer";
}

export function stopRecursion(): void {
  const { phase } = useRecursion.getState();
  if (phase === "waiting") {
    current++;
    useRecursion.setState({ phase: "idle" });
  } else if (phase === "running") {
    useRecursion.setState({ phase: "stopping" });
    void engine().stop();
  }
}

const RECORDED = "traces/latent-recursion.json";

/**
 * Shows the run that the page was shipped with, made on this request, unless there is another one. A page without it
 * begins empty.
 */
export async function openRecorded(request: RunRequest): Promise<void> {
  const text = await fetchTrace(RECORDED);
  if (text === undefined || useRecursion.getState().runs.length > 0) return;
  try {
    openRecursionTrace(text, "recorded", request);
  } catch {
    // A damaged file is as good as none.
  }
}

/** Shows a recorded run. @throws Error naming what is wrong with the file */
export function openRecursionTrace(text: string, origin: "recorded" | "file", request?: RunRequest): void {
  const { relay, events } = parseRecursionTrace(text);
  add({ id: ++current, origin, relay, ...(request && { request }), events, isOver: true });
}
