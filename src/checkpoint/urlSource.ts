/**
 * A checkpoint under a URL prefix, read with ranged requests. Servers are not trusted: single-page hosts answer missing
 * files with a page, some ignore Range, and proxies may cut answers short. Source for the rules: RFC 9110, section 14.
 */
import type { CheckpointSource } from "./checkpoint";
import { CheckpointError, checkRange, DeliveryError, missingFile } from "./errors";

/** Whole files beyond this many bytes are dropped, the oldest first; the newest always stays. */
const KEPT_BYTES = 2 ** 26;

export interface UrlSourceOptions {
  /** What errors call it. Default: the URL. */
  label?: string;
  /** Files up to this size are fetched whole at the first read: one request instead of one per tensor. Default 32 MiB. */
  wholeFileBytes?: number;
  /** What the folder holds, where that is known: nothing else is asked for, as each 404 is an error on the console. */
  files?: readonly string[];
  /** Takes the place of fetch, to add credentials or a cache. */
  fetchFile?: typeof fetch;
}

/**
 * Files under `baseUrl` (absolute, or relative to the page or worker that runs this), such as
 * `https://host/org/model/resolve/main/`. A file counts as missing when the server answers 404 or 410, or with an HTML
 * page. Where the server ignores Range, files are fetched as a whole.
 */
