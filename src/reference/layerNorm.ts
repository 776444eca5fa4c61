/** y = (x - mean) / sqrt(variance + eps) * weight + bias, row by row; the variance divides by the size. Ba et al. 2016. */

/**
 * @param x [rows, size]
 * @param weight [size], as is `bias`
 */
export function layerNorm(x: Float64Array, weight: Float64Array, bias: Float64Array, eps: number): Float64Array {
  const size = weight.length;
  const y = new Float64Array(x.length);
  for (let start = 0; start < x.length; start += size) {
    const { z } = standardize(x.subarray(start, start + size), eps);
    for (let i = 0; i < size; i++) y[start + i] = z[i]! * weight[i]! + bias[i]!;
  }
  return y;
}

/** Gradients of `layerNorm`. @param dY [rows, size] */
export function layerNormBackward(
  dY: Float64Array,
  x: Float64Array,
  weight: Float64Array,
  eps: number,
): { dX: Float64Array; dWeight: Float64Array; dBias: Float64Array } {
  const size = weight.length;
  const dX = new Float64Array(x.length);
  const dWeight = new Float64Array(size);
  const dBias = new Float64Array(size);
  for (let start = 0; start < x.length; start += size) {
    const { z, scale } = standardize(x.subarray(start, start + size), eps);
    let mean = 0;
    let along = 0;
    for (let i = 0; i < size; i++) {
      const d = dY[start + i]!;
      mean += (d * weight[i]!) / size;
      along += (d * weight[i]! * z[i]!) / size;
      dWeight[i]! += d * z[i]!;
      dBias[i]! += d;
    }
    for (let i = 0; i < size; i++) dX[start + i] = scale * (dY[start + i]! * weight[i]! - mean - z[i]! * along);
  }
  return { dX, dWeight, dBias };
}

function standardize(row: Float64Array, eps: number): { z: Float64Array; scale: number } {
  const mean = row.reduce((sum, value) => sum + value, 0) / row.length;
  const variance = row.reduce((sum, value) => sum + (value - mean) ** 2, 0) / row.length;
  const scale = 1 / Math.sqrt(variance + eps);
  return { z: row.map((value) => (value - mean) * scale), scale };
}
