/**
 * Weights in 8 or 4 bits, in groups of 32 along a row: value = scale * (code - zero), with zero in the middle of the
 * codes, so that the zero of a weight stays zero. One layout for both engines: that of the ONNX operator MatMulNBits,
 * groups one after the other, in 4 bits the even element in the lower half of a byte.
 * Sources: ONNX Runtime's contributed operators, com.microsoft.MatMulNBits; the scales of 4 bits are those of Q4_0 in
 * llama.cpp (the value of largest magnitude gets the code 0, so that all sixteen codes are in use).
 */

import type { TensorDtype } from "./checkpoint";
import { BYTES_PER_ELEMENT } from "./dtype";

export const GROUP_SIZE = 32;

/** Number format of a matrix on the device: one of a checkpoint's, or codes and scales (`interleave`). */
export type MatrixDtype = TensorDtype | "Q8" | "Q4";

/** How matrices are kept; of "q4" the embedding and the head have 8 bits, as errors there cost most. */
export const QUANTIZATIONS = ["stored", "q8", "q4"] as const;
export type Quantization = (typeof QUANTIZATIONS)[number];

export type QuantBits = 4 | 8;

/** A matrix [rows, width] in codes. */
export interface QuantizedMatrix {
  bits: QuantBits;
  rows: number;
  width: number;
  /** [rows, width / 32, 4 bits]: bytes of 8-bit codes, or half as many of 4-bit ones. */
  codes: Uint8Array<ArrayBuffer>;
  /** [rows, width / 32]. */
  scales: Float32Array<ArrayBuffer>;
}

/** The code of 0. */
export const zeroCode = (bits: QuantBits): number => 2 ** (bits - 1);

/** Whether rows of this width divide into groups; others stay in floating point. */
export const isQuantizable = (width: number): boolean => width % GROUP_SIZE === 0;

/**
 * @param values [rows, width] row-major
 * @throws RangeError when the width is no multiple of 32, or a value is not finite
 */
export function quantize(values: Float32Array, width: number, bits: QuantBits): QuantizedMatrix {
  if (!isQuantizable(width) || values.length % width !== 0) {
    throw new RangeError(`quantize: ${values.length} values in rows of ${width} do not divide into groups of 32`);
  }
  const scales = new Float32Array(values.length / GROUP_SIZE);
  const codes = new Uint8Array((values.length * bits) / 8);
  const zero = zeroCode(bits);
  const highest = 2 ** bits - 1;
  for (let group = 0; group < scales.length; group++) {
    const start = group * GROUP_SIZE;
    let extreme = 0;
    for (let i = start; i < start + GROUP_SIZE; i++) {
      const value = values[i]!;
      if (!Number.isFinite(value)) {
        throw new RangeError(`quantize: a value of row ${Math.floor(i / width)} is ${value}`);
      }
      if (Math.abs(value) > Math.abs(extreme)) extreme = value;
    }
    // 8 bits leave out the code 0, as the range is then the same on both sides.
    scales[group] = bits === 8 ? Math.abs(extreme) / 127 : extreme / -zero;
    const scale = scales[group]!;
    for (let i = 0; i < GROUP_SIZE; i++) {
      const code = scale === 0 ? zero : Math.min(highest, Math.max(0, Math.round(values[start + i]! / scale) + zero));
      if (bits === 8) codes[start + i] = code;
      else codes[(start + i) >> 1]! |= i % 2 === 0 ? code : code << 4;
    }
  }
  return { bits, rows: values.length / width, width, codes, scales };
}

/** Bytes of a row on the device; its width is a multiple of 32 for codes. */
export function matrixRowBytes(dtype: MatrixDtype, width: number): number {
  if (dtype !== "Q8" && dtype !== "Q4") return width * BYTES_PER_ELEMENT[dtype];
  return (width / GROUP_SIZE) * (4 + (GROUP_SIZE * (dtype === "Q8" ? 8 : 4)) / 8);
}

/** A matrix as shaders read it (shaders/common/weightQ8.wgsl): each group's scale, then its codes. */
export function interleave({ bits, codes, scales }: QuantizedMatrix): Uint8Array<ArrayBuffer> {
  const groupWords = (GROUP_SIZE * bits) / 32;
  const words = new Uint32Array(scales.length * (1 + groupWords));
  const codeWords = new Uint32Array(codes.buffer, codes.byteOffset, codes.length / 4);
  const scaleWords = new Uint32Array(scales.buffer, scales.byteOffset, scales.length);
  for (let group = 0; group < scales.length; group++) {
    const at = group * (1 + groupWords);
    words[at] = scaleWords[group]!;
    for (let i = 0; i < groupWords; i++) words[at + 1 + i] = codeWords[group * groupWords + i]!;
  }
  return new Uint8Array(words.buffer);
}

/** Rows [from, to) of a matrix, [to - from, width]. */
export function dequantize(matrix: QuantizedMatrix, from = 0, to = matrix.rows): Float32Array<ArrayBuffer> {
  const { bits, width, codes, scales } = matrix;
  const zero = zeroCode(bits);
  const values = new Float32Array((to - from) * width);
  for (let i = 0; i < values.length; i++) {
    const at = from * width + i;
    const code = bits === 8 ? codes[at]! : (codes[at >> 1]! >> (at % 2 === 0 ? 0 : 4)) & 15;
    values[i] = scales[Math.floor(at / GROUP_SIZE)]! * (code - zero);
  }
  return values;
}
