/** The public interface of the library. The page and other programs import from here and from `worker/` only. */
export type { Checkpoint, CheckpointSource, CheckpointTensor } from "./checkpoint/checkpoint";
export type { ModelConfig } from "./checkpoint/config";
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
export type { ChatMessage, ModelTokenizer, ToolFunction } from "./text/tokenizer";
export { type Ledger, type TraceDocument, type TraceEvent, type TraceSink, traceEventSchema } from "./trace/events";
export type { World, WorldDocument, WorldQuestion } from "./world/types";
export { makeWorld } from "./world/world";
