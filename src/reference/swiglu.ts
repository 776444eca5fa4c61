/** silu(gate) * up with silu(x) = x / (1 + exp(-x)). Source: Shazeer 2020. */

/** @param gate and `up` of one shape; the result has it too */
export function swiglu(gate: Float64Array, up: Float64Array): Float64Array {
  return gate.map((x, i) => (x / (1 + Math.exp(-x))) * up[i]!);
}

/** Gradients of `swiglu`. @param dY of the same shape as gate and up */
export function swigluBackward(
  dY: Float64Array,
  gate: Float64Array,
  up: Float64Array,
): { dGate: Float64Array; dUp: Float64Array } {
  const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));
  return {
    dGate: gate.map((x, i) => dY[i]! * up[i]! * sigmoid(x) * (1 + x * (1 - sigmoid(x)))),
    dUp: gate.map((x, i) => dY[i]! * x * sigmoid(x)),
  };
}
