/** The public interface of the library. The page and other programs import from here and from `worker/` only. */
export type { Checkpoint, CheckpointSource, CheckpointTensor } from "./checkpoint/checkpoint";
export type { ModelConfig } from "./checkpoint/config";
export { type DualEvaluation, evaluateDual } from "./dual/evaluate";
export { type ResearchOptions, type ResearchResult, type ResearchTurn, research } from "./dual/loop";
export { NOTHING_RELEVANT } from "./dual/prompts";
export type { Tool, ToolDocument } from "./dual/tool";
export { type PythonRunner, pythonTool } from "./dual/tools/python";
export { type SearchableDocument, searchDocuments, searchTool } from "./dual/tools/search";
export { standardTools } from "./dual/tools/standard";
export type {
  ForwardOptions,
  GenerateOptions,
  GenerateRequest,
  GenerateResult,
  LanguageModel,
  SamplingOptions,
  SequenceInput,
  TokenEvent,
} from "./model/languageModel";
export { martelloTothLowerBound, sumLowerBound } from "./packing/bounds";
export {
  type Bin,
  PACKING_ALGORITHMS,
  type Packing,
  type PackingAlgorithm,
  type PackingStep,
  pack,
  packingSteps,
} from "./packing/pack";
export {
  checkSystem,
  type EmbeddingNorms,
  type LatentModel,
  openLatentModel,
  type RecursionAgent,
  type RecursionSystem,
} from "./recursion/agent";
export {
  deliberationPattern,
  distillationPattern,
  mixturePattern,
  type Pattern,
  type PatternEdge,
  planTurns,
  sequentialPattern,
  type Turn,
} from "./recursion/pattern";
export type { SlotFill } from "./recursion/promptBatch";
export { NO_MESSAGE, type Register, SLOT } from "./recursion/prompts";
export type { Grade, PromptRequest, RecursionQuestion } from "./recursion/question";
export { RecursionBatch, type TargetRows } from "./recursion/recursionBatch";
export { type RelayRecursionQuestion, relayQuestion } from "./recursion/relayTask";
export {
  type LatentMessage,
  type Unrolled,
  type UnrollOptions,
  type UnrollStep,
  unroll,
  unrollSteps,
} from "./recursion/unroll";
export type { ChatMessage, ModelTokenizer, ToolFunction } from "./text/tokenizer";
export { type Ledger, type TraceDocument, type TraceEvent, type TraceSink, traceEventSchema } from "./trace/events";
export { wilson95 } from "./world/stats";
export type { World, WorldDocument, WorldQuestion } from "./world/types";
export { makeWorld } from "./world/world";
