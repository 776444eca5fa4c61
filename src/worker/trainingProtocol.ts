/** Calls and messages of the engine worker about training links; see protocol.ts. */
import type { TrainingEvent, TrainingStage } from "../trace/trainingEvents";
import type { TrainingSettingsInput } from "../train/settings";
import type { EngineProblem } from "./protocol";
import type { AgentSpec, FileOutcome, LinkFile, LinkSetInfo } from "./recursionProtocol";

export interface TrainRequest {
  /** Told back with every event. */
  run: number;
  agents: AgentSpec[];
  settings: TrainingSettingsInput;
  /** Handle of a set of links to go on from; those that it lacks, and all without a set, begin anew. */
  links?: string;
  /** Begin outer links anew even where the set has some. */
  freshOuter?: boolean;
  /** The run is saved in the browser every so many steps; at pauses and at the end it always is. */
  saveEvery: number;
  /** Begin halted before the first step. */
  paused?: boolean;
}

/** Goes on with the run that is saved in the browser. */
export type ResumeRequest = Pick<TrainRequest, "run" | "agents" | "saveEvery" | "paused">;

/** How a call that does not give anything ended. */
export type Outcome = { status: "done" } | { status: "failed"; problem: EngineProblem };

export type TrainingEnd = Extract<TrainingEvent, { type: "trainingFinished" }>["reason"];

/** How a run ended; everything else stands in its events. */
export type TrainingOutcome =
  | { status: "finished"; reason: TrainingEnd }
  | { status: "failed"; problem: EngineProblem };

/** A run that is saved in the browser. */
export interface SavedTraining {
  stage: TrainingStage;
  step: number;
  steps: number;
  /** Milliseconds since 1970. */
  savedAt: number;
  settings: Record<string, unknown>;
  /** Of this run and of the stage before it; empty where the run came from a file. */
  events: TrainingEvent[];
  /** The links of the run, which are on the shelf under the handle "trained". */
  links: LinkSetInfo;
  /** The same links before any training, under the handle "began"; unknown for a run from a file. */
  began?: LinkSetInfo;
}

export type SavedOutcome =
  | { status: "ready"; saved: SavedTraining | undefined }
  | { status: "failed"; problem: EngineProblem };

/** A run becomes the saved one; links alone are opened under the handle "opened". */
export type ImportOutcome =
  | { status: "run"; saved: SavedTraining }
  | { status: "links"; info: LinkSetInfo }
  | { status: "failed"; problem: EngineProblem };

export interface TrainingApi {
  /** Trains a stage; resolves when the run has ended. It replaces the run that was there. */
  train(request: TrainRequest): Promise<TrainingOutcome>;
  /** As `train`, exactly where the saved run was. */
  resumeTraining(request: ResumeRequest): Promise<TrainingOutcome>;
  /** Halts at the next step boundary and saves the run. */
  pauseTraining(): Promise<Outcome>;
  continueTraining(): Promise<Outcome>;
  /** While halted: one step, then halted again. */
  stepTraining(): Promise<Outcome>;
  /** Ends the run at the next step boundary. */
  stopTraining(): void;
  savedTraining(): Promise<SavedOutcome>;
  /** Forgets the saved run. */
  discardTraining(): Promise<Outcome>;
  importTraining(file: LinkFile): Promise<ImportOutcome>;
  /** The run as a file, or the saved one; it is a set of links as well. */
  exportTraining(): Promise<FileOutcome>;
}

export type TrainingMessage =
  | { type: "trainingEvents"; run: number; events: TrainingEvent[] }
  /** The links of the run as they are now, under the handle "trained", or as they began, under "began". */
  | { type: "linksTrained"; info: LinkSetInfo }
  /** The run goes on, but it could not be saved in the browser. */
  | { type: "trainingNotSaved"; detail: string };
