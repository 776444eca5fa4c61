/** Kernels run by hand, and comparisons with the f64 reference. */
import { expect } from "vitest";
import { Random } from "../../../src/random/random";

export { type KernelBinding as TestBinding, padRows, runKernel, unpadRows } from "../../../src/model/check/runKernel";

/** f32 values of a normal distribution. */
export function randomValues(count: number, seed: number, scale = 1): Float32Array {
  const random = new Random(seed, 1);
  return Float32Array.from({ length: count }, () => scale * random.normal());
}

/** Largest difference, relative to the largest expected value. */
export function relativeError(actual: ArrayLike<number>, expected: ArrayLike<number>): number {
  expect(actual.length).toBe(expected.length);
  let difference = 0;
  let scale = 0;
  for (let i = 0; i < expected.length; i++) {
    // Differences to NaN would get lost in a maximum.
    if (!Number.isFinite(actual[i]!)) return Number.POSITIVE_INFINITY;
    difference = Math.max(difference, Math.abs(actual[i]! - expected[i]!));
    scale = Math.max(scale, Math.abs(expected[i]!));
  }
  return difference / Math.max(scale, 1e-30);
}
