/** Kernels run by hand, and comparisons with the f64 reference. */
import { expect } from "vitest";
import type { Gpu } from "../../../src/gpu/device";
import type { KernelSource } from "../../../src/gpu/kernel";
import { Random } from "../../../src/random/random";

/** What is bound in a test: values to upload, or the number of f32s of an output that starts as zeros. */
export type TestBinding = Float32Array | Uint32Array | { uniform: readonly number[] } | { outputs: number };

/** Runs a kernel once and returns what its f32 outputs hold, in the order of the bindings. */
export async function runKernel(
  gpu: Gpu,
  source: KernelSource,
  bindings: readonly TestBinding[],
  workgroups: number | readonly [number, number],
): Promise<Float32Array[]> {
  const kernel = await gpu.kernel(source);
  const buffers: GPUBuffer[] = [];
  for (const binding of bindings) {
    if ("uniform" in binding) {
      const buffer = await gpu.allocate("uniform", 32, GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST);
      gpu.write(buffer, 0, Uint32Array.from(binding.uniform));
      buffers.push(buffer);
    } else if ("outputs" in binding) {
      buffers.push(await gpu.allocate("output", binding.outputs * 4));
    } else {
      const buffer = await gpu.allocate("input", binding.byteLength);
      gpu.write(buffer, 0, binding);
      buffers.push(buffer);
    }
  }
  const encoder = gpu.encode("test");
  encoder.dispatch(kernel, buffers, workgroups);
  encoder.submit();
  const results: Float32Array[] = [];
  for (const [i, binding] of bindings.entries()) {
    if ("outputs" in binding) results.push(new Float32Array(await gpu.read(buffers[i]!, 0, binding.outputs * 4)));
  }
  for (const buffer of buffers) gpu.free(buffer);
  return results;
}

/** f32 values of a normal distribution. */
export function randomValues(count: number, seed: number, scale = 1): Float32Array {
  const random = new Random(seed, 1);
  return Float32Array.from({ length: count }, () => scale * random.normal());
}

/** Rows at a pitch of a multiple of 4, zeros between them. */
export function padRows(values: ArrayLike<number>, width: number): Float32Array {
  const pitch = Math.ceil(width / 4) * 4;
  const padded = new Float32Array((values.length / width) * pitch);
  for (let i = 0; i < values.length; i++) padded[Math.floor(i / width) * pitch + (i % width)] = values[i]!;
  return padded;
}

/** The first `width` of every `ceil(width / 4) * 4` values. */
export function unpadRows(values: ArrayLike<number>, width: number): number[] {
  const pitch = Math.ceil(width / 4) * 4;
  return Array.from(values).filter((_, i) => i % pitch < width);
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
