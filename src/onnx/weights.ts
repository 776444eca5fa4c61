/**
 * The tensors of an exported model: which checkpoint tensors make each of them, in which number format, and where it
 * stands among the others. Nothing is read before it is asked for, and one after the other.
 */
import type { Checkpoint, CheckpointTensor } from "../checkpoint/checkpoint";
import type { ModelConfig } from "../checkpoint/config";
import { decodeTensorF32 } from "../checkpoint/dtype";
import { GROUP_SIZE, isQuantizable, type QuantBits, quantize } from "../checkpoint/quantize";
import type { ElementType } from "./protobuf";

/** Number formats of matrices: q8 and q4 in groups of 32; of q4 the head and the embedding have 8 bits. */
export const WEIGHT_FORMATS = ["f32", "q8", "q4"] as const;
export type WeightFormat = (typeof WEIGHT_FORMATS)[number];

export interface StoredTensor {
  name: string;
  type: ElementType;
  dims: readonly number[];
  bytes: number;
}

/** Tensors that are made together from the same source. */
export interface TensorGroup {
  tensors: readonly StoredTensor[];
  /** The tensors' little-endian bytes. @throws whatever reading the checkpoint throws; the signal's reason */
  read(signal?: AbortSignal): Promise<Uint8Array[]>;
}

/** A matrix [rows, width] of the decoder, as the graph uses it. */
export type StoredMatrix =
  | { kind: "float"; name: string; rows: number; width: number }
  | { kind: "quantized"; codes: string; scales: string; rows: number; width: number; bits: QuantBits };

export class WeightPlan {
  readonly groups: TensorGroup[] = [];

  constructor(
    private readonly checkpoint: Checkpoint,
    readonly format: WeightFormat,
  ) {}

  /** Matrices of the same width, one below the other. In odd widths, which no group of 32 divides, as f32. */
  matrix(name: string, sources: readonly string[], bits: QuantBits | undefined = this.bits): StoredMatrix {
    const tensors = sources.map((source) => this.source(source));
    const width = tensors[0]!.shape[1] as number;
    const rows = tensors.reduce((sum, { shape }) => sum + (shape[0] as number), 0);
    if (bits === undefined || !isQuantizable(width)) {
      this.float(name, [rows, width], tensors);
      return { kind: "float", name, rows, width };
    }
    const groups = width / GROUP_SIZE;
    const blob = (GROUP_SIZE * bits) / 8;
    const stored: StoredTensor[] = [
      { name: `${name}.codes`, type: "uint8", dims: [rows, groups, blob], bytes: rows * groups * blob },
      { name: `${name}.scales`, type: "float", dims: [rows * groups], bytes: rows * groups * 4 },
    ];
    this.groups.push({
      tensors: stored,
      async read(signal) {
        const codes = new Uint8Array(rows * groups * blob);
        const scales = new Float32Array(rows * groups);
        let row = 0;
        for (const tensor of tensors) {
          const matrix = quantizeTensor(tensor, await readF32(tensor, signal), width, bits);
          codes.set(matrix.codes, row * groups * blob);
          scales.set(matrix.scales, row * groups);
          row += matrix.rows;
        }
        return [codes, bytesOf(scales)];
      },
    });
    return { kind: "quantized", codes: `${name}.codes`, scales: `${name}.scales`, rows, width, bits };
  }

  /** Vectors one after the other, as f32. */
  vector(name: string, sources: readonly string[]): string {
    const tensors = sources.map((source) => this.source(source));
    return this.float(name, [tensors.reduce((sum, { shape }) => sum + (shape[0] as number), 0)], tensors);
  }

  /** A table that is computed. @param values row-major */
  table(name: string, dims: readonly number[], values: () => Float32Array<ArrayBuffer>): string {
    const bytes = dims.reduce((product, size) => product * size, 4);
    this.groups.push({ tensors: [{ name, type: "float", dims, bytes }], read: async () => [bytesOf(values())] });
    return name;
  }

  /** Bits of the head and the embedding. */
  get headBits(): QuantBits | undefined {
    return this.format === "f32" ? undefined : 8;
  }

  private get bits(): QuantBits | undefined {
    return this.format === "f32" ? undefined : this.format === "q8" ? 8 : 4;
  }

  private float(name: string, dims: readonly number[], tensors: readonly CheckpointTensor[]): string {
    const count = dims.reduce((product, size) => product * size, 1);
    this.groups.push({
      tensors: [{ name, type: "float", dims, bytes: count * 4 }],
      async read(signal) {
        if (tensors.length === 1) return [bytesOf(await readF32(tensors[0]!, signal))];
        const values = new Float32Array(count);
        let at = 0;
        for (const tensor of tensors) {
          const own = await readF32(tensor, signal);
          values.set(own, at);
          at += own.length;
        }
        return [bytesOf(values)];
      },
    });
    return name;
  }

  private source(name: string): CheckpointTensor {
    return this.checkpoint.tensors.get(name) as CheckpointTensor;
  }
}

/** cos and sin of the rotary embedding, [positions, headDim / 2]; in f64, as sines of large angles need it. */
export function rotaryTable(
  { headDim, ropeTheta, maxPositions }: ModelConfig,
  wave: (angle: number) => number,
): Float32Array<ArrayBuffer> {
  const half = headDim / 2;
  const table = new Float32Array(maxPositions * half);
  for (let i = 0; i < half; i++) {
    const frequency = ropeTheta ** ((-2 * i) / headDim);
    for (let position = 0; position < maxPositions; position++) table[position * half + i] = wave(position * frequency);
  }
  return table;
}

async function readF32({ dtype, read }: CheckpointTensor, signal?: AbortSignal): Promise<Float32Array> {
  signal?.throwIfAborted();
  const bytes = await read(signal);
  signal?.throwIfAborted();
  return decodeTensorF32(dtype, bytes);
}

function quantizeTensor({ name }: CheckpointTensor, values: Float32Array, width: number, bits: QuantBits) {
  try {
    return quantize(values, width, bits);
  } catch (error) {
    throw new Error(`${name}: ${(error as Error).message}`, { cause: error });
  }
}

function bytesOf({ buffer, byteOffset, byteLength }: Float32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