export function urlSource(
  baseUrl: string,
  { label = baseUrl, wholeFileBytes = 2 ** 25, files, fetchFile = fetch }: UrlSourceOptions = {},
): CheckpointSource {
  const base = baseUrl.endsWith("/") ? baseUrl : `${baseUrl}/`;
  const sizes = new Map<string, number>();
  /** Files that were fetched whole, because they are small or the server ignores Range; the oldest first. */
  const kept = new Map<string, Promise<Uint8Array>>();
  const versions = new Map<string, string>();
  /** Why files are taken for missing. */
  const absences = new Map<string, string>();
  const absence = (name: string) => absences.get(name);
  const missing = (name: string) => new CheckpointError(`${label}: ${missingFile({ absence }, name).message}`);

  /** The answer, or undefined for a missing file. @throws CheckpointError for a failed connection or other statuses. */
  async function request(name: string, init: RequestInit, signal?: AbortSignal): Promise<Response | undefined> {
    signal?.throwIfAborted();
    if (files && !files.includes(name)) {
      return undefined;
    }
    let response: Response;
    try {
      response = await fetchFile(base + encodeURIComponent(name), { ...init, signal });
    } catch (error) {
      throw failure(name, error, signal);
    }
    const isPage = /^\s*text\/html\b/i.test(response.headers.get("Content-Type") ?? "");
    if (response.status === 404 || response.status === 410 || (response.ok && isPage && !name.endsWith(".html"))) {
      await response.body?.cancel();
      absences.set(name, response.ok ? SENT_A_PAGE : `the server answered ${response.status}`);
      return undefined;
    }
    if (!response.ok && response.status !== 416) {
      await response.body?.cancel();
      const { status, statusText } = response;
      throw new DeliveryError(status, `${label}: ${name}: the server answered ${status} ${statusText}`);
    }
    const version = contentTag(response);
    const known = versions.get(name);
    if (response.ok && version !== undefined) {
      if (known !== undefined && known !== version) {
        await response.body?.cancel();
        throw new CheckpointError(`${label}: ${name} changed on the server while it was read`);
      }
      versions.set(name, version);
    }
    return response;
  }

  async function body(name: string, response: Response, signal?: AbortSignal): Promise<Uint8Array> {
    try {
      return new Uint8Array(await response.arrayBuffer());
    } catch (error) {
      throw failure(name, error, signal);
    }
  }

  function failure(name: string, error: unknown, signal?: AbortSignal): unknown {
    if (signal?.aborted) {
      return signal.reason;
    }
    return new CheckpointError(`${label}: ${name}: ${(error as Error).message}`, { cause: error });
  }

  /** Keeps a whole file, so that its next tensors need no request. */
  function keepWhole(name: string, bytes: Promise<Uint8Array>): Promise<Uint8Array> {
    kept.delete(name);
    kept.set(name, bytes);
    bytes.then(
      ({ length }) => {
        sizes.set(name, length);
        dropOldest();
      },
      () => {
        if (kept.get(name) === bytes) {
          kept.delete(name);
        }
      },
    );
    return bytes;
  }

  function dropOldest(): void {
    const sizeOf = (name: string) => sizes.get(name) ?? 0;
    let total = [...kept.keys()].reduce((sum, name) => sum + sizeOf(name), 0);
    for (const name of [...kept.keys()].slice(0, -1)) {
      if (total > KEPT_BYTES) {
        kept.delete(name);
        total -= sizeOf(name);
      }
    }
  }

  async function size(name: string, signal?: AbortSignal): Promise<number | undefined> {
    const known = sizes.get(name);
    if (known !== undefined) {
      return known;
    }
    // One byte is asked for instead of HEAD: Content-Range tells the true size even where HEAD is compressed or refused.
    const response = await request(name, partOf(0, 1), signal);
    if (!response) {
      return undefined;
    }
    if (response.status === 200) {
      const length = contentLength(response);
      if (length !== undefined && length > wholeFileBytes) {
        await response.body?.cancel();
        sizes.set(name, length);
        return length;
      }
      return (await keepWhole(name, body(name, response, signal))).length;
    }
    const range = contentRange(response);
    await response.body?.cancel();
    if (range?.total === undefined) {
      return await sizeFromHead(name, signal);
    }
    sizes.set(name, range.total);
    return range.total;
  }

  /** Another site may hide Content-Range from us; Content-Length is always shown, if not of a compressed body. */
  async function sizeFromHead(name: string, signal?: AbortSignal): Promise<number> {
    const response = await request(name, { method: "HEAD" }, signal);
    const length = response && contentLength(response);
    if (length === undefined) {
      throw new CheckpointError(`${label}: ${name}: the server does not tell the size of the file`);
    }
    sizes.set(name, length);
    return length;
  }

  async function file(name: string, signal?: AbortSignal): Promise<Uint8Array | undefined> {
    const response = await request(name, {}, signal);
    if (!response) {
      return undefined;
    }
    const bytes = await body(name, response, signal);
    if (!looksLikePage(bytes)) {
      return bytes;
    }
    absences.set(name, SENT_A_PAGE);
    return undefined;
  }

  /** Fails where the body is shorter or longer than the file is known to be, or begins as a page does. */
  async function stream(name: string, signal?: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const whole = kept.get(name);
    const bytes = whole && (await othersBody(whole, signal));
    if (bytes) {
      return new Blob([bytes as Uint8Array<ArrayBuffer>]).stream();
    }
    const response = await request(name, {}, signal);
    if (!response?.body) {
      throw missing(name);
    }
    const wanted = sizes.get(name) ?? contentLength(response);
    let arrived = 0;
    const reader = response.body.getReader();
    return new ReadableStream({
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) {
            if (arrived === 0 && looksLikePage(value)) {
              throw new CheckpointError(`${label}: ${name}: ${SENT_A_PAGE}`);
            }
            arrived += value.length;
            controller.enqueue(value);
          } else if (wanted !== undefined && arrived !== wanted) {
            throw new CheckpointError(`${label}: ${name} was cut short: ${arrived} of ${wanted} bytes arrived`);
          } else {
            controller.close();
          }
        } catch (error) {
          await reader.cancel().catch(() => {});
          throw error instanceof CheckpointError ? error : failure(name, error, signal);
        }
      },
      cancel: (reason) => reader.cancel(reason),
    });
  }

  async function range(name: string, start: number, end: number, signal?: AbortSignal): Promise<Uint8Array> {
    const whole = kept.get(name);
    if (whole) {
      const bytes = await othersBody(whole, signal);
      return bytes === undefined ? await range(name, start, end, signal) : sliceOf(name, bytes, start, end);
    }
    if (end === start) {
      return new Uint8Array(0);
    }
    const isSmall = (sizes.get(name) ?? Number.POSITIVE_INFINITY) <= wholeFileBytes;
    const response = await request(name, isSmall ? {} : partOf(start, end), signal);
    if (!response) {
      throw missing(name);
    }
    if (response.status === 206) {
      return await rangeBody(name, response, start, end, signal);
    }
    if (response.status === 416) {
      await response.body?.cancel();
      throw new CheckpointError(`${label}: ${name} is too short: it has no bytes ${start} to ${end}`);
    }
    const length = contentLength(response);
    if (length !== undefined && length > wholeFileBytes && end <= wholeFileBytes && response.body) {
      return (await beginning(name, response.body, end, signal)).slice(start);
    }
    return sliceOf(name, await keepWhole(name, wholeBody(name, response, signal)), start, end);
  }

  /** The first bytes of a large file whose server knows no ranges; the rest is not waited for. */
  async function beginning(name: string, stream: ReadableStream<Uint8Array>, bytes: number, signal?: AbortSignal) {
    const result = new Uint8Array(bytes);
    const reader = stream.getReader();
    let filled = 0;
    try {
      while (filled < bytes) {
        const { done, value } = await reader.read();
        if (done) {
          throw new CheckpointError(`${label}: ${name} was cut short at byte ${filled}`);
        }
        const part = value.subarray(0, bytes - filled);
        result.set(part, filled);
        filled += part.length;
      }
      return result;
    } catch (error) {
      throw error instanceof CheckpointError ? error : failure(name, error, signal);
    } finally {
      await reader.cancel().catch(() => {});
    }
  }

  async function wholeBody(name: string, response: Response, signal?: AbortSignal): Promise<Uint8Array> {
    const bytes = await body(name, response, signal);
    checkTotal(name, bytes.length);
    return bytes;
  }

  /** @throws CheckpointError when a file has another size than the one it had before. */
  function checkTotal(name: string, total: number | undefined): void {
    const known = sizes.get(name);
    if (total !== undefined && known !== undefined && total !== known) {
      throw new CheckpointError(`${label}: ${name} changed while it was read (${known}, now ${total} bytes)`);
    }
  }

  function sliceOf(name: string, bytes: Uint8Array, start: number, end: number): Uint8Array {
    checkRange(label, name, start, end, bytes.length);
    return bytes.slice(start, end);
  }

  /** A body that another call is fetching; undefined when that call was stopped and this one was not. */
  async function othersBody(bytes: Promise<Uint8Array>, signal?: AbortSignal): Promise<Uint8Array | undefined> {
    try {
      return await untilAborted(bytes, signal);
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof CheckpointError) {
        throw error;
      }
      return undefined;
    }
  }

  async function rangeBody(
    name: string,
    response: Response,
    start: number,
    end: number,
    signal?: AbortSignal,
  ): Promise<Uint8Array> {
    const range = contentRange(response);
    const isHidden = range === undefined && response.type === "cors";
    if (!isHidden && (range?.start !== start || range.end !== end)) {
      await response.body?.cancel();
      const sent = response.headers.get("Content-Range") ?? "no Content-Range";
      throw new CheckpointError(`${label}: ${name}: asked for bytes ${start}-${end - 1}, the server sent ${sent}`);
    }
    checkTotal(name, range?.total);
    const bytes = await body(name, response, signal);
    if (bytes.length !== end - start) {
      throw new CheckpointError(`${label}: ${name}: got ${bytes.length} of ${end - start} bytes from byte ${start}`);
    }
    return bytes;
  }

  return { label, file, range, size, stream, version: (name) => versions.get(name), absence };
}

