/**
 * The device: opened with what the adapter offers, watched for loss and errors, with every byte counted. `Gpu` is the
 * only owner of a GPUDevice; all other code allocates, compiles and submits through it.
 */
import { Completion } from "./completion";
import { DispatchEncoder } from "./encoder";
import { DeviceLostError, GpuFailure, GpuOutOfMemoryError, GpuUnavailableError } from "./errors";
import { Kernel, type KernelSource } from "./kernel";
import { BufferPool } from "./pool";

export interface GpuLimits {
  maxBufferBytes: number;
  maxBindingBytes: number;
  maxWorkgroupsPerDimension: number;
  maxWorkgroupMemoryBytes: number;
  maxInvocationsPerWorkgroup: number;
}

/** What an adapter says of itself, whatever was asked of it. */
export interface AdapterDescription {
  vendor: string;
  architecture: string;
  device: string;
  description: string;
  features: readonly string[];
  /** By WebGPU's names. */
  limits: Readonly<Record<string, number>>;
}

export interface OpenGpuOptions {
  /** Where WebGPU comes from. Default: `navigator.gpu`. */
  gpu?: GPU;
  powerPreference?: GPUPowerPreference;
  /** False stays at the specification's default limits, as on the smallest devices. Default true. */
  raiseLimits?: boolean;
  /** Limits lower than the device's, to force what larger models force: splitting, folding. */
  caps?: Partial<GpuLimits>;
  /** False does without subgroups even where the device has them. Default true. */
  subgroups?: boolean;
  /** Whether to choose kernels as for a program on the CPU. Default: by what the adapter says of itself. */
  software?: boolean;
  /** Bytes that may be allocated. Default: as many as the device gives. */
  memoryBudget?: number;
}

/** Limits that are asked for; the others stay at the specification's defaults. */
const RAISED_LIMITS = [
  "maxBufferSize",
  "maxStorageBufferBindingSize",
  "maxComputeWorkgroupStorageSize",
  "maxComputeInvocationsPerWorkgroup",
  "maxComputeWorkgroupSizeX",
] as const;

/**
 * Opens the device.
 * @throws GpuUnavailableError with the reason: an insecure page, a browser without WebGPU, no adapter, no device
 */
export async function openGpu(options: OpenGpuOptions = {}): Promise<Gpu> {
  const gpu = options.gpu ?? (globalThis.navigator as Navigator | undefined)?.gpu;
  if (!gpu) {
    if (globalThis.isSecureContext === false) {
      throw new GpuUnavailableError(
        "insecureContext",
        "This page was not loaded over a secure connection, and browsers offer WebGPU to secure pages only: " +
          "open it over https, or from localhost.",
      );
    }
    throw new GpuUnavailableError("noWebGpu", "This browser has no WebGPU, or it is switched off.");
  }
  const adapter = await gpu.requestAdapter({ powerPreference: options.powerPreference ?? "high-performance" });
  if (!adapter) {
    throw new GpuUnavailableError(
      "noAdapter",
      "WebGPU is there, but it offers no graphics adapter: the graphics driver may be missing, too old or blocked.",
    );
  }
  const wantsSubgroups = options.subgroups !== false && adapter.features.has("subgroups");
  const requiredLimits: Record<string, number> = {};
  if (options.raiseLimits !== false) {
    for (const limit of RAISED_LIMITS) {
      requiredLimits[limit] = adapter.limits[limit];
    }
  }
  try {
    const device = await adapter.requestDevice({
      requiredLimits,
      requiredFeatures: wantsSubgroups ? ["subgroups" as GPUFeatureName] : [],
    });
    const completion = new Completion(device.queue);
    await completion.measure();
    return new Gpu(device, adapter, completion, options);
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    throw new GpuUnavailableError("deviceRefused", `The graphics adapter refused to open a device: ${detail}`, {
      cause: error,
    });
  }
}

