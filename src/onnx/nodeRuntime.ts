/** onnxruntime-web in Node: its WebAssembly from the installed package; its WebGPU kernels on Dawn (npm package `webgpu`). */
import { setFlagsFromString } from "node:v8";
import { GpuUnavailableError } from "../gpu/errors";
import { openDawn } from "../gpu/nodeDevice";
import { type OnnxProvider, OnnxRuntime } from "./runtime";

const opened = new Map<OnnxProvider, Promise<OnnxRuntime>>();

/**
 * Loads onnxruntime-web, once in a process: what the first call says about threads holds for all.
 * @throws GpuUnavailableError when there is no device for "webgpu"
 */
export function nodeOnnxRuntime(provider: OnnxProvider, { threads = 1 } = {}): Promise<OnnxRuntime> {
  const known = opened.get(provider);
  if (known) return known;
  const opening = provider === "wasm" ? openWasm(threads) : openWebGpu();
  opened.set(provider, opening);
  opening.catch(() => opened.delete(provider));
  return opening;
}

async function openWasm(threads: number): Promise<OnnxRuntime> {
  const library = await import("onnxruntime-web");
  library.env.wasm.numThreads = threads;
  return new OnnxRuntime("wasm", library);
}

async function openWebGpu(): Promise<OnnxRuntime> {
  const gpu = await openDawn();
  // onnxruntime-web would say less.
  if (!(await gpu.requestAdapter())) throw new GpuUnavailableError("noAdapter", "there is no WebGPU adapter");
  offerWebGpu(gpu);
  // Of its 27 MB little runs often, as the kernels are on the GPU: to optimize all of it takes two cores a minute and more,
  // and a process that is done waits for that.
  setFlagsFromString("--liftoff-only");
  const library = await import("onnxruntime-web/webgpu");
  library.env.wasm.numThreads = 1;
  return new OnnxRuntime("webgpu", library);
}

/** What browsers have: `navigator.gpu`, and a queue that takes the shared memory of WebAssembly. */
function offerWebGpu(gpu: GPU): void {
  const { navigator = {} } = globalThis as { navigator?: object };
  const value = Object.assign(Object.create(navigator), { gpu });
  Object.defineProperty(globalThis, "navigator", { value, configurable: true });
  const queue = GPUQueue.prototype;
  const { writeBuffer } = queue;
  queue.writeBuffer = function (
    this: GPUQueue,
    buffer: GPUBuffer,
    offset: number,
    data: GPUAllowSharedBufferSource,
    ...range: number[]
  ) {
    const isShared = ArrayBuffer.isView(data) && data.buffer instanceof SharedArrayBuffer;
    return writeBuffer.call(this, buffer, offset, isShared ? unshared(data) : data, ...range);
  };
}

/** Dawn's binding refuses views of shared memory. */
function unshared({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(new Uint8Array(buffer, byteOffset, byteLength));
}
