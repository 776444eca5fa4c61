/**
 * Work for the device, recorded now and submitted later. Recording is synchronous, so that operations read like plain
 * functions; `flush` waits for what the work needs (buffers, compiled kernels) and submits it in order. Buffers come
 * from a pool and may be given back as soon as the last command that uses them is recorded.
 */
import type { Gpu } from "../gpu/device";
import type { Binding, Kernel, KernelSource } from "../gpu/kernel";
import { BufferPool } from "../gpu/pool";

/** Words of a `var<uniform>`, given a place in memory when the work is submitted. */
export class Uniform {
  constructor(readonly words: readonly number[]) {}
}

export type QueueBinding = Binding | Uniform;

type Command =
  | {
      kind: "dispatch";
      source: KernelSource;
      bindings: readonly QueueBinding[];
      workgroups: number | readonly [number, number];
    }
  | { kind: "write"; buffer: GPUBuffer; data: ArrayBufferView }
  | { kind: "clear"; buffer: GPUBuffer; bytes: number };

/** Dispatches of one submit: few enough that no submit runs for seconds, where browsers take a device away. */
const DISPATCHES_PER_SUBMIT = 64;

/** Uniforms of one submit, and bytes from one to the next: what every device can bind at. */
const UNIFORMS_PER_SUBMIT = 2 * DISPATCHES_PER_SUBMIT;
const UNIFORM_STEP = 256;

export class CommandQueue {
  private commands: Command[] = [];
  /** Buffers whose allocation the device has not confirmed yet. */
  private allocations: Promise<unknown>[] = [];
  private readonly pool: BufferPool;
  /**
   * Uniforms of one submit, each at a place that follows from its dispatch alone: a training step like the one before
   * then has the same bindings, and its bind groups exist.
   */
  private uniforms: GPUBuffer | undefined;
  private readonly uniformWords = new Uint32Array((UNIFORMS_PER_SUBMIT * UNIFORM_STEP) / 4);
  private readonly kernels = new Map<KernelSource, Kernel>();
  private readonly taken = new Map<GPUBuffer, number>();
  private tail: Promise<void> = Promise.resolve();
  /** Buffers that the device refused. */
  private readonly broken = new WeakSet<GPUBuffer>();
  private takenBytes = 0;
  private isDisposed = false;

  constructor(readonly gpu: Gpu) {
    // All are kept: a training step takes the same buffers as the one before, and ending a buffer would break commands
    // that are recorded and not submitted.
    this.pool = new BufferPool(gpu, Number.POSITIVE_INFINITY);
  }

  /** Bytes of the buffers that are taken and not given back. */
  get liveBytes(): number {
    return this.takenBytes;
  }

  /** A buffer of at least `bytes`, with whatever it held before. @throws GpuOutOfMemoryError, as does `flush` */
  take(label: string, bytes: number): GPUBuffer {
    if (this.isDisposed) throw new Error("the tape has been disposed of");
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    const { buffer, ready } = this.pool.takeNow(label, bytes, usage);
    this.expect(ready);
    ready?.catch(() => this.broken.add(buffer));
    this.taken.set(buffer, buffer.size);
    this.takenBytes += buffer.size;
    return buffer;
  }

  give(buffer: GPUBuffer): void {
    const size = this.taken.get(buffer);
    if (size === undefined) return;
    this.taken.delete(buffer);
    this.takenBytes -= size;
    if (!this.broken.has(buffer)) this.pool.give(buffer);
  }

  /** A `var<uniform>` of these words, at most 64 of them. */
  uniform(words: readonly number[]): Uniform {
    return new Uniform(words);
  }

  /** As `DispatchEncoder.dispatch`. The same source must be the same object each time. */
  dispatch(
    source: KernelSource,
    bindings: readonly QueueBinding[],
    workgroups: number | readonly [number, number],
  ): void {
    this.commands.push({ kind: "dispatch", source, bindings, workgroups });
  }

  /** Writes at the beginning of a buffer, after the commands before. `data` must not change any more. */
  write(buffer: GPUBuffer, data: ArrayBufferView): void {
    this.commands.push({ kind: "write", buffer, data });
  }