const SENT_A_PAGE = "the server sent a web page instead of the file";

/**
 * What the ETag says of the content. Servers that compress on the fly make it weak, or append the encoding's name, for
 * whole files and not for ranges (nginx, Apache: https://httpd.apache.org/docs/2.4/mod/mod_deflate.html).
 */
function contentTag({ headers }: Response): string | undefined {
  const tag = headers.get("ETag");
  return tag?.replace(/^W\//, "").replace(/[-;]{1,2}(?:gzip|br|zstd|deflate)"$/, '"');
}

/** Bytes of the whole file; of a compressed body the length is another. */
function contentLength(response: Response): number | undefined {
  const length = Number(response.headers.get("Content-Length") ?? Number.NaN);
  return response.headers.has("Content-Encoding") || !Number.isSafeInteger(length) ? undefined : length;
}

/**
 * Asks for bytes [start, end), past the browser's cache: where a server compresses whole files, Chromium's cache cuts
 * parts out of the compressed bytes.
 */
function partOf(start: number, end: number): RequestInit {
  return { headers: { Range: `bytes=${start}-${end - 1}` }, cache: "no-store" };
}

/** `bytes 0-9/100` as [start, end) and total; the star form of a 416 has a total alone. */
function contentRange(response: Response): { start?: number; end?: number; total?: number } | undefined {
  const match = /^bytes (?:(\d+)-(\d+)|\*)\/(\d+|\*)$/.exec(response.headers.get("Content-Range") ?? "");
  if (!match) {
    return undefined;
  }
  return {
    start: match[1] === undefined ? undefined : Number(match[1]),
    end: match[2] === undefined ? undefined : Number(match[2]) + 1,
    total: match[3] === "*" ? undefined : Number(match[3]),
  };
}

/** The promise's outcome, or the signal's reason as soon as it aborts: work that others wait for goes on. */
function untilAborted<T>(promise: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (!signal) {
    return promise;
  }
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) {
      stop();
    }
    signal.addEventListener("abort", stop);
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

/** Some hosts send their fallback page without a type. */
function looksLikePage(bytes: Uint8Array): boolean {
  const beginning = new TextDecoder().decode(bytes.subarray(0, 64)).trimStart().toLowerCase();
  return beginning.startsWith("<!doctype html") || beginning.startsWith("<html");
}
