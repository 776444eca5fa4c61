/**
 * The decoder's weights on the GPU. Tensors are read one by one and written where they belong, so that the checkpoint
 * never stands in memory as a whole. Matrices keep their number format and their layout [out, in]; rows are padded to
 * a multiple of 4 elements. q, k, v and gate, up become one matrix each; what exceeds a binding is split by rows.
 * On demand matrices are quantized while they are read; those whose width is no multiple of 32 stay as they are.
 */
import type { Checkpoint, CheckpointTensor, TensorDtype } from "../checkpoint/checkpoint";
import { BYTES_PER_ELEMENT, decodeTensor, decodeTensorF32, encodeTensor } from "../checkpoint/dtype";
import {
  interleave,
  isQuantizable,
  type MatrixDtype,
  matrixRowBytes,
  type Quantization,
  quantize,
} from "../checkpoint/quantize";
import type { Gpu } from "../gpu/device";
import { GpuOutOfMemoryError } from "../gpu/errors";
import type { BufferScope } from "../gpu/scope";

/** A matrix [rows, width], or the part of one that starts at `startRow`. */
export interface Matrix {
  buffer: GPUBuffer;
  dtype: MatrixDtype;
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
  /** How matrices are kept. Default "stored". */
  quantization?: Quantization;
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
  { quantization = "stored", signal, onProgress }: LoadWeightsOptions = {},
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
   * Matrices of the same width one below the other; tables (embedding and head) in parts that fit a binding. Rows are
   * runs of `groupWidth` elements (default: the whole row), each padded.
   */
  const matrix = async (
    names: string[],
    { groupWidth, isTable = false }: { groupWidth?: number; isTable?: boolean } = {},
  ): Promise<Matrix[]> => {
    const sources = names.map(tensor);
    const storedWidth = sources[0]?.shape[1] as number;
    const groups = storedWidth / (groupWidth ?? storedWidth);
    const width = groups * padded(storedWidth / groups);
    const dtypes = new Set(sources.map(({ dtype }) => dtype));
    // One shader reads them all in one format; mixed ones are rare, and f32 holds every other format exactly.
    const storedDtype = dtypes.size === 1 ? (sources[0]?.dtype as TensorDtype) : "F32";
    const codes = width === storedWidth && isQuantizable(width) ? codesOf(quantization, isTable) : undefined;
    const dtype = codes ?? storedDtype;
    const totalRows = sources.reduce((sum, { shape }) => sum + (shape[0] as number), 0);
    const rowBytes = matrixRowBytes(dtype, width);
    const maxRows = isTable ? rowsPerPart(gpu, rowBytes) : totalRows;
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
      let pitched: Uint8Array;
      if (codes) {
        pitched = encodeCodes(source, stored, width, codes);
      } else {
        const bytes =
          source.dtype === storedDtype ? stored : encodeTensor(storedDtype, decodeTensor(source.dtype, stored));
        const storedBytesPerGroup = (storedWidth / groups) * BYTES_PER_ELEMENT[storedDtype];
        pitched = padRows(bytes, (source.shape[0] as number) * groups, storedBytesPerGroup, rowBytes / groups);
      }
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
  const embedding = await matrix([embeddingName], { isTable: true });
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
  const head = config.tieWordEmbeddings ? embedding : await matrix([headName], { isTable: true });
  return { embedding, head, finalNorm, layers };
}

/** Rows of the embedding or the head that fit one binding; a multiple of 4, as logits are written in fours. */
function rowsPerPart(gpu: Gpu, rowBytes: number): number {
  const rows = Math.floor(Math.min(gpu.limits.maxBindingBytes, gpu.limits.maxBufferBytes) / rowBytes);
  return Math.max(4, Math.floor(rows / 4) * 4);
}

function storedBytes({ shape, dtype }: CheckpointTensor): number {
  return shape.reduce((product, length) => product * length, 1) * BYTES_PER_ELEMENT[dtype];
}

/** The format of codes of a matrix; embedding and head have 8 bits. */
export function codesOf(quantization: Quantization, isTable: boolean): "Q8" | "Q4" | undefined {
  if (quantization === "stored") return undefined;
  return quantization === "q8" || isTable ? "Q8" : "Q4";
}

function encodeCodes({ name, dtype }: CheckpointTensor, stored: Uint8Array, width: number, codes: "Q8" | "Q4") {
  try {
    return interleave(quantize(decodeTensorF32(dtype, stored), width, codes === "Q8" ? 8 : 4));
  } catch (error) {
    throw new Error(`${name}: ${(error as Error).message}`, { cause: error });
  }
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
