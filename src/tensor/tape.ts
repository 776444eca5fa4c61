/**
 * Reverse-mode differentiation over tensors on the device. Operations (src/tensor/ops) compute at once and record how
 * gradients flow back through them; `backward` walks that record from the last to the first.
 *
 * Memory: a tensor belongs to the innermost `scope` that it was made in and is given back when the scope ends, unless
 * the scope returns it. What an operation needs for its gradient stays until `backward` has passed it, and not longer.
 */
import type { TensorDtype } from "../checkpoint/checkpoint";
import { encodeTensor } from "../checkpoint/dtype";
import type { MatrixDtype } from "../checkpoint/quantize";
import type { Gpu } from "../gpu/device";
import { CommandQueue } from "./queue";
import { kernel } from "./shaders";
import { padded, Storage, Tensor } from "./tensor";

/** What is returned from a scope and therefore outlives it. */
export type Kept = Tensor | readonly Tensor[] | undefined;

/** What can be kept for the backward pass. */
export interface Saved {
  /** Another handle on the same memory, disposed of on its own. */
  share(): Saved;
  dispose(): void;
}

interface Node {
  outputs: readonly Tensor[];
  /** What `backward` reads, kept alive until then. */
  saved: readonly Saved[];
  /** Adds to the gradients of the inputs; called only when an output has a gradient. */
  backward: () => void;
}

/** Whole numbers on the device: ids, positions, row numbers. */
export class Integers implements Saved {
  private isDisposed = false;

  constructor(
    readonly values: Uint32Array,
    private readonly storage: Storage,
  ) {}

  get length(): number {
    return this.values.length;
  }

  /** @throws Error when they have been disposed of */
  get buffer(): GPUBuffer {
    if (this.isDisposed) throw new Error("whole numbers are used after their scope has ended or they were disposed of");
    return this.storage.buffer;
  }

  share(): Integers {
    return new Integers(this.values, this.storage.retain());
  }

  dispose(): void {
    if (this.isDisposed) return;
    this.isDisposed = true;
    this.storage.release();
  }
}

export class Tape {
  readonly queue: CommandQueue;
  private nodes: Node[] = [];
  private owned: Set<{ dispose(): void }> | undefined;
  private recording = true;

  constructor(readonly gpu: Gpu) {
    this.queue = new CommandQueue(gpu);
  }

  /** Bytes of all tensors that stand, gradients and saved values included. */
  get liveBytes(): number {
    return this.queue.liveBytes;
  }

  /** Whether operations are recorded for `backward`. */
  get isRecording(): boolean {
    return this.recording;
  }

  /**
   * A tensor of given values.
   * @param values [rows, columns]
   * @throws RangeError when the number of values differs; GpuOutOfMemoryError, here or at the next `flush`
   */
  tensor(
    values: ArrayLike<number>,
    rows: number,
    columns: number,
    { label = "tensor", requiresGrad = false, dtype = "F32" as TensorDtype } = {},
  ): Tensor {
    if (requiresGrad && dtype !== "F32") throw new RangeError(`${label}: only f32 can be trained, not ${dtype}`);
    checkCount(label, values, rows, columns);
    const tensor = this.empty(label, rows, columns, requiresGrad, dtype);
    this.queue.write(tensor.buffer, pitched(values, tensor));
    return tensor;
  }

  /**
   * Replaces the values of a tensor in place, after the work recorded before: for parameters that are loaded anew.
   * What was recorded for `backward` and not yet used reads the new values.
   * @param values [rows, columns] of the tensor
   * @throws RangeError when the number of values differs
   */
  overwrite(tensor: Tensor, values: ArrayLike<number>): void {
    checkCount(tensor.label, values, tensor.rows, tensor.columns);
    this.queue.write(tensor.buffer, pitched(values, tensor));
  }

  /**
   * A tensor on a buffer that belongs to somebody else, a weight of the decode path for instance.
   * @param buffer [rows, columns], rows padded to multiples of 4 with zeros
   */
  wrap(buffer: GPUBuffer, rows: number, columns: number, dtype: MatrixDtype = "F32", label = "weight"): Tensor {
    return this.own(new Tensor(this, label, rows, columns, new Storage(buffer, undefined), false, dtype));
  }

  /** A tensor whose every element, padding included, the caller is about to write. */
  empty(label: string, rows: number, columns: number, requiresGrad = false, dtype: TensorDtype = "F32"): Tensor {
    const bytes = rows * padded(columns) * (dtype === "F32" ? 4 : 2);
    const storage = new Storage(this.queue.take(label, bytes), this.queue);
    return this.own(new Tensor(this, label, rows, columns, storage, requiresGrad, dtype));
  }

  zeros(label: string, rows: number, columns: number, requiresGrad = false): Tensor {
    const tensor = this.empty(label, rows, columns, requiresGrad);
    this.queue.clear(tensor.buffer, tensor.bytes);
    return tensor;
  }

