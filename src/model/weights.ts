/**
 * The decoder's weights on the GPU. Tensors are read one by one and written where they belong, so that the checkpoint
 * never stands in memory as a whole. Matrices keep their number format and their layout [out, in]; rows are padded to
 * a multiple of 4 elements. q, k, v and gate, up become one matrix each; what exceeds a binding is split by rows.
 */
import type { Checkpoint, CheckpointTensor, TensorDtype } from "../checkpoint/checkpoint";
import type { ModelConfig } from "../checkpoint/config";
import { BYTES_PER_ELEMENT, decodeTensor, encodeTensor } from "../checkpoint/dtype";
import type { Gpu } from "../gpu/device";
import { GpuOutOfMemoryError } from "../gpu/errors";
import type { BufferScope } from "../gpu/scope";

/** A matrix [rows, width], or the part of one that starts at `startRow`. */
export interface Matrix {
  buffer: GPUBuffer;
  dtype: TensorDtype;
  startRow: number;
  rows: number;
  /** With padding: a multiple of 4. */
  width: number;
}

export interface LayerWeights {
  inputNorm: GPUBuffer;
  /** q, k and v one below the other: [(heads + 2 kvHeads) * headDim, hiddenSize]. */
  qkv: Matrix;
  qkvBias: GPUBuffer | undefined;
  /** The norms of q and of k, [2, headDim]. */
  qkNorms: GPUBuffer | undefined;
  /** [hiddenSize, heads * headDim], each head padded as attention leaves it. */
  output: Matrix;
  outputBias: GPUBuffer | undefined;
  postAttentionNorm: GPUBuffer;
  /** gate and up one below the other: [2 intermediateSize, hiddenSize]. */
  gateUp: Matrix;
  down: Matrix;
}

export interface DecoderWeights {
  /** Parts of the embedding table [vocabSize, hiddenSize]. */
  embedding: Matrix[];
  /** Parts of the head [vocabSize, hiddenSize]; those of the embedding when tied. */
  head: Matrix[];
  finalNorm: GPUBuffer;
  layers: LayerWeights[];
}

export interface LoadWeightsOptions {
  signal?: AbortSignal;
  onProgress?: (loadedBytes: number, totalBytes: number) => void;
}

const MAX_WAITING_BYTES = 64 * 2 ** 20;

/** Width of a row of 4-byte elements, or of a matrix: a multiple of 4. */
export function padded(width: number): number {
  return Math.ceil(width / 4) * 4;
}

/**
 * Uploads a checkpoint. When this throws, the scope holds what was uploaded until then.
 * @throws GpuOutOfMemoryError naming the tensors; the signal's reason after an abort
 */
