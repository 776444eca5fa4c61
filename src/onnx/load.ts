/** Opens models on onnxruntime-web: checkpoints, of which the graph is made here, and .onnx files of others. */
import type { Checkpoint, CheckpointSource, CheckpointTensor } from "../checkpoint/checkpoint";
import { CheckpointError } from "../checkpoint/errors";
import { readModelConfig } from "../checkpoint/load";
import { GROUP_SIZE } from "../checkpoint/quantize";
import type { LanguageModel } from "../model/languageModel";
import type { ModelTokenizer } from "../text/tokenizer";
import { decoderGraph } from "./decoderGraph";
import { type EmbeddingTable, quantizedTable, storedTable } from "./embeddingTable";
import { inspectGraph } from "./listing";
import { OnnxModel } from "./model";
import { encodeOnnx, PRODUCER } from "./protobuf";
import type { ExternalData, OnnxRuntime } from "./runtime";
import { DecoderSession } from "./session";
import { type StoredMatrix, type WeightFormat, WeightPlan } from "./weights";

export interface LoadOnnxModelOptions {
  /** What the model is called. */
  id: string;
  runtime: OnnxRuntime;
  checkpoint: Checkpoint;
  tokenizer: ModelTokenizer;
  /** Number format of the matrices. Default "f32". */
  weights?: WeightFormat;
  onProgress?: (loadedBytes: number, totalBytes: number) => void;
  signal?: AbortSignal;
}

/**
 * Turns a checkpoint into a graph and opens it. While that is done, its weights are in memory twice: here, and where
 * onnxruntime-web has them.
 * @throws CheckpointError; Error when onnxruntime-web refuses the model, memory among the reasons; the signal's reason
 * after an abort. Nothing stays open then.
 */
export async function loadOnnxModel(options: LoadOnnxModelOptions): Promise<LanguageModel> {
  const { id, runtime, checkpoint, tokenizer, weights = "f32", onProgress, signal } = options;
  const { config } = checkpoint;
  const plan = new WeightPlan(checkpoint, weights);
  const { model, embedding } = decoderGraph(
    config,
    plan,
    { inputs: "embeddings", logits: "last" },
    ({ name, bytes }) => {
      return { file: name, offset: 0, bytes };
    },
  );
  const separate = config.tieWordEmbeddings ? undefined : separateEmbedding(checkpoint, weights);
  const bytesOf = (groups: WeightPlan["groups"]) =>
    groups.reduce((sum, { tensors }) => tensors.reduce((own, { bytes }) => own + bytes, sum), 0);
  const weightBytes = bytesOf(plan.groups);
  const totalBytes = weightBytes + (separate?.bytes ?? 0);
  let loadedBytes = 0;
  onProgress?.(0, totalBytes);
  const advance = (bytes: number) => {
    loadedBytes += bytes;
    onProgress?.(loadedBytes, totalBytes);
  };

  const externalData: ExternalData[] = [];
  for (const group of plan.groups) {
    const contents = await group.read(signal);
    for (const [i, { name, bytes }] of group.tensors.entries()) {
      externalData.push({ path: name, data: contents[i] as Uint8Array });
      advance(bytes);
    }
  }
  let table: EmbeddingTable;
  if (separate) {
    table = await separate.read(signal);
    advance(separate.bytes);
  } else {
    table = tableOf(embedding as StoredMatrix, externalData);
  }
  const session = await DecoderSession.open(runtime, id, {
    model: encodeOnnx(model),
    externalData,
    config,
  });
  if (signal?.aborted) {
    await session.release();
    throw signal.reason;
  }
  return new OnnxModel({ id, config, tokenizer, session, table, bytes: weightBytes + table.bytes, canPad: true });
}

