/** Training of links: the run in the worker, how it stands, and the one that is saved in this browser. */
import { create } from "zustand";
import type { TrainingEvent, TrainingStage } from "../../src/index";
import type { EngineProblem } from "../../src/worker/protocol";
import type { FileOutcome, LinkFile } from "../../src/worker/recursionProtocol";
import type {
  ImportOutcome,
  Outcome,
  SavedTraining,
  TrainingOutcome,
  TrainRequest,
} from "../../src/worker/trainingProtocol";
import { EventRecorder } from "../engine/eventRecorder";
import { foldTraining, type TrainingView } from "../engine/trainingView";
import { engine, loadEngine, onEngineMessage, useEngine } from "./engineStore";
import { releaseEngine, takeEngine } from "./jobStore";
import { noteLinks } from "./linksStore";
import { ringAgents } from "./ringStore";

export interface TrainingState {
  /**
   * waiting: for the models. starting: links are being made, shaders compiled. stepping: one step out of a halt.
   * pausing, stopping: until the next step boundary.
   */
  phase: "idle" | "waiting" | "starting" | "running" | "stepping" | "pausing" | "paused" | "stopping";
  /** Of the run that is there. */
  stage?: TrainingStage | undefined;
  view?: TrainingView | undefined;
  /** The run that is saved in this browser. */
  saved?: SavedTraining | undefined;
  problem?: EngineProblem | undefined;
  /** Why the last automatic save failed. */
  notSaved?: string | undefined;
  /** Halted because the page was hidden, and to go on when it is seen again. */
  hidden: boolean;
}

export const useTraining = create<TrainingState>(() => ({ phase: "idle", hidden: false }));

/** Whether there is a run in the worker, at work or halted. */
export const isLive = ({ phase }: TrainingState): boolean => phase !== "idle";
const WORKING: readonly TrainingState["phase"][] = [
  "waiting",
  "starting",
  "running",
  "stepping",
  "pausing",
  "stopping",
];
/** Whether the device is at work for it. */
export const isWorking = ({ phase }: TrainingState): boolean => WORKING.includes(phase);

let current = 0;
const recorder = new EventRecorder<TrainingEvent, TrainingView>(foldTraining, (view) => useTraining.setState({ view }));

onEngineMessage("trainingEvents", ({ run, events }) => {
  if (run !== current) return;
  recorder.push(events);
  for (const { type } of events) {
    const { phase } = useTraining.getState();
    if (type === "trainingPaused") halt();
    else if (type === "trainingResumed" && phase === "paused") useTraining.setState({ phase: "running" });
    else if (type === "trainingStep" && phase === "starting") useTraining.setState({ phase: "running" });
  }
});
/** A run that is halted shows all its steps. */
function halt(): void {
  recorder.flush();
  useTraining.setState({ phase: "paused" });
}

onEngineMessage("linksTrained", ({ info }) => noteLinks(info));
onEngineMessage("trainingNotSaved", ({ detail }) => useTraining.setState({ notSaved: detail }));

useTraining.subscribe((state) => {
  if (!isWorking(state)) releaseEngine("training");
});

// A worker that crashed, or a lost device: what is left is the saved run.
useEngine.subscribe(({ status, models }, before) => {
  const crashed = status === "failed" && before.status !== "failed";
  const lost = models.length === 0 && before.models.length > 0;
  if ((!crashed && !lost) || !isLive(useTraining.getState())) return;
  current++;
  useTraining.setState({ phase: "idle" });
});

const failed = (error: unknown): { status: "failed"; problem: EngineProblem } => ({
  status: "failed",
  problem: { kind: "engineFailed", detail: String(error) },
});

export type TrainOptions = Omit<TrainRequest, "run" | "agents">;

/** Begins a run; the one that was there is replaced. */
export function startTraining(options: TrainOptions): Promise<void> {
  if (options.settings.stage === "inner") recorder.reset();
  return run(options.settings.stage, (id) => engine().train({ ...options, run: id, agents: ringAgents() }));
}

