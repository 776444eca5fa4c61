/**
 * A checkpoint under a URL prefix, read with ranged requests. Servers are not trusted: single-page hosts answer missing
 * files with a page, some ignore Range, and proxies may cut answers short. Source for the rules: RFC 9110, section 14.
 */
import type { CheckpointSource } from "./checkpoint";
import { CheckpointError, checkRange } from "./errors";

/** A file that the server only serves whole, kept because its tensors are read one after the other. */
interface WholeFile {
  name: string;
  bytes: Promise<Uint8Array>;
}

/**
 * Files under `baseUrl` (absolute, or relative to the page or worker that runs this), such as
 * `https://host/org/model/resolve/main/`. A file counts as missing when the server answers 404 or 410, or with an HTML
 * page. Where the server ignores Range, the file is fetched once as a whole and kept until another one is read.
 * @param fetchFile For tests, or to add credentials.
 */
export function urlSource(
  baseUrl: string,
  options: { label?: string; fetchFile?: typeof fetch } = {},
): CheckpointSource {
  const base = baseUrl.endsWith("/") ? baseUrl : `${baseUrl}/`;
  const label = options.label ?? baseUrl;
  const fetchFile = options.fetchFile ?? fetch;
  const sizes = new Map<string, number>();
  let whole: WholeFile | undefined;

  /** The answer, or undefined for a missing file. @throws CheckpointError for a failed connection or other statuses. */
  async function request(name: string, init: RequestInit, signal?: AbortSignal): Promise<Response | undefined> {
    signal?.throwIfAborted();
    let response: Response;
    try {
      response = await fetchFile(base + encodeURIComponent(name), { ...init, signal });
    } catch (error) {
      throw failure(name, error, signal);
    }
    const isPage = /^\s*text\/html\b/i.test(response.headers.get("Content-Type") ?? "");
    if (response.status === 404 || response.status === 410 || (response.ok && isPage && !name.endsWith(".html"))) {
      await response.body?.cancel();
      return undefined;
    }
    if (!response.ok && response.status !== 416) {
      await response.body?.cancel();
      throw new CheckpointError(`${label}: ${name}: the server answered ${response.status} ${response.statusText}`);
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

  /** Keeps the body of a server that ignored Range, so that the next read needs no request. */
  function keepWhole(name: string, bytes: Promise<Uint8Array>): Promise<Uint8Array> {
    const kept: WholeFile = { name, bytes };
    whole = kept;
    bytes.then(
      ({ length }) => sizes.set(name, length),
      () => {
        if (whole === kept) {
          whole = undefined;
        }
      },
    );
    return bytes;
  }

  async function size(name: string, signal?: AbortSignal): Promise<number | undefined> {
    const known = sizes.get(name);
    if (known !== undefined) {
      return known;
    }
    // One byte is asked for instead of HEAD: Content-Range tells the true size even where HEAD is compressed or refused.
    const response = await request(name, { headers: { Range: "bytes=0-0" } }, signal);
    if (!response) {
      return undefined;
    }
    if (response.status === 200) {
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
    const length = Number(response?.headers.get("Content-Length") ?? Number.NaN);
    if (response?.headers.has("Content-Encoding") || !Number.isSafeInteger(length)) {
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
    return looksLikePage(bytes) ? undefined : bytes;
  }

  async function range(name: string, start: number, end: number, signal?: AbortSignal): Promise<Uint8Array> {
    if (whole?.name === name) {
      const bytes = await keptOf(whole, signal);
      return bytes === undefined ? await range(name, start, end, signal) : sliceOf(name, bytes, start, end);
    }
    if (end === start) {
      return new Uint8Array(0);
    }
    const response = await request(name, { headers: { Range: `bytes=${start}-${end - 1}` } }, signal);
    if (!response) {
      throw new CheckpointError(`${label}: ${name} is missing`);
    }
    if (response.status === 206) {
      return await rangeBody(name, response, start, end, signal);
    }
    if (response.status === 416) {
      await response.body?.cancel();
      throw new CheckpointError(`${label}: ${name} is too short: it has no bytes ${start} to ${end}`);
    }
    return sliceOf(name, await keepWhole(name, body(name, response, signal)), start, end);
  }

  function sliceOf(name: string, bytes: Uint8Array, start: number, end: number): Uint8Array {
    checkRange(label, name, start, end, bytes.length);
    return bytes.slice(start, end);
  }

  /** A body that another call is fetching; undefined when that call was stopped and this one was not. */
  async function keptOf(kept: WholeFile, signal?: AbortSignal): Promise<Uint8Array | undefined> {
    try {
      return await kept.bytes;
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
    const total = sizes.get(name);
    if (!isHidden && (range?.start !== start || range.end !== end)) {
      await response.body?.cancel();
      const sent = response.headers.get("Content-Range") ?? "no Content-Range";
      throw new CheckpointError(`${label}: ${name}: asked for bytes ${start}-${end - 1}, the server sent ${sent}`);
    }
    if (range?.total !== undefined && total !== undefined && range.total !== total) {
      await response.body?.cancel();
      throw new CheckpointError(`${label}: ${name} changed while it was read (${total}, now ${range.total} bytes)`);
    }
    const bytes = await body(name, response, signal);
    if (bytes.length !== end - start) {
      throw new CheckpointError(`${label}: ${name}: got ${bytes.length} of ${end - start} bytes from byte ${start}`);
    }
    return bytes;
  }

  return { label, file, range, size };
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

/** Some hosts send their fallback page without a type. */
function looksLikePage(bytes: Uint8Array): boolean {
  const beginning = new TextDecoder().decode(bytes.subarray(0, 64)).trimStart().toLowerCase();
  return beginning.startsWith("<!doctype html") || beginning.startsWith("<html");
}
