/**
 * onnxruntime-web in a page or a worker. Its WebAssembly is a file of this site (no other host is asked), and nothing is
 * fetched before the first call.
 */
import webgpuWasm from "onnxruntime-web/ort-wasm-simd-threaded.asyncify.wasm?url";
import plainWasm from "onnxruntime-web/ort-wasm-simd-threaded.wasm?url";
import { CheckpointError } from "../checkpoint/errors";
import { type OnnxProvider, OnnxRuntime } from "./runtime";
import { wasmThreads } from "./threads";

const opened = new Map<OnnxProvider, Promise<OnnxRuntime>>();

/**
 * Loads about 14 MB for "wasm", 27 MB for "webgpu", once. Threads need a page that is cross-origin isolated.
 * @param fetchFile takes the place of fetch, to count bytes for instance
 * @throws Error when a part does not arrive; a later call tries again
 */
export function browserOnnxRuntime(provider: OnnxProvider, fetchFile: typeof fetch = fetch): Promise<OnnxRuntime> {
  const known = opened.get(provider);
  if (known) return known;
  const opening = open(provider, fetchFile);
  opened.set(provider, opening);
  // A later call may have a network again.
  opening.catch(() => opened.delete(provider));
  return opening;
}

async function open(provider: OnnxProvider, fetchFile: typeof fetch): Promise<OnnxRuntime> {
  const library = provider === "wasm" ? await import("onnxruntime-web/wasm") : await import("onnxruntime-web/webgpu");
  const { wasm } = library.env;
  const url = provider === "wasm" ? plainWasm : webgpuWasm;
  wasm.wasmPaths = { wasm: url };
  wasm.wasmBinary = await fetchWasm(url, fetchFile);
  wasm.numThreads = wasmThreads();
  return new OnnxRuntime(provider, library);
}

async function fetchWasm(url: string, fetchFile: typeof fetch): Promise<ArrayBuffer> {
  const response = await fetchFile(url);
  if (!response.ok)
    throw new CheckpointError(`onnxruntime-web: its WebAssembly: the server answered ${response.status}`);
  return response.arrayBuffer();
}
