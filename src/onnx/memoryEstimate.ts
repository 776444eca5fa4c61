/**
 * What a model takes in onnxruntime-web's WebAssembly, from its configuration alone: weights as weights.ts lays them
 * out, the cache of a padded batch, and the rows that one run computes.
 */
import { expectedTensors, type ModelConfig } from "../checkpoint/config";
import { isQuantizable, matrixRowBytes, type Quantization } from "../checkpoint/quantize";
import { formatBytes } from "../gpu/errors";
import type { MemoryEstimate } from "../model/memoryEstimate";
import type { OnnxProvider } from "./runtime";

/** Addresses in WebAssembly have 32 bits. */
export const WASM_BYTES = 2 ** 32;

/** Multiply-adds of one run: about a second, so that an abort takes effect. */
const OPERATIONS_PER_RUN = { wasm: 1e10, webgpu: 1e11 };
/** Bounds the activations of a run. */
const MAX_RUN_ROWS = 512;
/** Logits of one run. */
const LOGITS_BYTES = 64 * 2 ** 20;
/** Keys and values that went in, that come out, and the copy that joins them. */
const CACHE_COPIES = 3;

/** Rows of all sequences that one run computes. */
export function rowsPerRun(config: ModelConfig, provider: OnnxProvider, hasAllLogits: boolean): number {
  const { hiddenSize, intermediateSize, heads, kvHeads, headDim, layers, vocabSize } = config;
  const perLayer = hiddenSize * ((2 * heads + 2 * kvHeads) * headDim + 3 * intermediateSize);
  const perRow = layers * perLayer + (hasAllLogits ? hiddenSize * vocabSize : 0);
  return Math.min(
    MAX_RUN_ROWS,
    OPERATIONS_PER_RUN[provider] / perRow,
    hasAllLogits ? LOGITS_BYTES / (vocabSize * 4) : Number.POSITIVE_INFINITY,
  );
}

export interface OnnxMemoryOptions {
  /** Default "stored", which is f32. */
  quantization?: Quantization;
  /** Of an export: bytes of its graph and weights. */
  exportBytes?: number;
  /** Tokens of a sequence, prompt and answer. */
  context: number;
}

/** Of one sequence. @throws RangeError for a context beyond the model's positions */
export function estimateWasmMemory(config: ModelConfig, options: OnnxMemoryOptions): MemoryEstimate {
  const { quantization = "stored", exportBytes, context } = options;
  const { hiddenSize, intermediateSize, heads, kvHeads, headDim, vocabSize, layers, maxPositions } = config;
  if (!(context >= 1 && context <= maxPositions)) {
    throw new RangeError(`context: ${context} tokens, and the model has ${maxPositions} positions`);
  }
  const weights = exportBytes ?? weightBytes(config, quantization) + context * headDim * 4;
  const keyValueCache = CACHE_COPIES * 2 * layers * context * kvHeads * headDim * 4;
  const rows = Math.max(1, Math.min(context, Math.floor(rowsPerRun(config, "wasm", exportBytes !== undefined))));
  const perRow = 4 * hiddenSize + (3 * heads + 2 * kvHeads) * headDim + 3 * intermediateSize + 2 * heads * context;
  const activations = 4 * (rows * perRow + (exportBytes === undefined ? 1 : rows) * vocabSize);
  const total = weights + keyValueCache + activations;
  const problems =
    total > WASM_BYTES
      ? [`It takes ${formatBytes(total)}, and WebAssembly holds ${formatBytes(WASM_BYTES)} at most.`]
      : [];
  return { weights, keyValueCache, activations, total, problems };
}

function weightBytes(config: ModelConfig, quantization: Quantization): number {
  let sum = 0;
  for (const [name, [rows = 1, width]] of expectedTensors(config)) {
    const isTable = name === "model.embed_tokens.weight" || name === "lm_head.weight";
    const codes = quantization === "q8" || (quantization === "q4" && isTable) ? "Q8" : "Q4";
    const dtype = quantization === "stored" || width === undefined || !isQuantizable(width) ? "F32" : codes;
    sum += width === undefined ? rows * 4 : rows * matrixRowBytes(dtype, width);
  }
  return sum;
}
