/** Calls and messages of the engine worker about recursions and links; see protocol.ts. */
import type { AccuracyOf, ConditionResult } from "../recursion/evaluate";
import type { LinkChoice, Passing, RecursionEvent } from "../trace/recursionEvents";
import type { RelayDeal, RelayFact } from "../world/relay";
import type { EngineProblem } from "./protocol";

export interface AgentSpec {
  /** Unique in the ring. */
  id: string;
  /** What its prompt calls it. */
  role: string;
  /** Id of a model that was loaded with `latent`. */
  model: string;
}

/** A question of relay: drawn from a seed, or with a chain of one's own. */
export interface RelaySpec {
  seed: number;
  hops: number;
  deal: RelayDeal;
  /** The facts to follow; their look-alikes are drawn from the seed. */
  chain?: RelayFact[];
  /** For each fact of the chain the agent that holds it. */
  holders?: number[];
}

/** Agents in a ring, and the links between them. */
export interface RingSpec {
  agents: AgentSpec[];
  /** Id of a set of links that was opened; needed where a choice takes trained links. */
  links?: string;
}

export interface RecursionRequest extends RingSpec {
  /** Told back with every event. */
  run: number;
  relay: RelaySpec;
  passing: Passing;
  rounds: number;
  latentSteps: number;
  inner: LinkChoice;
  outer: LinkChoice;
  /** Whether to look, after each round, at what the last agent would answer. */
  peeks: boolean;
  temperature: number;
  /** Of sampling, noise and projections. */
  seed: number;
}

export interface EvaluationRequest extends RingSpec {
  run: number;
  /** Names of src/recursion/evaluate's conditions. */
  conditions: string[];
  /** Questions. */
  n: number;
  rounds: number[];
  latentSteps: number;
  seed: number;
}

export type EvaluationOutcome =
  | { status: "finished"; results: EvaluationRow[] }
  | { status: "stopped" }
  | { status: "failed"; problem: EngineProblem };

export type EvaluationRow = Pick<
  ConditionResult,
  "links" | "rounds" | "n" | "accuracy" | "ci95" | "textTokens" | "latentSteps" | "ms"
> & { byRoundsNeeded: Record<string, AccuracyOf> };

/** Links as files: a set of ours, or files of the released layout. */
export interface LinkFile {
  name: string;
  bytes: Uint8Array<ArrayBuffer>;
}

export interface LinkSetInfo {
  /** Handle for requests. */
  id: string;
  /** What the set calls itself. */
  name: string;
  task: string;
  agents: { id: string; model: string; hiddenSize: number }[];
  innerLinks: number;
  outerLinks: number;
  parameters: number;
  /** Vectors of the messages that it was trained on, where it tells. */
  latentSteps?: number;
  /** Everything else that the set tells of its training. */
  training: Record<string, unknown>;
}

export type LinksOutcome = { status: "ready"; info: LinkSetInfo } | { status: "failed"; problem: EngineProblem };
export type FileOutcome = { status: "ready"; file: LinkFile } | { status: "failed"; problem: EngineProblem };

/** Input embeddings, for the ground of a map. */
export interface VocabularySample {
  model: string;
  hiddenSize: number;
  texts: string[];
  /** [texts.length, hiddenSize]. */
  vectors: Float32Array<ArrayBuffer>;
}

export type VocabularyOutcome =
  | { status: "ready"; sample: VocabularySample }
  | { status: "failed"; problem: EngineProblem };

export type RecursionMessage =
  | { type: "recursionEvents"; run: number; events: RecursionEvent[] }
  | { type: "evaluationProgress"; run: number; links: string; done: number; n: number };