/** A multiple of 4, as offsets of writes must be. */
const WRITE_BYTES = 32 * 2 ** 20;

const SOFTWARE_ADAPTER = /swiftshader|llvmpipe|lavapipe|software|basic render/i;

export class Gpu {
  /** What the adapter calls itself, as far as the browser tells. */
  readonly name: string;
  /** True when the "GPU" is a program on the CPU. */
  readonly isSoftware: boolean;
  readonly limits: GpuLimits;
  readonly features: ReadonlySet<string>;
  /** Invocations in a subgroup where subgroups are on and always of one size, else undefined. */
  readonly subgroupSize: number | undefined;
  /** Resolves when the device is lost, also by `close()`. */
  readonly lost: Promise<DeviceLostError>;
  readonly pool: BufferPool;
  readonly adapter: AdapterDescription;

  private readonly sizes = new Map<GPUBuffer, number>();
  private readonly kernels = new Map<string, Promise<Kernel>>();
  private readonly builtKernels = new Set<Kernel>();
  private readonly modules = new Map<string, Promise<GPUShaderModule>>();
  private bytes = 0;
  private peak = 0;
  private lostError: DeviceLostError | undefined;
  private failure: GpuFailure | undefined;

  constructor(
    private readonly device: GPUDevice,
    adapter: GPUAdapter,
    private readonly completion: Completion,
    private readonly options: OpenGpuOptions = {},
  ) {
    const { description, device: deviceName, vendor, architecture } = adapter.info;
    this.adapter = {
      vendor,
      architecture,
      device: deviceName,
      description,
      features: [...adapter.features].sort(),
      limits: limitsOf(adapter),
    };
    this.name = description || deviceName || [vendor, architecture].filter(Boolean).join(" ") || "unnamed adapter";
    this.isSoftware =
      options.software ??
      ((adapter.info as { isFallbackAdapter?: boolean }).isFallbackAdapter === true ||
        SOFTWARE_ADAPTER.test([description, deviceName, vendor, architecture].join(" ")));
    this.features = new Set(device.features);
    const { subgroupMinSize, subgroupMaxSize } = adapter.info as { subgroupMinSize?: number; subgroupMaxSize?: number };
    this.subgroupSize =
      this.features.has("subgroups") && subgroupMinSize === subgroupMaxSize ? subgroupMinSize : undefined;
    const { limits } = device;
    this.limits = lower(
      {
        maxBufferBytes: limits.maxBufferSize,
        maxBindingBytes: limits.maxStorageBufferBindingSize,
        maxWorkgroupsPerDimension: limits.maxComputeWorkgroupsPerDimension,
        maxWorkgroupMemoryBytes: limits.maxComputeWorkgroupStorageSize,
        maxInvocationsPerWorkgroup: limits.maxComputeInvocationsPerWorkgroup,
      },
      options.caps,
    );
    this.lost = device.lost.then(({ reason, message }) => {
      this.lostError = new DeviceLostError(reason, message);
      return this.lostError;
    });
    device.onuncapturederror = (event) => {
      this.failure ??= new GpuFailure(`the GPU refused a command: ${event.error.message}`);
    };
    this.pool = new BufferPool(this);
  }

  /** Bytes of all buffers that stand. */
  get liveBytes(): number {
    return this.bytes;
  }

  /** The most bytes that ever stood. */
  get peakBytes(): number {
    return this.peak;
  }

  /** @throws DeviceLostError or GpuFailure when the device is lost or has refused a command */
  check(): void {
    if (this.lostError) throw this.lostError;
    if (this.failure) throw this.failure;
  }

  /**
   * A buffer that starts as zeros. Ends with `free`.
   * @param bytes rounded up to a multiple of 4
   * @throws GpuOutOfMemoryError naming `label`, with the bytes needed and available
   */
  async allocate(label: string, bytes: number, usage = STORAGE_USAGE()): Promise<GPUBuffer> {
    return this.allocateNow(label, bytes, usage).ready;
  }