  /** Whole numbers, each a u32. */
  integers(values: ArrayLike<number>, label = "integers"): Integers {
    const array = Uint32Array.from(values);
    const storage = new Storage(this.queue.take(label, array.byteLength), this.queue);
    this.queue.write(storage.buffer, array);
    return this.own(new Integers(array, storage));
  }

  /** Hands a tensor to the current scope. */
  own<T extends { dispose(): void }>(resource: T): T {
    this.owned?.add(resource);
    return resource;
  }

  /** Takes a tensor out of the current scope, which must be the one it was made in: it lives until it is disposed of. */
  keep(tensor: Tensor): Tensor {
    this.owned?.delete(tensor);
    return tensor;
  }

  /** Runs `fn` and then disposes of all tensors made in it, save the ones it returns, which the outer scope gets. */
  scope<T extends Kept>(fn: () => T): T;
  scope(fn: () => void): void;
  scope<T extends Kept>(fn: () => T): T {
    const outer = this.owned;
    const own = new Set<{ dispose(): void }>();
    this.owned = own;
    let result: T;
    try {
      result = fn();
    } catch (error) {
      for (const resource of own) resource.dispose();
      throw error;
    } finally {
      this.owned = outer;
    }
    for (const tensor of tensorsOf(result)) {
      if (own.delete(tensor)) outer?.add(tensor);
    }
    for (const resource of own) resource.dispose();
    return result;
  }

  /** Runs `fn` without recording: nothing is kept for gradients, and none flow. */
  noGrad<T>(fn: () => T): T {
    const before = this.recording;
    this.recording = false;
    try {
      return fn();
    } finally {
      this.recording = before;
    }
  }

  /** Whether the result of an operation on these tensors has a gradient. */
  needsGrad(...inputs: readonly (Tensor | undefined)[]): boolean {
    return this.recording && inputs.some((input) => input?.requiresGrad === true);
  }

  /**
   * Records how gradients flow back to the inputs of an operation. For operations only.
   * @param saved what `backward` reads; it gets handles that stay valid when the scopes of these have ended
   */
  record<S extends readonly (Saved | undefined)[]>(
    outputs: readonly Tensor[],
    saved: readonly [...S],
    backward: (...kept: [...S]) => void,
  ): void {
    if (!this.recording || !outputs.some(({ requiresGrad }) => requiresGrad)) return;
    const kept = this.outsideScopes(() => saved.map((resource) => resource?.share())) as unknown as S;
    this.nodes.push({
      outputs,
      saved: kept.filter((resource) => resource !== undefined),
      backward: () => backward(...kept),
    });
  }

  /**
   * Where a kernel shall put d loss / d tensor: it writes there, or adds to what is there if `accumulates` is 1.
   * Undefined: the tensor has no gradient. For operations only.
   */
  gradTarget(tensor: Tensor): { buffer: GPUBuffer; accumulates: 0 | 1 } | undefined {
    if (!tensor.requiresGrad) return undefined;
    if (!tensor.grad) {
      tensor.grad = this.outsideScopes(() => this.empty(`gradient of ${tensor.label}`, tensor.rows, tensor.columns));
      return { buffer: tensor.grad.buffer, accumulates: 0 };
    }
    this.unshareGrad(tensor);
    return { buffer: tensor.grad.buffer, accumulates: 1 };
  }

  /** As `gradTarget`, for kernels that write only parts: always adds, to zeros if need be. */
  partialGradTarget(tensor: Tensor): GPUBuffer | undefined {
    const target = this.gradTarget(tensor);
    if (target?.accumulates === 0) this.queue.clear(target.buffer, (tensor.grad as Tensor).bytes);
    return target?.buffer;
  }

  /** Adds a gradient; its memory is shared until somebody changes it. For operations only. */
  addGrad(tensor: Tensor, gradient: Tensor): void {
    if (!tensor.requiresGrad) return;
    if (!tensor.grad) {
      tensor.grad = this.outsideScopes(() => gradient.alias(tensor.rows, tensor.columns, false));
      return;
    }
    this.unshareGrad(tensor);
    this.copyInto((tensor.grad as Tensor).buffer, gradient, 1);
  }

  /** The gradient is about to be changed: a copy of its own, if others read it. */
  private unshareGrad(tensor: Tensor): void {
    const grad = tensor.grad as Tensor;
    if (!grad.isShared) return;
    const copy = this.outsideScopes(() => this.empty(grad.label, grad.rows, grad.columns));
    this.copyInto(copy.buffer, grad, 0);
    grad.dispose();
    tensor.grad = copy;
  }

  private copyInto(target: GPUBuffer, source: Tensor, accumulates: 0 | 1): void {
    const vec4s = (source.rows * source.pitch) / 4;
    this.queue.dispatch(
      kernel("copyRows", "forward"),
      [this.queue.uniform([vec4s, 0, 0, accumulates]), source.buffer, target],
      Math.ceil(vec4s / 64),
    );
  }