/** The input embedding of a checkpoint whose head is another matrix: as stored, or in 8 bits. */
function separateEmbedding(checkpoint: Checkpoint, weights: WeightFormat) {
  const { dtype, shape, read } = checkpoint.tensors.get(EMBEDDING) as CheckpointTensor;
  const plan = new WeightPlan(checkpoint, weights);
  const matrix = plan.matrix("embedding", [EMBEDDING], plan.headBits);
  const [group] = plan.groups as [WeightPlan["groups"][number]];
  if (matrix.kind === "float") {
    const bytes = shape.reduce((product, size) => product * size, dtype === "F32" ? 4 : 2);
    return {
      bytes,
      async read(signal?: AbortSignal) {
        signal?.throwIfAborted();
        return storedTable(dtype, await read(signal), matrix.width);
      },
    };
  }
  return {
    bytes: group.tensors.reduce((sum, { bytes }) => sum + bytes, 0),
    async read(signal?: AbortSignal) {
      const contents = await group.read(signal);
      const data = group.tensors.map(({ name }, i) => ({ path: name, data: contents[i] as Uint8Array }));
      return tableOf(matrix, data);
    },
  };
}

const EMBEDDING = "model.embed_tokens.weight";

/** A table on the bytes that the graph's own matrix was made of. */
function tableOf(matrix: StoredMatrix, data: readonly ExternalData[]): EmbeddingTable {
  const bytesOf = (name: string) => data.find(({ path }) => path === name)?.data as Uint8Array<ArrayBuffer>;
  if (matrix.kind === "float") return storedTable("F32", bytesOf(matrix.name), matrix.width);
  const { codes, scales, bits, rows, width } = matrix;
  const { buffer, byteOffset } = bytesOf(scales);
  const values = new Float32Array(buffer, byteOffset, (rows * width) / GROUP_SIZE);
  return quantizedTable({ bits, rows, width, codes: bytesOf(codes), scales: values });
}

export interface LoadOnnxExportOptions {
  id: string;
  runtime: OnnxRuntime;
  /** Has config.json and, when there is one, generation_config.json. */
  source: CheckpointSource;
  tokenizer: ModelTokenizer;
  /** Where the .onnx file is. Default: `source`. */
  graphSource?: CheckpointSource;
  /** Name of the .onnx file. Default "model.onnx". */
  file?: string;
  /** Tokens of the longest context, at most what the model has positions for. Default: all of them. */
  context?: number;
  onProgress?: (loadedBytes: number, totalBytes: number) => void;
  signal?: AbortSignal;
}

/**
 * Opens an .onnx file with its external data: a decoder from token ids to logits with past_key_values, as Optimum and
 * our own writer export them. It reads token ids only; `capabilities` says so.
 * @throws CheckpointError for missing files, or when it is no such model; Error when onnxruntime-web refuses it
 */
export async function loadOnnxExport(options: LoadOnnxExportOptions): Promise<LanguageModel> {
  const { id, runtime, source, tokenizer, graphSource = source, file = "model.onnx", onProgress, signal } = options;
  const stored = await readModelConfig(source, signal);
  const config = { ...stored, maxPositions: Math.min(stored.maxPositions, options.context ?? stored.maxPositions) };
  const model = await graphSource.file(file, signal);
  if (!model) throw new CheckpointError(`${graphSource.label}: ${file} is missing`);
  const { files, producer } = inspectGraph(graphSource, file, model);
  const sizes = new Map<string, number>();
  for (const name of files) {
    const size = await graphSource.size(name, signal);
    if (size === undefined) {
      throw new CheckpointError(`${graphSource.label}: ${name}, which holds weights of ${file}, is missing`);
    }
    sizes.set(name, size);
  }
  const totalBytes = [...sizes.values()].reduce((sum, size) => sum + size, model.length);
  let loadedBytes = model.length;
  onProgress?.(loadedBytes, totalBytes);
  const externalData: ExternalData[] = [];
  for (const [path, size] of sizes) {
    externalData.push({ path, data: await graphSource.range(path, 0, size, signal) });
    loadedBytes += size;
    onProgress?.(loadedBytes, totalBytes);
  }
  const session = await DecoderSession.open(runtime, id, { model, externalData, config });
  try {
    signal?.throwIfAborted();
    if (session.takes === "embeddings") {
      throw new CheckpointError(
        `${id}: the model takes inputs_embeds, and has no table that leads there from token ids`,
      );
    }
  } catch (error) {
    await session.release();
    throw error;
  }
  // Exports with fused attention take the number of tokens from the mask, and count them from the left.
  const canPad = producer === PRODUCER;
  return new OnnxModel({ id, config, tokenizer, session, table: undefined, bytes: totalBytes, canPad });
}
