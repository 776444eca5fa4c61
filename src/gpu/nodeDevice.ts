/**
 * A device in Node, through Dawn (npm package `webgpu`). Which adapter the Vulkan loader offers is decided by the
 * environment before the first call (scripts/lib/gpuEnvironment.mjs).
 */
import { type Gpu, type OpenGpuOptions, openGpu } from "./device";
import { GpuUnavailableError } from "./errors";

/**
 * Opens a device. `close()` releases Dawn with it, so that Node can exit.
 * @throws GpuUnavailableError
 */
export async function openNodeGpu(options: Omit<OpenGpuOptions, "gpu"> = {}): Promise<Gpu> {
  const instance = await openDawn();
  const gpu = await openGpu({ ...options, gpu: instance });
  // Dawn crashes when its instance is collected before its device, and Node stays alive while it is referenced.
  instances.set(gpu, instance);
  void gpu.lost.then(() => instances.delete(gpu));
  return gpu;
}

/**
 * What browsers have as `navigator.gpu`; also defines WebGPU's globals.
 * @throws GpuUnavailableError when Dawn cannot be loaded
 */
export async function openDawn(): Promise<GPU> {
  let dawn: typeof import("webgpu");
  try {
    dawn = await import("webgpu");
  } catch (error) {
    throw new GpuUnavailableError("noWebGpu", `Dawn, WebGPU for Node, cannot be loaded: ${(error as Error).message}`, {
      cause: error,
    });
  }
  Object.assign(globalThis, dawn.globals);
  paceDawn();
  return dawn.create([]);
}

const instances = new Map<Gpu, GPU>();

let isPaced = false;

/**
 * While a promise of the device is open, Dawn's binding for Node asks for news in every turn of the event loop, through
 * the global `setImmediate`: one core does nothing else, which halves a software device on two cores. Its calls, the
 * only ones with a nameless native function, are slowed down to one in a millisecond.
 */
function paceDawn(): void {
  if (isPaced) return;
  isPaced = true;
  const { setImmediate } = globalThis;
  const paced = (callback: (...args: unknown[]) => void, ...args: unknown[]) =>
    callback.name === "" && /\[native code\]/.test(Function.prototype.toString.call(callback))
      ? setTimeout(callback, 1, ...args)
      : setImmediate(callback, ...args);
  globalThis.setImmediate = Object.assign(paced, setImmediate) as unknown as typeof globalThis.setImmediate;
}
