/** The input embedding in plain memory, for models that take embeddings: rows are looked up here, not in the graph. */
import type { TensorDtype } from "../checkpoint/checkpoint";
import { BYTES_PER_ELEMENT, decodeInto } from "../checkpoint/dtype";
import { dequantize, type QuantizedMatrix } from "../checkpoint/quantize";

export interface EmbeddingTable {
  readonly bytes: number;
  /** Writes row `id` to `out` from `offset` on. */
  copyRow(id: number, out: Float32Array, offset: number): void;
}

/** A table of stored numbers. @param bytes [rows, width], aligned to its elements */
export function storedTable(dtype: TensorDtype, bytes: Uint8Array, width: number): EmbeddingTable {
  const rowBytes = width * BYTES_PER_ELEMENT[dtype];
  return {
    bytes: bytes.byteLength,
    copyRow(id, out, offset) {
      decodeInto(dtype, bytes.subarray(id * rowBytes, (id + 1) * rowBytes), out, offset);
    },
  };
}

export function quantizedTable(matrix: QuantizedMatrix): EmbeddingTable {
  return {
    bytes: matrix.codes.byteLength + matrix.scales.byteLength,
    copyRow: (id, out, offset) => out.set(dequantize(matrix, id, id + 1), offset),
  };
}
