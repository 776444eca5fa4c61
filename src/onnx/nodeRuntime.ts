/** onnxruntime-web in Node: its WebAssembly from the installed package; its WebGPU kernels on Dawn (npm package `webgpu`). */
import { openNodeGpu } from "../gpu/nodeDevice";
import { type OnnxProvider, OnnxRuntime } from "./runtime";

/**
 * Loads onnxruntime-web; the first call of a process decides about threads.
 * @throws GpuUnavailableError when there is no device for "webgpu"
 */
export async function nodeOnnxRuntime(provider: OnnxProvider, { threads = 1 } = {}): Promise<OnnxRuntime> {
  if (provider === "wasm") {
    const library = await import("onnxruntime-web");
    library.env.wasm.numThreads = threads;
    return new OnnxRuntime(provider, library);
  }
  await offerWebGpu();
  const library = await import("onnxruntime-web/webgpu");
  library.env.wasm.numThreads = 1;
  return new OnnxRuntime(provider, library);
}

/** What browsers have: `navigator.gpu`, and a queue that takes the shared memory of WebAssembly. */
async function offerWebGpu(): Promise<void> {
  // Tells what is wrong where there is no adapter; onnxruntime-web would not.
  const probe = await openNodeGpu();
  probe.close();
  if (isOffered) return;
  isOffered = true;
  const { create } = await import("webgpu");
  const gpu = create([]);
  const { navigator = {} } = globalThis as { navigator?: object };
  Object.defineProperty(globalThis, "navigator", {
    value: Object.assign(Object.create(navigator), { gpu }),
    configurable: true,
  });
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

let isOffered = false;

/** Dawn's binding refuses views of shared memory. */
function unshared({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(new Uint8Array(buffer, byteOffset, byteLength));
}
