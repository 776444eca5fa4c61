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
