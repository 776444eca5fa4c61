/**
 * A matrix on the device, f32 unless it is a frozen weight in a smaller format. Rows are padded with zeros to a
 * multiple of 4 elements, so that kernels read whole vec4s.
 */
import { type MatrixDtype, matrixRowBytes } from "../checkpoint/quantize";
import type { CommandQueue } from "./queue";
import type { Saved, Tape } from "./tape";

/** Width of a row in memory: the next multiple of 4. */
export function padded(width: number): number {
  return Math.ceil(width / 4) * 4;
}

/** A buffer that several tensors may share (views, gradients passed on); given back when the last one lets go. */
export class Storage {
  private uses = 1;

  constructor(
    readonly buffer: GPUBuffer,
    /** Undefined: the buffer belongs to somebody else. */
    private readonly owner: CommandQueue | undefined,
  ) {}

  get isShared(): boolean {
    return this.uses > 1;
  }

  retain(): this {
    this.uses++;
    return this;
  }

  release(): void {
    if (--this.uses === 0) this.owner?.give(this.buffer);
  }
}

export class Tensor implements Saved {
  /** d loss / d this, of the same shape, after `Tape.backward`. Kept for leaves and where `retainGrad` is set. */
  grad: Tensor | undefined;
  /** Keeps the gradient of an intermediate result, to look at it. */
  retainGrad = false;
  private isDisposed = false;

  constructor(
    readonly tape: Tape,
    readonly label: string,
    readonly rows: number,
    readonly columns: number,
    private readonly storage: Storage,
    /** Whether gradients flow to this tensor. */
    readonly requiresGrad = false,
    readonly dtype: MatrixDtype = "F32",
  ) {}

  /** Elements from one row to the next. */
  get pitch(): number {
    return padded(this.columns);
  }

  get bytes(): number {
    return this.rows * matrixRowBytes(this.dtype, this.pitch);
  }

  /** @throws Error when the tensor has been disposed of */
  get buffer(): GPUBuffer {
    return this.alive().buffer;
  }

  /** Whether another tensor reads the same memory. */
  get isShared(): boolean {
    return this.alive().isShared;
  }

  /** The same values; no gradient flows through. */
  detach(): Tensor {
    return this.alias(this.rows, this.columns, false);
  }

  /** Another tensor on the same memory, owned by the current scope. */
  alias(rows = this.rows, columns = this.columns, requiresGrad = this.requiresGrad): Tensor {
    const tensor = new Tensor(this.tape, this.label, rows, columns, this.alive().retain(), requiresGrad, this.dtype);
    return this.tape.own(tensor);
  }

  share(): Tensor {
    return this.alias();
  }

  /** The values, row by row, without padding. @throws as `Tape.flush`; Error for weights that are not f32 */
  async read(): Promise<Float32Array> {
    if (this.dtype !== "F32") throw new Error(`${this.label}: ${this.dtype} weights cannot be read back`);
    const { rows, columns, pitch } = this;
    const read = new Float32Array(await this.tape.queue.read(this.buffer, rows * pitch * 4));
    if (pitch === columns) return read;
    const packed = new Float32Array(rows * columns);
    for (let row = 0; row < rows; row++) packed.set(read.subarray(row * pitch, row * pitch + columns), row * columns);
    return packed;
  }

  /** The only value of a [1, 1] tensor. */
  async item(): Promise<number> {
    return (await this.read())[0] as number;
  }

  /** Lets go of the values and the gradient. What `backward` needs of them stays until then. */
  dispose(): void {
    if (this.isDisposed) return;
    this.isDisposed = true;
    this.storage.release();
    this.clearGrad();
  }

  clearGrad(): void {
    this.grad?.dispose();
    this.grad = undefined;
  }

  private alive(): Storage {
    if (this.isDisposed)
      throw new Error(`tensor "${this.label}" is used after its scope has ended or it was disposed of`);
    return this.storage;
  }
}