  /**
   * As `allocate`, for callers that record work first and submit it later: the buffer may be named in bindings at once,
   * but nothing that uses it may be submitted before `ready` has resolved.
   * @throws GpuOutOfMemoryError where the limits alone forbid the buffer; `ready` rejects with what the device says
   */
  allocateNow(label: string, bytes: number, usage = STORAGE_USAGE()): { buffer: GPUBuffer; ready: Promise<GPUBuffer> } {
    this.check();
    const size = Math.max(16, Math.ceil(bytes / 4) * 4);
    const budgetLeft =
      this.options.memoryBudget === undefined ? undefined : Math.max(0, this.options.memoryBudget - this.bytes);
    if (size > this.limits.maxBufferBytes) {
      throw new GpuOutOfMemoryError(label, size, this.limits.maxBufferBytes, this.bytes);
    }
    if (budgetLeft !== undefined && size > budgetLeft) {
      throw new GpuOutOfMemoryError(label, size, budgetLeft, this.bytes);
    }
    this.device.pushErrorScope("out-of-memory");
    this.device.pushErrorScope("validation");
    const buffer = this.device.createBuffer({ label, size, usage });
    // Counted at once: allocations that run side by side see each other.
    this.sizes.set(buffer, size);
    this.bytes += size;
    const ready = this.settle(Promise.all([this.device.popErrorScope(), this.device.popErrorScope()])).then(
      ([invalid, exhausted]) => {
        if (invalid || exhausted) {
          this.free(buffer);
          this.check();
          if (exhausted) throw new GpuOutOfMemoryError(label, size, undefined, this.bytes);
          throw new GpuFailure(`the GPU refused a buffer for ${label}: ${invalid?.message}`);
        }
        this.peak = Math.max(this.peak, this.bytes);
        return buffer;
      },
    );
    return { buffer, ready };
  }

  /** Ends a buffer. Freeing twice does nothing. */
  free(buffer: GPUBuffer): void {
    const size = this.sizes.get(buffer);
    if (size === undefined) return;
    this.sizes.delete(buffer);
    this.bytes -= size;
    buffer.destroy();
    for (const kernel of this.builtKernels) kernel.forget(buffer);
  }

  /**
   * A compiled shader; the same source and constants give the same one.
   * @throws GpuFailure with the compiler's message
   */
  kernel(source: KernelSource): Promise<Kernel> {
    const key = JSON.stringify([source.label, source.code, source.entryPoint, source.constants ?? {}]);
    const known = this.kernels.get(key);
    if (known) return known;
    const building = this.build(source);
    this.kernels.set(key, building);
    // A failure is not kept: the next try compiles anew.
    building.catch(() => this.kernels.delete(key));
    return building;
  }

  private async build({ label, code, entryPoint = "forward", constants = {} }: KernelSource): Promise<Kernel> {
    this.check();
    const module = await this.module(label, code);
    try {
      const building = this.device.createComputePipelineAsync({
        label,
        layout: "auto",
        compute: {
          module,
          entryPoint,
          constants: Object.fromEntries(Object.entries(constants).map(([name, value]) => [name, Number(value)])),
        },
      });
      const pipeline = await this.settle(building);
      const kernel = new Kernel(label, pipeline, this.device);
      this.builtKernels.add(kernel);
      return kernel;
    } catch (error) {
      if (error instanceof DeviceLostError || error instanceof GpuFailure) throw error;
      throw new GpuFailure(`shader ${label} does not compile: ${(error as Error).message}`, { cause: error });
    }
  }

  private module(label: string, code: string): Promise<GPUShaderModule> {
    const known = this.modules.get(code);
    if (known) return known;
    this.device.pushErrorScope("validation");
    const module = this.device.createShaderModule({ label, code });
    const checked = this.settle(this.device.popErrorScope()).then((error) => {
      if (!error) return module;
      this.modules.delete(code);
      throw new GpuFailure(`shader ${label} does not compile: ${error.message}`);
    });
    this.modules.set(code, checked);
    return checked;
  }

