/** A compiled shader and its bind groups. */

export interface KernelSource {
  label: string;
  /** WGSL. */
  code: string;
  /** Default "forward". */
  entryPoint?: string;
  /** Values of `override` constants. */
  constants?: Readonly<Record<string, number | boolean>>;
}

/** A whole buffer, or a part of one. */
export type Binding = GPUBuffer | { buffer: GPUBuffer; offset: number; size: number };

/** Bind groups are cheap to make and cheap to keep, but not without end: buffers of a pool combine in ever new ways. */
const KEPT_GROUPS = 2048;

export class Kernel {
  private readonly groups = new Map<string, GPUBindGroup>();
  private readonly keysOfBuffer = new Map<GPUBuffer, Set<string>>();

  constructor(
    readonly label: string,
    readonly pipeline: GPUComputePipeline,
    private readonly device: GPUDevice,
  ) {}

  /** The bind group of buffers for @binding(0), (1), ...; the same buffers give the same one. */
  bindGroup(bindings: readonly Binding[]): GPUBindGroup {
    const parts = bindings.map((binding) => ("buffer" in binding ? binding : { buffer: binding, offset: 0, size: 0 }));
    const key = parts.map(({ buffer, offset, size }) => `${numberOf(buffer)}+${offset}/${size}`).join(" ");
    let group = this.groups.get(key);
    if (!group) {
      if (this.groups.size >= KEPT_GROUPS) {
        this.groups.clear();
        this.keysOfBuffer.clear();
      }
      group = this.device.createBindGroup({
        label: this.label,
        layout: this.pipeline.getBindGroupLayout(0),
        entries: parts.map(({ buffer, offset, size }, binding) => ({
          binding,
          resource: size === 0 ? { buffer } : { buffer, offset, size },
        })),
      });
      this.groups.set(key, group);
      for (const { buffer } of parts) {
        const keys = this.keysOfBuffer.get(buffer) ?? new Set();
        this.keysOfBuffer.set(buffer, keys.add(key));
      }
    }
    return group;
  }

  /** Drops the bind groups of a buffer that is about to end. */
  forget(buffer: GPUBuffer): void {
    for (const key of this.keysOfBuffer.get(buffer) ?? []) this.groups.delete(key);
    this.keysOfBuffer.delete(buffer);
  }
}

const numbers = new WeakMap<GPUBuffer, number>();
let nextNumber = 0;

/** A number that stands for a buffer in keys. */
function numberOf(buffer: GPUBuffer): number {
  let number = numbers.get(buffer);
  if (number === undefined) {
    number = nextNumber++;
    numbers.set(buffer, number);
  }
  return number;
}
