/** How many threads onnxruntime-web's WebAssembly gets. */

/** More threads than this gain little on matrices as small as these. */
export const MAX_THREADS = 4;

/** In this page or worker: threads share memory, which browsers allow to pages that are cross-origin isolated. */
export function wasmThreads(): number {
  if (!globalThis.crossOriginIsolated) return 1;
  // One core stays with the page.
  return Math.max(1, Math.min(MAX_THREADS, navigator.hardwareConcurrency - 1));
}
