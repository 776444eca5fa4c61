/** y = x W^T + b. The weight is stored [out, in], as in PyTorch and every checkpoint. */

/**
 * @param x [rows, inSize]
 * @param weight [outSize, inSize]
 * @param bias [outSize]
 * @returns [rows, outSize]
 */
export function linear(x: Float64Array, weight: Float64Array, inSize: number, bias?: Float64Array): Float64Array {
  const rows = x.length / inSize;
  const outSize = weight.length / inSize;
  const y = new Float64Array(rows * outSize);
  for (let row = 0; row < rows; row++) {
    for (let out = 0; out < outSize; out++) {
      let sum = bias ? bias[out]! : 0;
      for (let i = 0; i < inSize; i++) {
        sum += x[row * inSize + i]! * weight[out * inSize + i]!;
      }
      y[row * outSize + out] = sum;
    }
  }
  return y;
}

/**
 * Gradients of `linear`.
 * @param dY [rows, outSize]
 */
export function linearBackward(
  dY: Float64Array,
  x: Float64Array,
  weight: Float64Array,
  inSize: number,
): { dX: Float64Array; dWeight: Float64Array; dBias: Float64Array } {
  const rows = x.length / inSize;
  const outSize = weight.length / inSize;
  const dX = new Float64Array(x.length);
  const dWeight = new Float64Array(weight.length);
  const dBias = new Float64Array(outSize);
  for (let row = 0; row < rows; row++) {
    for (let out = 0; out < outSize; out++) {
      const d = dY[row * outSize + out]!;
      dBias[out]! += d;
      for (let i = 0; i < inSize; i++) {
        dX[row * inSize + i]! += d * weight[out * inSize + i]!;
        dWeight[out * inSize + i]! += d * x[row * inSize + i]!;
      }
    }
  }
  return { dX, dWeight, dBias };
}
