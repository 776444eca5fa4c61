/**
 * The run on the screen: asked, waiting for the model, running, over; or one that was recorded before. Its events stay
 * in the recorder. Runs that are over are kept, so that they can be shown again and compared.
 */
import { create } from "zustand";
import type { TraceEvent } from "../../src/index";
import type { EngineProblem, ResearchRequest, RunOutcome } from "../../src/worker/protocol";
import { type DualTrace, parseDualTrace, writeDualTrace } from "../engine/dualTrace";
import { EventRecorder } from "../engine/eventRecorder";
import { foldEvents, type RunView } from "../engine/runView";
import { engine, loadEngine, onEngineMessage, useEngine } from "./engineStore";
import { releaseEngine, takeEngine } from "./jobStore";
import { chosenSystems } from "./systemsStore";

export interface RunState {
  /** "waiting" is the time until the model is loaded; "stopping" the moment between Stop and the last event. */
  phase: "idle" | "waiting" | "running" | "stopping" | "over";
  view?: RunView | undefined;
  problem?: EngineProblem | undefined;
  /** recorded: shipped with the page. file: opened by the visitor. */
  origin?: "live" | "recorded" | "file" | undefined;
  /** Search parameters of the room that describe the run. */
  search?: DualTrace["search"] | undefined;
  /** What ran it. */
  device?: string | undefined;
  /** Runs that are over, oldest first. */
  runs: readonly KeptRun[];
  /** Id of the run on the screen; a run in progress has one before it is kept. */
  shown?: number | undefined;
  /** Ids of the two runs to compare. */
  pins: { a?: number | undefined; b?: number | undefined };
}

export interface KeptRun extends DualTrace {
  id: number;
  origin: "live" | "recorded" | "file";
  view: RunView;
}

export type Pin = keyof RunState["pins"];

const KEPT_RUNS = 16;

export const useRun = create<RunState>(() => ({ phase: "idle", runs: [], pins: {} }));

/** Whether a run occupies the engine. */
export const isBusy = (state: RunState): boolean => state.phase !== "idle" && state.phase !== "over";

let current = 0;
let lastId = 0;
/** The next run that is over is compared as this one. */
let pinNext: Pin | undefined;
const recorder = new EventRecorder<TraceEvent, RunView>(foldEvents, (view) => {
  useRun.setState(view?.finished ? { view, phase: "over" } : { view });
  if (view?.finished) keepShown();
});
onEngineMessage("events", ({ run, events }) => {
  if (run === current) recorder.push(events);
});

// A worker that crashed never answers: its run is over with what has arrived.
useEngine.subscribe(({ status }) => {
  const { view } = useRun.getState();
  if (status !== "failed" || !isBusy(useRun.getState())) return;
  nextId();
  useRun.setState({ phase: view ? "over" : "idle" });
});

useRun.subscribe((state) => !isBusy(state) && releaseEngine("research"));

/** Puts the run on the screen, which is over, into the list; an equal recorded one gives way. */
function keepShown(): void {
  const { runs, pins, view, origin = "live", search = {}, device } = useRun.getState();
  if (!view) return;
  const key = JSON.stringify(search);
  const others = runs.filter(
    (run) =>
      run.id !== current && !(origin === "recorded" && run.origin === origin && JSON.stringify(run.search) === key),
  );
  const events = recorder.events();
  const run: KeptRun = { id: current, origin, search, view, events, ...(device !== undefined && { device }) };
  const kept = [...others, run];
  // Those that are compared stay, however many come after them.
  while (kept.length > KEPT_RUNS) {
    const oldest = kept.findIndex(({ id }) => id !== pins.a && id !== pins.b);
    kept.splice(oldest, 1);
  }
  const ids = new Set(kept.map(({ id }) => id));
  const stays = (id: number | undefined) => (id !== undefined && ids.has(id) ? id : undefined);
  const pinned = { a: stays(pins.a), b: stays(pins.b), ...(pinNext && { [pinNext]: current }) };
  pinNext = undefined;
  useRun.setState({ runs: kept, shown: current, pins: pinned });
}