  /** Writes bytes before anything that is submitted from now on. */
  write(buffer: GPUBuffer, offset: number, data: ArrayBufferView): void {
    // In pieces: a browser moves each through memory that it shares with its GPU process.
    for (let start = 0; start < data.byteLength; start += WRITE_BYTES) {
      const bytes = Math.min(WRITE_BYTES, data.byteLength - start);
      this.device.queue.writeBuffer(buffer, offset + start, data.buffer as ArrayBuffer, data.byteOffset + start, bytes);
    }
  }

  encode(label: string): DispatchEncoder {
    this.check();
    return new DispatchEncoder(this.device, this.limits.maxWorkgroupsPerDimension, label);
  }

  /** Waits until everything submitted has been done. @throws DeviceLostError, GpuFailure */
  async finish(): Promise<void> {
    await this.settle(this.completion.of(this.device.queue.onSubmittedWorkDone()));
  }

  /** Bytes of a buffer, after everything submitted before. @throws DeviceLostError, GpuFailure */
  async read(buffer: GPUBuffer, offset: number, bytes: number): Promise<ArrayBuffer> {
    if (bytes === 0) return new ArrayBuffer(0);
    const staging = await this.pool.take("read-back", bytes, GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST);
    try {
      const encoder = this.encode("read-back");
      encoder.copy(buffer, offset, staging, 0, bytes);
      encoder.submit();
      return await this.mapped(staging, bytes);
    } finally {
      this.pool.give(staging);
    }
  }

  /** A copy of the first bytes of a staging buffer (MAP_READ), after everything submitted before. */
  async mapped(staging: GPUBuffer, bytes: number): Promise<ArrayBuffer> {
    await this.settle(this.completion.of(staging.mapAsync(GPUMapMode.READ, 0, bytes)));
    const copy = staging.getMappedRange(0, bytes).slice(0);
    staging.unmap();
    return copy;
  }

  /** Awaits work of the device; if it fails because the device is lost, says so. */
  private async settle<T>(work: Promise<T>): Promise<T> {
    try {
      const result = await work;
      this.check();
      return result;
    } catch (error) {
      // The loss may be reported a moment after the failures it causes.
      if (!this.lostError) await Promise.race([this.lost, new Promise((resolve) => setTimeout(resolve, 100))]);
      this.check();
      throw error;
    }
  }

  /** Destroys the device as a fault of its driver would, while its owner goes on: for trying how programs recover. */
  destroy(): void {
    this.device.destroy();
  }

  /** Frees everything and gives the device up. */
  close(): void {
    this.pool.drain();
    for (const buffer of [...this.sizes.keys()]) this.free(buffer);
    this.builtKernels.clear();
    this.kernels.clear();
    this.modules.clear();
    this.device.destroy();
  }
}

/** Their names are on the prototype, and differ from browser to browser. */
function limitsOf({ limits }: GPUAdapter): Record<string, number> {
  const found: Record<string, number> = {};
  for (const name in limits) {
    const value = (limits as unknown as Record<string, unknown>)[name];
    if (typeof value === "number") found[name] = value;
  }
  return found;
}

function lower(limits: GpuLimits, caps: Partial<GpuLimits> = {}): GpuLimits {
  const lowered = { ...limits };
  for (const [name, cap] of Object.entries(caps) as [keyof GpuLimits, number | undefined][]) {
    if (cap !== undefined) lowered[name] = Math.min(lowered[name], cap);
  }
  return lowered;
}

/** Evaluated late: in Node the WebGPU constants exist only once Dawn is loaded. */
function STORAGE_USAGE(): GPUBufferUsageFlags {
  return GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
}
