/** Buffers that are taken and given back many times: staging for read-backs, scratch. */
import type { Gpu } from "./device";

/** Free buffers of one size and usage beyond this many are ended. */
const KEPT_PER_SIZE = 4;

export class BufferPool {
  private readonly free = new Map<string, GPUBuffer[]>();

  constructor(private readonly gpu: Gpu) {}

  /** A buffer of at least `bytes`, with whatever it held before. @throws GpuOutOfMemoryError */
  async take(label: string, bytes: number, usage: GPUBufferUsageFlags): Promise<GPUBuffer> {
    const size = sizeClass(bytes, this.gpu.limits.maxBufferBytes);
    return this.free.get(`${size} ${usage}`)?.pop() ?? this.gpu.allocate(label, size, usage);
  }

  give(buffer: GPUBuffer): void {
    const key = `${buffer.size} ${buffer.usage}`;
    const same = this.free.get(key) ?? [];
    this.free.set(key, same);
    if (same.length < KEPT_PER_SIZE) same.push(buffer);
    else this.gpu.free(buffer);
  }

  /** Ends all free buffers. */
  drain(): void {
    for (const buffers of this.free.values()) for (const buffer of buffers) this.gpu.free(buffer);
    this.free.clear();
  }
}

/** Sizes grow by powers of two, so that few different ones exist; where that exceeds the limit, the exact size. */
function sizeClass(bytes: number, limit: number): number {
  const size = 2 ** Math.ceil(Math.log2(Math.max(bytes, 256)));
  return size <= limit ? size : Math.ceil(bytes / 4) * 4;
}
