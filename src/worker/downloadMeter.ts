/** Counts the bytes of weights, and of an engine's WebAssembly, as they arrive: a visitor sees how far loading has come. */

const WEIGHTS = /\.(safetensors|onnx|onnx_data|wasm)$/;

/**
 * A fetch that reports, over all weight files that were opened so far, the bytes that have arrived and the bytes that
 * there are. Other files pass uncounted. Servers that hide the size of a file are not counted either.
 */
export function meteredFetch(
  report: (loadedBytes: number, totalBytes: number) => void,
  fetchFile: typeof fetch = fetch,
): typeof fetch {
  const files = new Map<string, { loaded: number; total: number }>();

  const add = (file: { loaded: number; total: number }, bytes: number) => {
    // Headers and sizes are asked for separately and may count twice.
    file.loaded = Math.min(file.total, file.loaded + bytes);
    let [loaded, total] = [0, 0];
    for (const each of files.values()) {
      loaded += each.loaded;
      total += each.total;
    }
    report(loaded, total);
  };

  return async (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    const response = await fetchFile(input, init);
    const total = sizeOf(response);
    if (!WEIGHTS.test(url) || !response.ok || !response.body || total === undefined) return response;
    const file = files.get(url) ?? { loaded: 0, total };
    files.set(url, file);
    add(file, 0);
    const counter = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        add(file, chunk.length);
        controller.enqueue(chunk);
      },
    });
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(counter), { status, statusText, headers });
  };
}

/** Bytes of the whole file, also where the response holds a part of it. */
function sizeOf({ headers, status }: Response): number | undefined {
  const range = /\/(\d+)$/.exec(headers.get("Content-Range") ?? "")?.[1];
  // A compressed body has another length than the file.
  const length = headers.has("Content-Encoding") ? null : headers.get("Content-Length");
  const size = Number(range ?? (status === 200 ? length : null) ?? Number.NaN);
  return Number.isSafeInteger(size) && size > 0 ? size : undefined;
}
