/** The buffers of one owner, a model for instance: counted together, and freed together. */
import type { Gpu } from "./device";

export class BufferScope {
  private readonly buffers = new Set<GPUBuffer>();

  constructor(readonly gpu: Gpu) {}

  /** Bytes of the buffers that stand. */
  get liveBytes(): number {
    let bytes = 0;
    for (const { size } of this.buffers) bytes += size;
    return bytes;
  }

  /** As `Gpu.allocate`. @throws GpuOutOfMemoryError */
  async allocate(label: string, bytes: number, usage?: GPUBufferUsageFlags): Promise<GPUBuffer> {
    const buffer = await this.gpu.allocate(label, bytes, usage);
    this.buffers.add(buffer);
    return buffer;
  }

  /** A buffer of small whole numbers for `var<uniform>`. */
  async uniform(label: string, values: readonly number[]): Promise<GPUBuffer> {
    const words = Math.ceil(values.length / 4) * 4;
    const buffer = await this.allocate(label, words * 4, GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST);
    this.gpu.write(
      buffer,
      0,
      Uint32Array.from({ length: words }, (_, i) => values[i] ?? 0),
    );
    return buffer;
  }

  /** Ends a buffer of this scope; `undefined` and buffers that have ended already are fine. */
  free(buffer: GPUBuffer | undefined): void {
    if (buffer && this.buffers.delete(buffer)) this.gpu.free(buffer);
  }

  freeAll(): void {
    for (const buffer of this.buffers) this.gpu.free(buffer);
    this.buffers.clear();
  }
}