export async function loadWeights(
  scope: BufferScope,
  checkpoint: Checkpoint,
  { signal, onProgress }: LoadWeightsOptions = {},
): Promise<DecoderWeights> {
  const { gpu } = scope;
  const { config } = checkpoint;
  const totalBytes = [...checkpoint.tensors.values()].reduce((sum, tensor) => sum + storedBytes(tensor), 0);
  let loadedBytes = 0;
  let waitingBytes = 0;
  onProgress?.(0, totalBytes);

  const tensor = (name: string) => checkpoint.tensors.get(name) as CheckpointTensor;
  const read = async (source: CheckpointTensor) => {
    signal?.throwIfAborted();
    const bytes = await source.read(signal);
    signal?.throwIfAborted();
    loadedBytes += storedBytes(source);
    onProgress?.(loadedBytes, totalBytes);
    return bytes;
  };

  /** Vectors one after the other, as f32. */
  const vector = async (names: string[]): Promise<GPUBuffer> => {
    const values: number[] = [];
    for (const name of names) values.push(...decodeTensor(tensor(name).dtype, await read(tensor(name))));
    const buffer = await scope.allocate(names.join(" and "), padded(values.length) * 4);
    gpu.write(buffer, 0, Float32Array.from(values));
    return buffer;
  };

  /**
   * Matrices of the same width one below the other, in parts of at most `maxRows` rows. Rows are runs of `groupWidth`
   * elements (default: the whole row), each padded.
   */
  const matrix = async (
    names: string[],
    { maxRows = Number.POSITIVE_INFINITY, groupWidth }: { maxRows?: number; groupWidth?: number } = {},
  ): Promise<Matrix[]> => {
    const sources = names.map(tensor);
    const storedWidth = sources[0]?.shape[1] as number;
    const groups = storedWidth / (groupWidth ?? storedWidth);
    const width = groups * padded(storedWidth / groups);
    const dtypes = new Set(sources.map(({ dtype }) => dtype));
    // One shader reads them all in one format; mixed ones are rare, and f32 holds every other format exactly.
    const dtype = dtypes.size === 1 ? (sources[0]?.dtype as TensorDtype) : "F32";
    const totalRows = sources.reduce((sum, { shape }) => sum + (shape[0] as number), 0);
    const rowBytes = width * BYTES_PER_ELEMENT[dtype];
    const needed = Math.min(maxRows, totalRows) * rowBytes;
    if (needed > gpu.limits.maxBindingBytes) {
      throw new GpuOutOfMemoryError(
        `one binding of ${names.join(" and ")}`,
        needed,
        gpu.limits.maxBindingBytes,
        gpu.liveBytes,
      );
    }
    const parts: Matrix[] = [];
    for (let startRow = 0; startRow < totalRows; startRow += maxRows) {
      const rows = Math.min(maxRows, totalRows - startRow);
      const buffer = await scope.allocate(names.join(" and "), rows * rowBytes);
      parts.push({ buffer, dtype, startRow, rows, width });
    }
    let row = 0;
    for (const source of sources) {
      const stored = await read(source);
      const bytes = source.dtype === dtype ? stored : encodeTensor(dtype, decodeTensor(source.dtype, stored));
      const storedBytesPerGroup = (storedWidth / groups) * BYTES_PER_ELEMENT[dtype];
      const pitched = padRows(bytes, (source.shape[0] as number) * groups, storedBytesPerGroup, rowBytes / groups);
      const end = row + (source.shape[0] as number);
      for (const part of parts) {
        const from = Math.max(row, part.startRow);
        const to = Math.min(end, part.startRow + part.rows);
        if (from < to) {
          const piece = pitched.subarray((from - row) * rowBytes, (to - row) * rowBytes);
          gpu.write(part.buffer, (from - part.startRow) * rowBytes, piece);
        }
      }
      row = end;
    }
    // Written bytes wait in memory until the device has taken them.
    waitingBytes += totalRows * rowBytes;
    if (waitingBytes > MAX_WAITING_BYTES) {
      await gpu.finish();
      waitingBytes = 0;
    }
    return parts;
  };
  const whole = async (names: string[], groupWidth?: number): Promise<Matrix> =>
    (await matrix(names, groupWidth === undefined ? {} : { groupWidth }))[0] as Matrix;

  const embeddingName = "model.embed_tokens.weight";
  const embedding = await matrix([embeddingName], {
    maxRows: rowsPerPart(gpu, config, tensor(embeddingName).dtype),
  });
  const layers: LayerWeights[] = [];
  for (let layer = 0; layer < config.layers; layer++) {
    const prefix = `model.layers.${layer}`;
    const attention = (name: string) => `${prefix}.self_attn.${name}`;
    const projections = ["q_proj", "k_proj", "v_proj"];
    layers.push({
      inputNorm: await vector([`${prefix}.input_layernorm.weight`]),
      qkv: await whole(projections.map((name) => attention(`${name}.weight`))),
      qkvBias: config.qkvBias ? await vector(projections.map((name) => attention(`${name}.bias`))) : undefined,
      qkNorms: config.qkNorm ? await vector([attention("q_norm.weight"), attention("k_norm.weight")]) : undefined,
      output: await whole([attention("o_proj.weight")], config.headDim),
      outputBias: config.oBias ? await vector([attention("o_proj.bias")]) : undefined,
      postAttentionNorm: await vector([`${prefix}.post_attention_layernorm.weight`]),
      gateUp: await whole([`${prefix}.mlp.gate_proj.weight`, `${prefix}.mlp.up_proj.weight`]),
      down: await whole([`${prefix}.mlp.down_proj.weight`]),
    });
  }
  const finalNorm = await vector(["model.norm.weight"]);
  const headName = "lm_head.weight";
  const head = config.tieWordEmbeddings
    ? embedding
    : await matrix([headName], { maxRows: rowsPerPart(gpu, config, tensor(headName).dtype) });
  return { embedding, head, finalNorm, layers };
}

/** Rows of the embedding or the head that fit one binding; a multiple of 4, as logits are written in fours. */
function rowsPerPart(gpu: Gpu, { hiddenSize }: ModelConfig, dtype: TensorDtype): number {
  const limit = Math.min(gpu.limits.maxBindingBytes, gpu.limits.maxBufferBytes);
  const rows = Math.floor(limit / (padded(hiddenSize) * BYTES_PER_ELEMENT[dtype]));
  return Math.max(4, Math.floor(rows / 4) * 4);
}

function storedBytes({ shape, dtype }: CheckpointTensor): number {
  return shape.reduce((product, length) => product * length, 1) * BYTES_PER_ELEMENT[dtype];
}

/** Rows of `rowBytes` at a distance of `pitch` bytes, zeros between them. */
function padRows(bytes: Uint8Array, rows: number, rowBytes: number, pitch: number): Uint8Array {
  if (rowBytes === pitch) return bytes;
  const pitched = new Uint8Array(rows * pitch);
  for (let row = 0; row < rows; row++) {
    pitched.set(bytes.subarray(row * rowBytes, (row + 1) * rowBytes), row * pitch);
  }
  return pitched;
}
