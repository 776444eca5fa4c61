/** What the two stages of link training have in common for whatever runs them step by step. */
import type { RecursiveLink } from "../links/recursiveLink";
import type { RecursionQuestion } from "../recursion/question";
import type { Tensor } from "../tensor/tensor";
import type { TrainingEvent } from "../trace/trainingEvents";

/** Samples that a validation shows. */
export const SHOWN_SAMPLES = 6;

/** Where questions come from. The same seed always gives the same question. */
export interface TrainingTask {
  name: string;
  /** Seeds of training and of held-out questions never meet: see `TRAINING_SEEDS` of questionSeeds.ts. */
  question(seed: number): RecursionQuestion;
}

/** A link of a system under the name that files and events give it. */
export interface NamedLink {
  name: string;
  link: RecursiveLink;
}

/** What a stage has recorded of one step; the tensors live until the scope that was current ends. */
export interface RecordedStep {
  /** [1, 1]. */
  loss: Tensor;
  /** Mean of 1 - cosine of the inner links' outputs and their targets, [1, 1]; inner stage. */
  cosineDistance?: Tensor;
  /** The messages of each round, round 1 first, with `retainGrad` set where gradients flow; outer stage. */
  messages?: Tensor[][];
  rounds?: number;
  /** Rows that went through the agents. */
  tokens: number;
}

export type ValidationSample = Extract<TrainingEvent, { type: "trainingValidation" }>["samples"][number];

export interface Validation {
  loss: number;
  n: number;
  accuracy?: number;
  byRounds?: { rounds: number; accuracy: number }[];
  samples: ValidationSample[];
}

export interface LinkStage {
  readonly trained: readonly NamedLink[];
  readonly frozen: readonly NamedLink[];
  /**
   * Records the loss of a step; within a scope of the tape. The same step gives the same loss for the same links.
   * @param step counted from 1
   */
  record(step: number): RecordedStep;
  /** Looks at held-out questions; trains nothing. */
  validate(signal?: AbortSignal): Promise<Validation>;
}
