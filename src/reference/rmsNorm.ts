/** y = x / sqrt(mean(x^2) + eps) * weight, row by row. Source: Zhang and Sennrich 2019; eps inside the root as in Llama. */

/**
 * @param x [rows, size]
 * @param weight [size], which also tells the size
 * @returns [rows, size]
 */
export function rmsNorm(x: Float64Array, weight: Float64Array, eps: number): Float64Array {
  const size = weight.length;
  const y = new Float64Array(x.length);
  for (let start = 0; start < x.length; start += size) {
    let sumOfSquares = 0;
    for (let i = 0; i < size; i++) {
      sumOfSquares += x[start + i]! ** 2;
    }
    const scale = 1 / Math.sqrt(sumOfSquares / size + eps);
    for (let i = 0; i < size; i++) {
      y[start + i] = x[start + i]! * scale * weight[i]!;
    }
  }
  return y;
}

/** Gradients of `rmsNorm`. @param dY [rows, size] */
export function rmsNormBackward(
  dY: Float64Array,
  x: Float64Array,
  weight: Float64Array,
  eps: number,
): { dX: Float64Array; dWeight: Float64Array } {
  const size = weight.length;
  const dX = new Float64Array(x.length);
  const dWeight = new Float64Array(size);
  for (let start = 0; start < x.length; start += size) {
    let sumOfSquares = 0;
    let along = 0;
    for (let i = 0; i < size; i++) {
      sumOfSquares += x[start + i]! ** 2;
      along += dY[start + i]! * weight[i]! * x[start + i]!;
    }
    const scale = 1 / Math.sqrt(sumOfSquares / size + eps);
    for (let i = 0; i < size; i++) {
      dX[start + i] = scale * dY[start + i]! * weight[i]! - (scale ** 3 * along * x[start + i]!) / size;
      dWeight[i]! += dY[start + i]! * x[start + i]! * scale;
    }
  }
  return { dX, dWeight };
}