  /** Fills the first bytes with zeros. */
  clear(buffer: GPUBuffer, bytes: number): void {
    this.commands.push({ kind: "clear", buffer, bytes });
  }

  /**
   * Submits what was recorded. When it fails, what was recorded is dropped and all tensors made since are worthless.
   * @throws GpuOutOfMemoryError, GpuFailure, DeviceLostError
   */
  flush(): Promise<void> {
    const { commands, allocations } = this;
    this.commands = [];
    this.allocations = [];
    const run = this.tail.then(() => this.submit(commands, allocations));
    this.tail = run.catch(() => {});
    return run;
  }

  /** The first bytes of a buffer, after everything recorded before. @throws as `flush` */
  async read(buffer: GPUBuffer, bytes: number): Promise<ArrayBuffer> {
    await this.flush();
    return this.gpu.read(buffer, 0, bytes);
  }

  /** Ends all buffers, also those that were taken. */
  dispose(): void {
    if (this.isDisposed) return;
    this.isDisposed = true;
    this.commands = [];
    for (const buffer of [...this.taken.keys()]) this.give(buffer);
    this.pool.drain();
    // Staging for read-backs.
    this.gpu.pool.drain();
    if (this.uniforms) this.gpu.free(this.uniforms);
    this.uniforms = undefined;
  }

  private expect(ready: Promise<unknown> | undefined): void {
    if (!ready) return;
    this.allocations.push(ready);
    // Reported by the next flush; until then it is no unhandled rejection.
    ready.catch(() => {});
  }

  private async submit(commands: readonly Command[], allocations: readonly Promise<unknown>[]): Promise<void> {
    try {
      await Promise.all(allocations);
    } catch (error) {
      // A refused buffer may have been given back and taken anew since: nothing recorded so far can be trusted.
      await Promise.allSettled(allocations);
      this.commands = [];
      this.pool.drain();
      throw error;
    }
    const missing = new Set<KernelSource>();
    for (const command of commands) {
      if (command.kind === "dispatch" && !this.kernels.has(command.source)) missing.add(command.source);
    }
    await Promise.all(
      [...missing].map(async (source) => {
        this.kernels.set(source, await this.gpu.kernel(source));
      }),
    );
    if (this.isDisposed) throw new Error("the tape has been disposed of");
    const { uniformWords } = this;
    this.uniforms ??= await this.gpu.allocate(
      "sizes of operations",
      uniformWords.byteLength,
      GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST,
    );
    const uniforms = this.uniforms;
    let encoder = this.gpu.encode("tensor operations");
    let encoded = 0;
    let placed = 0;
    const submit = () => {
      // In order on the device: after what was submitted before, which reads what stood there.
      if (placed > 0) this.gpu.write(uniforms, 0, uniformWords.subarray(0, (placed * UNIFORM_STEP) / 4));
      encoder.submit();
      encoder = this.gpu.encode("tensor operations");
      encoded = 0;
      placed = 0;
    };
    const place = (binding: QueueBinding): Binding => {
      if (!(binding instanceof Uniform)) return binding;
      const offset = placed++ * UNIFORM_STEP;
      uniformWords.set(binding.words, offset / 4);
      return { buffer: uniforms, offset, size: Math.ceil(binding.words.length / 4) * 16 };
    };
    for (const command of commands) {
      if (command.kind === "dispatch") {
        const own = command.bindings.filter((binding) => binding instanceof Uniform).length;
        if (encoded >= DISPATCHES_PER_SUBMIT || placed + own > UNIFORMS_PER_SUBMIT) submit();
        const bindings = command.bindings.map(place);
        encoder.dispatch(this.kernels.get(command.source) as Kernel, bindings, command.workgroups);
        encoded++;
      } else if (command.kind === "clear") {
        encoder.clear(command.buffer, 0, command.bytes);
        encoded++;
      } else {
        // Writes take effect before anything submitted later, so what was recorded before must go first.
        if (encoded > 0) submit();
        this.gpu.write(command.buffer, 0, command.data);
      }
    }
    submit();
  }
}

const scratch = new DataView(new ArrayBuffer(4));

/** The bits of an f32, as a word of a uniform. */
export function floatBits(value: number): number {
  scratch.setFloat32(0, value);
  return scratch.getUint32(0);
}