/** Brings a run that is over back to the screen, unless one is going on. */
export function showRun(id: number): void {
  const run = useRun.getState().runs.find((kept) => kept.id === id);
  if (!run || isBusy(useRun.getState())) return;
  const { view, origin, search, device, events } = run;
  current = id;
  recorder.reset();
  recorder.fill(events);
  useRun.setState({ phase: "over", view, origin, search, device, problem: undefined, shown: id });
}

/** Compares a run as one of two; the same again lets it go. */
export function pinRun(pin: Pin, id: number): void {
  useRun.setState(({ pins }) => ({ pins: { ...pins, [pin]: pins[pin] === id ? undefined : id } }));
}

/** Starts a run that is going to be compared with the one on the screen. */
export function askToCompare(request: Omit<ResearchRequest, "run">, search: DualTrace["search"]): void {
  const { shown, phase } = useRun.getState();
  if (shown === undefined || phase !== "over") return;
  useRun.setState({ pins: { a: shown } });
  void ask(request, search);
  pinNext = "b";
}

/**
 * Starts a run, once the model is there. Does nothing while the engine works for another run.
 * @param search what the room's address holds: it is saved with the run
 */
export async function ask(request: Omit<ResearchRequest, "run">, search: DualTrace["search"]): Promise<void> {
  if (isBusy(useRun.getState()) || !takeEngine("research", stop)) return;
  const run = nextId();
  recorder.reset();
  pinNext = undefined;
  useRun.setState({
    ...{ phase: "waiting", view: undefined, problem: undefined, origin: "live", search, device: undefined },
    shown: run,
  });
  const ready = await loadEngine();
  if (run !== current) return;
  if (!ready) {
    useRun.setState({ phase: "idle" });
    return;
  }
  useRun.setState({ phase: "running", device: useEngine.getState().devices[0]?.name });
  let outcome: RunOutcome;
  try {
    outcome = await engine().research({ ...request, ...chosenSystems(), run });
  } catch (error) {
    outcome = { status: "failed", problem: { kind: "engineFailed", detail: String(error) } };
  }
  // A finished run is over when its last event has arrived; a failed one may never send it.
  if (run !== current || outcome.status !== "failed") return;
  recorder.flush();
  useRun.setState({ phase: "over", problem: outcome.problem });
}

/** Ids are never used twice, though an older run may be on the screen again. */
function nextId(): number {
  current = ++lastId;
  return current;
}

export function stop(): void {
  const { phase } = useRun.getState();
  if (phase === "waiting") {
    nextId();
    useRun.setState({ phase: "idle" });
  } else if (phase === "running") {
    useRun.setState({ phase: "stopping" });
    void engine().stop();
  }
}

/** The events of the run on the screen, oldest first. */
export function recordedEvents(): readonly TraceEvent[] {
  return recorder.events();
}

/** The run on the screen as a file. */
export function writeRun(): string {
  const { search = {}, device } = useRun.getState();
  return writeDualTrace({ search, events: recorder.events(), ...(device !== undefined && { device }) });
}

/** Shows a run from a file, unless one is going on. @throws Error naming what is wrong with the file */
export function openRun(text: string, origin: "recorded" | "file"): DualTrace | undefined {
  const trace = parseDualTrace(text);
  if (isBusy(useRun.getState())) return undefined;
  const { search, device, events } = trace;
  const shown = nextId();
  recorder.reset();
  recorder.fill(events);
  const view = foldEvents(undefined, events);
  useRun.setState({ phase: "over", view, problem: undefined, origin, search, device, shown });
  keepShown();
  return trace;
}

/** Takes a recorded run off the screen: the settings describe another one. */
export function clearRecorded(): void {
  if (useRun.getState().origin !== "recorded") return;
  recorder.reset();
  useRun.setState({
    ...{ phase: "idle", view: undefined, origin: undefined, search: undefined, device: undefined, shown: undefined },
  });
}