/** Goes on with the saved run. */
export async function resumeSaved(options: Pick<TrainOptions, "saveEvery" | "paused">): Promise<void> {
  const { saved } = useTraining.getState();
  if (!saved) return;
  recorder.reset();
  recorder.push(saved.events);
  await run(saved.stage, (id) => engine().resumeTraining({ ...options, run: id, agents: ringAgents() }));
}

async function run(stage: TrainingStage, call: (id: number) => Promise<TrainingOutcome>): Promise<void> {
  if (isWorking(useTraining.getState()) || !takeEngine("training", pauseTraining)) return;
  const id = ++current;
  useTraining.setState({ phase: "waiting", stage, problem: undefined, notSaved: undefined, hidden: false });
  const ready = await loadEngine();
  if (id !== current) return;
  if (!ready) {
    useTraining.setState({ phase: "idle" });
    return;
  }
  useTraining.setState({ phase: "starting" });
  const outcome = await call(id).catch(failed);
  if (id !== current) return;
  recorder.flush();
  useTraining.setState({ phase: "idle", hidden: false });
  if (outcome.status === "failed") useTraining.setState({ problem: outcome.problem });
  await lookForSaved();
}

/** Halts at the next step boundary. */
export function pauseTraining(): void {
  const { phase } = useTraining.getState();
  if (phase === "waiting") {
    current++;
    useTraining.setState({ phase: "idle" });
  } else if (phase === "running" || phase === "starting") {
    useTraining.setState({ phase: "pausing" });
    void settle(() => engine().pauseTraining());
  }
}

export function continueTraining(): void {
  if (useTraining.getState().phase !== "paused" || !takeEngine("training", pauseTraining)) return;
  useTraining.setState({ phase: "running", hidden: false });
  void settle(() => engine().continueTraining());
}

/** One step out of a halt. */
export function stepTraining(): void {
  if (useTraining.getState().phase !== "paused" || !takeEngine("training", pauseTraining)) return;
  useTraining.setState({ phase: "stepping" });
  void settle(() => engine().stepTraining()).then(() => {
    if (useTraining.getState().phase === "stepping") halt();
  });
}

export function stopTraining(): void {
  if (!isLive(useTraining.getState())) return;
  if (useTraining.getState().phase === "waiting") pauseTraining();
  else {
    useTraining.setState({ phase: "stopping" });
    void engine().stopTraining();
  }
}

async function settle(call: () => Promise<Outcome>): Promise<void> {
  const outcome = await call().catch(failed);
  if (outcome.status === "failed" && isLive(useTraining.getState())) {
    useTraining.setState({ phase: "paused", problem: outcome.problem });
  }
}

/** The page is hidden or seen again: a run halts and goes on. */
export function followVisibility(isHidden: boolean): void {
  const { phase, hidden } = useTraining.getState();
  if (isHidden && phase === "running") {
    useTraining.setState({ hidden: true });
    pauseTraining();
  } else if (!isHidden && hidden) {
    useTraining.setState({ hidden: false });
    continueTraining();
  }
}

/** Asks the worker for the saved run; its charts are drawn unless a run is there. */
export async function lookForSaved(): Promise<void> {
  const outcome = await engine().savedTraining().catch(failed);
  if (outcome.status === "failed") {
    useTraining.setState({ problem: outcome.problem });
    return;
  }
  take(outcome.saved);
}

function take(saved: SavedTraining | undefined): void {
  const state = useTraining.getState();
  useTraining.setState({ saved });
  if (!saved) return;
  noteLinks(saved.links);
  if (saved.began) noteLinks(saved.began);
  if (!isLive(state) && !state.view) useTraining.setState({ view: foldTraining(undefined, saved.events) });
}

/** Opens a run, which becomes the saved one, or a set of links. */
export async function importTraining(file: LinkFile): Promise<ImportOutcome> {
  const outcome = await engine().importTraining(file).catch(failed);
  if (outcome.status === "links") noteLinks(outcome.info);
  if (outcome.status === "run") {
    noteLinks({ ...outcome.saved.links, id: "opened" });
    useTraining.setState({ view: undefined });
    take(outcome.saved);
  }
  return outcome;
}

export function exportTraining(): Promise<FileOutcome> {
  return engine().exportTraining().catch(failed);
}
