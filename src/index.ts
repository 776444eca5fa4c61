/** The public interface of the library. The page and other programs import from here and from `worker/` only. */
export { parseAddress } from "./checkpoint/address";
export type { Checkpoint, CheckpointSource, CheckpointTensor } from "./checkpoint/checkpoint";
export type { ModelConfig } from "./checkpoint/config";
export {
  checkpointFiles,
  type HubCheckpoint,
  type HubFile,
  type HubListing,
  type HubModel,
  hubSource,
  listHubModel,
  parseHubId,
} from "./checkpoint/hub";
export { type CheckpointListing, type ListedFile, listCheckpoint } from "./checkpoint/listing";
export { openCheckpoint } from "./checkpoint/load";
export { QUANTIZATIONS, type Quantization } from "./checkpoint/quantize";
export { fileListSource, type PickedFile, urlSource } from "./checkpoint/sources";
export { CheckpointStore, type KeptOrigin, type StoredCheckpoint } from "./checkpoint/store";
export type { StoreFolder } from "./checkpoint/storeFolder";
export type { FileKind } from "./corpus/parsed";
export { findQuote, quoteSource } from "./corpus/quotes";
export {
  CORPUS_ENDINGS,
  type Corpus,
  type CorpusDocument,
  type CorpusFile,
  type CorpusOptions,
  type CorpusProgress,
  DEFAULT_CORPUS_LIMITS,
  type InputFile,
  inputFile,
  isHiddenPath,
  placeOf,
  readCorpus,
  type SkippedFile,
} from "./corpus/readCorpus";
export type { DocumentSource, FileSource } from "./corpus/source";
export { type BatchOptions, type BatchQuestion, type BatchResult, researchBatch } from "./dual/batch";
export { type Branch, branchStart } from "./dual/branch";
export { type DualEvaluation, evaluateDual } from "./dual/evaluate";
export { type ResearchOptions, type ResearchResult, type ResearchTurn, research } from "./dual/loop";
export { type MeasureOptions, measurePacking, type PackingMeasurement } from "./dual/measurePacking";
export { NOTHING_RELEVANT } from "./dual/prompts";
export { openReader, type Reader } from "./dual/reader";
export type { Tool, ToolCost, ToolDocument, ToolNetwork } from "./dual/tool";
export { NetworkSwitch } from "./dual/tools/network";
export { type OpenAlexSettings, openAlex } from "./dual/tools/openAlex";
export { type PassageSize, passageSize } from "./dual/tools/passageSize";
export { type PythonRunner, pythonTool } from "./dual/tools/python";
export { type ScholarSource, scholarTool, shippedPapers } from "./dual/tools/scholar";
export { prepareSearch, type SearchableDocument, searchDocuments, searchTool } from "./dual/tools/search";
export { standardTools } from "./dual/tools/standard";
export { type WikipediaSettings, wikipediaTool } from "./dual/tools/wikipedia";
export { Gpu, type GpuLimits, type OpenGpuOptions, openGpu } from "./gpu/device";
export { DeviceLostError, GpuFailure, GpuOutOfMemoryError, GpuUnavailableError } from "./gpu/errors";
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
export { estimateMemory, type MemoryEstimate, type MemoryOptions } from "./model/memoryEstimate";
export { openOnnxExport, openOnnxModel } from "./onnx/browserModels";
export { estimateWasmMemory, type OnnxMemoryOptions, WASM_BYTES } from "./onnx/memoryEstimate";
export { ONNX_PROVIDERS, type OnnxProvider } from "./onnx/runtime";
export { martelloTothLowerBound, sumLowerBound } from "./packing/bounds";
export { figuresOf, type PackingFigures, packingFigures } from "./packing/figures";
export { guaranteedBins } from "./packing/guarantees";
export { type BestPacking, bestPacking } from "./packing/optimum";
export {
  type Bin,
  PACKING_ALGORITHMS,
  type Packing,
  type PackingAlgorithm,
  type PackingStep,
  pack,
  packingSteps,
} from "./packing/pack";
export { PackingStudy, type StudyOptions, type StudyRow } from "./packing/study";
export { sampled, shuffled, TRAPS, type Trap, trap, uniformLengths, type Workload } from "./packing/workloads";
export { Random } from "./random/random";
export {
  checkSystem,
  type EmbeddingNorms,
  type LatentModel,
  openLatentModel,
  type RecursionAgent,
  type RecursionSystem,
  type Ring,
  type ThinkingModel,
  thinkingModel,
} from "./recursion/agent";
export {
  type AccuracyOf,
  CONDITIONS,
  type Condition,
  type ConditionResult,
  conditionOf,
  type EvaluateRecursionOptions,
  evaluateRecursion,
  type RecursionEvaluation,
} from "./recursion/evaluate";
export type { LatentEngine } from "./recursion/latentEngine";
export { type ChosenLinks, chooseLinks, fitInnerLinks, type UnlinkedSystem } from "./recursion/linkChoice";
export { type LinkedSystem, linkSystem } from "./recursion/linkSetSystem";
export { type OpenQuestionOptions, openQuestion } from "./recursion/openQuestion";
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
export { plainBatch, plainEngine } from "./recursion/plainEngine";
export { choosePlainLinks, type PlainSystem, plainLinkSystem, TAPE_CHOICES } from "./recursion/plainSystem";
export { NO_MESSAGE, type Register, SLOT } from "./recursion/prompts";
export type { Grade, PromptRequest, RecursionQuestion } from "./recursion/question";
export { RecursionBatch, type TargetRows } from "./recursion/recursionBatch";
export { type RelayRecursionQuestion, relayQuestion } from "./recursion/relayTask";
export {
  type RecursionOptions,
  type RecursionResult,
  type RoundAnswers,
  runPlainRecursion,
  runRecursion,
} from "./recursion/run";
export type { SlotFill } from "./recursion/slottedPrompts";
export {
  type LatentMessage,
  type Unrolled,
  type UnrollOptions,
  type UnrollStep,
  unroll,
  unrollSteps,
} from "./recursion/unroll";
export { CHECKED_CONFIGS, checkDecoder, type DecoderErrors } from "./tensor/check/decoderCheck";
export { type CaseInput, type OpCase, opCases } from "./tensor/check/opCases";
export { type CaseErrors, relativeError, runCase } from "./tensor/check/runCase";
export { type DecoderPass, DifferentiableDecoder } from "./tensor/decoder";
export {
  byCheckpointName,
  type DecoderLayerTensors,
  type DecoderTensors,
  decoderTensorList,
  type LoadDecoderOptions,
  loadDecoderTensors,
} from "./tensor/decoderWeights";
export { type CacheOptions, type ForkOptions, KeyCache } from "./tensor/keyCache";
export { type AdamWParameter, type AdamWSettings, type AdamWStatistics, adamWStep } from "./tensor/ops/adamW";
export {
  type AttentionHeads,
  type AttentionInputsOptions,
  type AttentionOptions,
  attention,
  attentionInputs,
  ropeAngles,
} from "./tensor/ops/attention";
export { add, gelu, scale, swiglu } from "./tensor/ops/elementwise";
export { linear, weightedRows } from "./tensor/ops/linear";
export {
  type ClippedPolicyOptions,
  clippedPolicyLoss,
  cosineDistance,
  cosineLoss,
  crossEntropy,
  maskedMean,
  meanSquareError,
  tokenLogProbs,
  weightedSum,
} from "./tensor/ops/losses";
export { layerNorm, rmsNorm } from "./tensor/ops/norm";
export { concatRows, gatherRows, joinHeads, sliceRows, splitHeads } from "./tensor/ops/rows";
export { softmax } from "./tensor/ops/softmax";
export { type SequenceLengths, Sequences } from "./tensor/sequences";
export { type Integers, Tape } from "./tensor/tape";
export type { Tensor } from "./tensor/tensor";
export type { ChatMessage, ModelTokenizer, ToolFunction } from "./text/tokenizer";
export { type Ledger, type TraceDocument, type TraceEvent, type TraceSink, traceEventSchema } from "./trace/events";
export {
  type LensEntry,
  LINK_CHOICES,
  type LinkChoice,
  type Passing,
  type RecursionEvent,
  type RecursionLedger,
  recursionEventSchema,
} from "./trace/recursionEvents";
export { type TrainingEvent, type TrainingStage, trainingEventSchema } from "./trace/trainingEvents";
export { AdamW, type OptimizerSettings, type OptimizerState, type StepStatistics } from "./train/optimizer";
export { type CosineSchedule, cosineRate } from "./train/schedule";
export {
  FEEDBACKS,
  innerSettingsSchema,
  OUTER_STARTS,
  outerSettingsSchema,
  type TrainingSettings,
  type TrainingSettingsInput,
} from "./train/settings";
export {
  makeRelay,
  RELAY_DEALS,
  RELAY_NAMES,
  RELAY_VERBS,
  type RelayDeal,
  type RelayFact,
  type RelayQuestion,
} from "./world/relay";
export { wilson95 } from "./world/stats";
export type { World, WorldDocument, WorldQuestion } from "./world/types";
export { makeWorld } from "./world/world";
