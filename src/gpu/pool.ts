/** Buffers that are taken and given back many times: staging for read-backs, scratch. */
import type { Gpu } from "./device";

export class BufferPool {
  /** By size and usage; the oldest buffer of each comes last and is taken first. */
  private readonly free = new Map<string, GPUBuffer[]>();
  private readonly ages = new WeakMap<GPUBuffer, number>();
  private made = 0;

  /** @param keptPerSize free buffers of one size and usage beyond this many are ended */
  constructor(
    private readonly gpu: Gpu,
    private readonly keptPerSize = 4,
  ) {}

  /** A buffer of at least `bytes`, with whatever it held before. @throws GpuOutOfMemoryError */
  async take(label: string, bytes: number, usage: GPUBufferUsageFlags): Promise<GPUBuffer> {
    const size = sizeClass(bytes, this.gpu.limits.maxBufferBytes);
    return this.free.get(`${size} ${usage}`)?.pop() ?? this.gpu.allocate(label, size, usage);
  }

  /** As `take`, by `Gpu.allocateNow` where no free buffer fits; `ready` is undefined where one does. */
  takeNow(
    label: string,
    bytes: number,
    usage: GPUBufferUsageFlags,
  ): { buffer: GPUBuffer; ready: Promise<GPUBuffer> | undefined } {
    const size = sizeClass(bytes, this.gpu.limits.maxBufferBytes);
    const buffer = this.free.get(`${size} ${usage}`)?.pop();
    return buffer ? { buffer, ready: undefined } : this.gpu.allocateNow(label, size, usage);
  }

  give(buffer: GPUBuffer): void {
    const key = `${buffer.size} ${buffer.usage}`;
    const same = this.free.get(key) ?? [];
    this.free.set(key, same);
    if (same.length >= this.keptPerSize) {
      this.gpu.free(buffer);
      return;
    }
    // Not the one that was given back last: work that repeats itself shall get the same buffers each time, as bind
    // groups are made for them.
    const age = this.ages.get(buffer) ?? this.made++;
    this.ages.set(buffer, age);
    let [low, high] = [0, same.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.ages.get(same[middle] as GPUBuffer) as number) > age) low = middle + 1;
      else high = middle;
    }
    same.splice(low, 0, buffer);
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
