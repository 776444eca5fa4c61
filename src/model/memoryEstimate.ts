/**
 * What a model will take on the device, before anything is fetched: from its configuration alone. The numbers are those
 * of weights.ts, kvCache.ts and workspace.ts, and a test holds them to that.
 */
import type { TensorDtype } from "../checkpoint/checkpoint";
import type { ModelConfig } from "../checkpoint/config";
import { isQuantizable, type MatrixDtype, matrixRowBytes, type Quantization } from "../checkpoint/quantize";
import type { GpuLimits } from "../gpu/device";
import { formatBytes } from "../gpu/errors";
import { maxChunkRows } from "./prefill";
import type { CacheDtype } from "./shaders";
import { codesOf, padded } from "./weights";

export interface MemoryOptions {
  /** Number format of the checkpoint's tensors. */
  stored: TensorDtype;
  /** Default "stored". */
  quantization?: Quantization;
  /** Default "f32". */
  kvDtype?: CacheDtype;
  /** Tokens of a sequence, prompt and answer. */
  context: number;
  /** Side by side. Default 1. */
  sequences?: number;
  /** Of the adapter. */
  limits: GpuLimits;
  /** Whether the adapter is a program on the CPU. Default false. */
  isSoftware?: boolean;
}

export interface MemoryEstimate {
  /** Bytes. */
  weights: number;
  keyValueCache: number;
  activations: number;
  total: number;
  /** Sentences on what one buffer of the device cannot hold; nothing can be loaded then, however much memory there is. */
  problems: string[];
}

/** @throws RangeError for a context beyond the model's positions */
export function estimateMemory(config: ModelConfig, options: MemoryOptions): MemoryEstimate {
  const { context, sequences = 1, kvDtype = "f32", limits } = options;
  const { hiddenSize, intermediateSize, heads, kvHeads, headDim, vocabSize, layers, maxPositions } = config;
  if (!(context >= 1 && context <= maxPositions)) {
    throw new RangeError(`context: ${context} tokens, and the model has ${maxPositions} positions`);
  }
  const limit = Math.min(limits.maxBindingBytes, limits.maxBufferBytes);
  const problems: string[] = [];
  const inOneBinding = (what: string, bytes: number) => {
    if (bytes <= limit) return bytes;
    problems.push(`${what} takes ${formatBytes(bytes)}, and one buffer of this device holds ${formatBytes(limit)}.`);
    return bytes;
  };

  const { matrixBytes, tableBytes } = sizesOf(options);
  const qkvRows = (heads + 2 * kvHeads) * headDim;
  const vector = (length: number) => padded(length) * 4;
  const layer =
    2 * vector(hiddenSize) +
    inOneBinding("the matrix of queries, keys and values", matrixBytes(qkvRows, hiddenSize)) +
    inOneBinding("attention's output matrix", matrixBytes(hiddenSize, heads * headDim, headDim)) +
    inOneBinding("the matrix of gate and up", matrixBytes(2 * intermediateSize, hiddenSize)) +
    inOneBinding("the matrix down", matrixBytes(hiddenSize, intermediateSize)) +
    (config.qkvBias ? vector(qkvRows) : 0) +
    (config.qkNorm ? vector(2 * headDim) : 0) +
    (config.oBias ? vector(hiddenSize) : 0);
  const tables = (config.tieWordEmbeddings ? 1 : 2) * tableBytes(vocabSize, hiddenSize);
  const weights = tables + layers * layer + vector(hiddenSize);

  const positions = context * sequences;
  const positionBytes = kvHeads * padded(headDim) * (kvDtype === "f32" ? 4 : 2);
  inOneBinding(`the key/value cache of a sequence of ${context} tokens, in each layer,`, context * positionBytes);
  const angles = 2 ** Math.ceil(Math.log2(Math.max(context, 256))) * headDim * 4;
  const keyValueCache = 2 * layers * positions * positionBytes + angles;

  const gpu = { isSoftware: options.isSoftware ?? false, limits };
  const rows = Math.max(sequences, Math.min(positions, maxChunkRows({ gpu, config }, context, false)));
  const queries = heads * padded(headDim);
  const perRow = 2 * padded(hiddenSize) + padded(qkvRows) + 2 * queries + padded(intermediateSize);
  const perSequence = padded(hiddenSize) + queries + padded(vocabSize);
  const activations = 4 * (rows * perRow + sequences * perSequence);

  return { weights, keyValueCache, activations, total: weights + keyValueCache + activations, problems };
}

function sizesOf({ stored, quantization = "stored" }: MemoryOptions) {
  const bytesOf = (rows: number, width: number, group: number, isTable: boolean) => {
    const paddedWidth = (width / group) * padded(group);
    const canQuantize = paddedWidth === width && isQuantizable(width);
    const dtype: MatrixDtype = (canQuantize ? codesOf(quantization, isTable) : undefined) ?? stored;
    return rows * matrixRowBytes(dtype, paddedWidth);
  };
  return {
    matrixBytes: (rows: number, width: number, group = width) => bytesOf(rows, width, group, false),
    tableBytes: (rows: number, width: number) => bytesOf(rows, width, width, true),
  };
}