  /** Runs `fn`; what it makes belongs to no scope and lives until it is disposed of. */
  outsideScopes<T>(fn: () => T): T {
    const scope = this.owned;
    this.owned = undefined;
    try {
      return fn();
    } finally {
      this.owned = scope;
    }
  }

  /**
   * Runs `fn` now without keeping what its gradient needs, and once more in `backward`: time for memory.
   * @param fn makes its result from `inputs` and from weights only, the same each time
   */
  checkpoint<I extends readonly Saved[], T extends Tensor | readonly Tensor[]>(
    fn: (...inputs: I) => T,
    ...inputs: I
  ): T {
    if (!this.recording) return this.scope(() => fn(...inputs));
    const outer = this.nodes;
    this.nodes = [];
    let result: T;
    try {
      result = this.scope(() => fn(...inputs));
    } finally {
      this.dropNodes();
      this.nodes = outer;
    }
    const outputs = tensorsOf(result);
    this.record(outputs, inputs, (...leaves) => {
      // The kept inputs are the leaves of the inner graph; their gradients are handed on.
      this.nodes = [];
      this.recording = true;
      const again = tensorsOf(this.scope(() => fn(...(leaves as unknown as I))));
      this.recording = false;
      again.forEach((tensor, i) => {
        const grad = (outputs[i] as Tensor).grad;
        if (grad) this.addGrad(tensor, grad);
      });
      this.walk();
      leaves.forEach((leaf, i) => {
        if (leaf instanceof Tensor && leaf.grad) this.addGrad(inputs[i] as unknown as Tensor, leaf.grad);
      });
    });
    return result;
  }

  /**
   * Adds d loss / d leaf to `grad` of every leaf that requires a gradient. The record is used up.
   * @param loss [1, 1], or any shape with `seed`
   * @param seed d loss / d tensor, [rows, columns] of the tensor; default 1
   */
  backward(loss: Tensor, seed?: Tensor): void {
    if (!seed && (loss.rows !== 1 || loss.columns !== 1)) {
      throw new RangeError(`backward needs a [1, 1] loss or a seed, not [${loss.rows}, ${loss.columns}] alone`);
    }
    if (!loss.requiresGrad) throw new Error(`"${loss.label}" depends on nothing that requires a gradient`);
    if (seed && (seed.rows !== loss.rows || seed.columns !== loss.columns)) {
      throw new RangeError(`the seed is [${seed.rows}, ${seed.columns}], and the loss [${loss.rows}, ${loss.columns}]`);
    }
    this.scope(() => this.addGrad(loss, seed ?? this.tensor([1], 1, 1, { label: "gradient of the loss" })));
    this.walk();
  }

  private walk(): void {
    const { nodes } = this;
    this.nodes = [];
    try {
      for (let node = nodes.pop(); node; node = nodes.pop()) {
        const { outputs, saved, backward } = node;
        if (outputs.some(({ grad }) => grad)) {
          this.noGrad(() => this.scope(backward));
          for (const output of outputs) if (!output.retainGrad) output.clearGrad();
        }
        for (const resource of saved) resource.dispose();
      }
    } finally {
      this.nodes = nodes;
      this.dropNodes();
    }
  }

  private dropNodes(): void {
    for (const { saved } of this.nodes) for (const resource of saved) resource.dispose();
    this.nodes = [];
  }

  /** Forgets what was recorded for `backward`. */
  reset(): void {
    this.dropNodes();
  }

  /** Submits the work recorded so far. @throws GpuOutOfMemoryError, GpuFailure, DeviceLostError */
  flush(): Promise<void> {
    return this.queue.flush();
  }

  /** Ends all tensors and buffers. */
  dispose(): void {
    this.dropNodes();
    this.queue.dispose();
  }
}

function checkCount(label: string, values: ArrayLike<number>, rows: number, columns: number): void {
  if (values.length !== rows * columns) {
    throw new RangeError(`${label}: ${values.length} values for [${rows}, ${columns}]`);
  }
}

/** Values in the number format of a tensor, its rows padded with zeros. */
function pitched(values: ArrayLike<number>, { label, rows, columns, pitch, dtype }: Tensor): Float32Array | Uint8Array {
  let withPadding: ArrayLike<number> = values;
  if (pitch !== columns) {
    const rowsOfPitch = new Float32Array(rows * pitch);
    for (let row = 0; row < rows; row++) {
      for (let i = 0; i < columns; i++) rowsOfPitch[row * pitch + i] = values[row * columns + i] as number;
    }
    withPadding = rowsOfPitch;
  }
  if (dtype === "Q8" || dtype === "Q4") throw new Error(`${label}: matrices in codes are only wrapped`);
  return dtype === "F32" ? Float32Array.from(withPadding) : encodeTensor(dtype, withPadding);
}

function tensorsOf(kept: Kept): readonly Tensor[] {
  if (!kept) return [];
  return kept instanceof Tensor ? [kept] : kept;
}
