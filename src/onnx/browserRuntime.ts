/**
 * onnxruntime-web in a page or a worker. Its WebAssembly is a file of this site (no other host is asked), and nothing is
 * fetched before the first call.
 */
import webgpuWasm from "onnxruntime-web/ort-wasm-simd-threaded.asyncify.wasm?url";
import plainWasm from "onnxruntime-web/ort-wasm-simd-threaded.wasm?url";
import { type OnnxProvider, OnnxRuntime } from "./runtime";
import { wasmThreads } from "./threads";

const opened = new Map<OnnxProvider, Promise<OnnxRuntime>>();

/** Loads about 14 MB for "wasm", 27 MB for "webgpu", once. Threads need a page that is cross-origin isolated. */
export function browserOnnxRuntime(provider: OnnxProvider): Promise<OnnxRuntime> {
  const known = opened.get(provider);
  if (known) return known;
  const opening = open(provider);
  opened.set(provider, opening);
  // A later call may have a network again.
  opening.catch(() => opened.delete(provider));
  return opening;
}

async function open(provider: OnnxProvider): Promise<OnnxRuntime> {
  const library = provider === "wasm" ? await import("onnxruntime-web/wasm") : await import("onnxruntime-web/webgpu");
  const { wasm } = library.env;
  wasm.wasmPaths = { wasm: provider === "wasm" ? plainWasm : webgpuWasm };
  wasm.numThreads = wasmThreads();
  return new OnnxRuntime(provider, library);
}
