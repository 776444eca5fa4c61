/** silu(gate) * up with silu(x) = x / (1 + exp(-x)). Source: Shazeer 2020. */

/** @param gate and `up` of one shape; the result has it too */
export function swiglu(gate: Float64Array, up: Float64Array): Float64Array {
  return gate.map((x, i) => (x / (1 + Math.exp(-x))) * up[i]!);
}
