/** One kernel run by hand on values from here: for checks of single kernels against the reference. */
import type { Gpu } from "../../gpu/device";
import type { Kernel, KernelSource } from "../../gpu/kernel";
import { padded } from "../weights";

/** What is bound: values to upload, small whole numbers for a uniform, or an output of so many f32s, zero at first. */
export type KernelBinding =
  | Float32Array
  | Uint32Array
  | { uniform: readonly number[] }
  | { outputs: number }
  | { inOut: Float32Array };

/**
 * Runs a kernel once and returns what its f32 outputs hold, in the order of the bindings.
 * @throws GpuFailure, GpuOutOfMemoryError, DeviceLostError
 */
export async function runKernel(
  gpu: Gpu,
  source: KernelSource | Kernel,
  bindings: readonly KernelBinding[],
  workgroups: number | readonly [number, number],
): Promise<Float32Array[]> {
  const kernel = "pipeline" in source ? source : await gpu.kernel(source);
  const buffers: GPUBuffer[] = [];
  try {
    for (const binding of bindings) {
      if ("uniform" in binding) {
        const buffer = await gpu.allocate("uniform", 32, GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST);
        buffers.push(buffer);
        gpu.write(buffer, 0, Uint32Array.from(binding.uniform));
      } else if ("outputs" in binding) {
        buffers.push(await gpu.allocate("output", binding.outputs * 4));
      } else {
        const values = "inOut" in binding ? binding.inOut : binding;
        const buffer = await gpu.allocate("input", values.byteLength);
        buffers.push(buffer);
        gpu.write(buffer, 0, values);
      }
    }
    const encoder = gpu.encode("check");
    encoder.dispatch(kernel, buffers, workgroups);
    encoder.submit();
    const results: Float32Array[] = [];
    for (const [i, binding] of bindings.entries()) {
      const count = "outputs" in binding ? binding.outputs : "inOut" in binding ? binding.inOut.length : 0;
      if (count > 0) results.push(new Float32Array(await gpu.read(buffers[i] as GPUBuffer, 0, count * 4)));
    }
    return results;
  } finally {
    for (const buffer of buffers) gpu.free(buffer);
  }
}

/** Rows at a pitch of a multiple of 4, zeros between them. */
export function padRows(values: ArrayLike<number>, width: number): Float32Array<ArrayBuffer> {
  const pitch = padded(width);
  const result = new Float32Array((values.length / width) * pitch);
  for (let i = 0; i < values.length; i++) result[Math.floor(i / width) * pitch + (i % width)] = values[i] as number;
  return result;
}

/** The first `width` of every `padded(width)` values. */
export function unpadRows(values: ArrayLike<number>, width: number): number[] {
  const pitch = padded(width);
  return Array.from(values).filter((_, i) => i % pitch < width);
}
