/** p_i = exp(x_i - max) / sum, row by row. */

/**
 * @param x [rows, size]; entries of -Infinity get probability 0, as long as a row has a finite one
 * @returns [rows, size]
 */
export function softmax(x: Float64Array, size: number): Float64Array {
  const p = new Float64Array(x.length);
  for (let start = 0; start < x.length; start += size) {
    let max = Number.NEGATIVE_INFINITY;
    for (let i = 0; i < size; i++) {
      max = Math.max(max, x[start + i]!);
    }
    let sum = 0;
    for (let i = 0; i < size; i++) {
      p[start + i] = Math.exp(x[start + i]! - max);
      sum += p[start + i]!;
    }
    for (let i = 0; i < size; i++) {
      p[start + i]! /= sum;
    }
  }
  return p;
}
