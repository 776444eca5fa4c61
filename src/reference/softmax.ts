/** p_i = exp(x_i - max) / sum, row by row; with top k only over the k largest, the rest is 0. */

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

/**
 * Softmax over the largest entries of each row and whatever ties with the last of them.
 * @param topK at least 1
 */
export function topKSoftmax(x: Float64Array, size: number, topK: number): Float64Array {
  const kept = x.slice();
  for (let start = 0; start < x.length; start += size) {
    const row = x.slice(start, start + size).sort();
    const threshold = row[Math.max(0, size - topK)]!;
    for (let i = start; i < start + size; i++) {
      if (x[i]! < threshold) kept[i] = Number.NEGATIVE_INFINITY;
    }
  }
  return softmax(kept, size);
}

/**
 * Gradient of both: dx = p (dp - sum of p dp).
 * @param dP [rows, size]
 * @param p the result, [rows, size]
 */
export function softmaxBackward(dP: Float64Array, p: Float64Array, size: number): Float64Array {
  const dX = new Float64Array(p.length);
  for (let start = 0; start < p.length; start += size) {
    let along = 0;
    for (let i = start; i < start + size; i++) along += p[i]! * dP[i]!;
    for (let i = start; i < start + size; i++) dX[i] = p[i]! * (dP[i]! - along);
  }
  return dX;
}
