/** Puts many dispatches into one compute pass, which is much cheaper than one pass or one submit for each. */
import type { Binding, Kernel } from "./kernel";

export class DispatchEncoder {
  private readonly encoder: GPUCommandEncoder;
  private pass: GPUComputePassEncoder | undefined;
  private current: GPUComputePipeline | undefined;

  constructor(
    private readonly device: GPUDevice,
    private readonly maxWorkgroups: number,
    private readonly label: string,
  ) {
    this.encoder = device.createCommandEncoder({ label });
  }

  /**
   * Adds a dispatch; those of one encoder see what the earlier ones wrote.
   * @param workgroups how many: a number is folded into two dimensions where it exceeds the limit, and the kernel
   * unfolds it with `workgroup_number` (shaders/common/grid.wgsl) and ignores the surplus; a pair is taken as it is
   * @throws RangeError when a pair exceeds the limit
   */
  dispatch(kernel: Kernel, bindings: readonly Binding[], workgroups: number | readonly [number, number]): void {
    const [x, y] = typeof workgroups === "number" ? fold(workgroups, this.maxWorkgroups) : workgroups;
    if (x > this.maxWorkgroups || y > this.maxWorkgroups) {
      throw new RangeError(`${kernel.label}: ${x} x ${y} workgroups, at most ${this.maxWorkgroups} in a dimension`);
    }
    if (x === 0 || y === 0) return;
    this.pass ??= this.encoder.beginComputePass({ label: this.label });
    if (this.current !== kernel.pipeline) {
      this.pass.setPipeline(kernel.pipeline);
      this.current = kernel.pipeline;
    }
    this.pass.setBindGroup(0, kernel.bindGroup(bindings));
    this.pass.dispatchWorkgroups(x, y);
  }

  /** Copies bytes between buffers, after the dispatches before it. */
  copy(source: GPUBuffer, sourceOffset: number, target: GPUBuffer, targetOffset: number, bytes: number): void {
    this.endPass();
    this.encoder.copyBufferToBuffer(source, sourceOffset, target, targetOffset, bytes);
  }

  /** Fills bytes with zeros, after the dispatches before it. */
  clear(buffer: GPUBuffer, offset: number, bytes: number): void {
    this.endPass();
    this.encoder.clearBuffer(buffer, offset, bytes);
  }

  submit(): void {
    this.endPass();
    this.device.queue.submit([this.encoder.finish()]);
  }

  private endPass(): void {
    this.pass?.end();
    this.pass = undefined;
    this.current = undefined;
  }
}

/** A count of workgroups as a grid of two dimensions, each at most `limit`, with as little surplus as possible. */
export function fold(count: number, limit: number): [number, number] {
  if (count <= limit) return [count, 1];
  const y = Math.ceil(count / limit);
  return [Math.ceil(count / y), y];
}
