/**
 * JSON from public interfaces, politely: a limit on time and size, few repetitions with growing waits that honour
 * `Retry-After` (RFC 9110, 10.2.3), no cookies, no referrer. Every failure is an Error that System 2 can read. Browsers hide
 * `Retry-After` from pages unless the site exposes it; then the growing waits must do.
 */
import type { z } from "zod";
import type { NetworkSwitch } from "./network";

export interface HttpSettings {
  /** The person's permission. */
  network: NetworkSwitch;
  /** Milliseconds of one request, its body included. Default 10,000. */
  timeoutMs?: number;
  /** Milliseconds of one answer, all requests and waits. Default 30,000. */
  totalMs?: number;
  /** Requests for one answer. Default 3. */
  attempts?: number;
  /** Milliseconds before the first repetition; doubled for each further one. Default 1,000. */
  backoffMs?: number;
  /** Bytes of one answer. Default 4 MiB. */
  maxBytes?: number;
  /** Further headers; browsers keep some, such as User-Agent, for themselves. */
  headers?: Readonly<Record<string, string>>;
  /** Default: the platform's. */
  fetch?: typeof fetch;
}

export const DEFAULT_TIMEOUT_MS = 10_000;
export const DEFAULT_TOTAL_MS = 30_000;
const DEFAULT_ATTEMPTS = 3;
const DEFAULT_BACKOFF_MS = 1_000;
const DEFAULT_MAX_BYTES = 4 * 2 ** 20;

/** Answers that a repetition may mend. */
const PASSING = new Set([408, 425, 429, 500, 502, 503, 504]);
/** Characters of a site's own words in a message for System 2. */
const LONGEST_REASON = 200;

/** How a site failed. `retry` says that the same request may work later, `afterMs` when. */
export class HttpFailure extends Error {
  override name = "HttpFailure";

  constructor(
    message: string,
    readonly retry = false,
    readonly afterMs?: number,
  ) {
    super(message);
  }
}

export interface JsonRequest<T> {
  url: URL;
  /** What messages call the site: "OpenAlex". */
  site: string;
  schema: z.ZodType<T>;
  /** Some sites report failures in answers that look like successes. */
  failureOf?: (answer: T) => HttpFailure | undefined;
}

/**
 * Gets a JSON answer.
 * @throws Error for System 2 to read; the signal's reason after an abort
 */
export async function getJson<T>(request: JsonRequest<T>, settings: HttpSettings, signal?: AbortSignal): Promise<T> {
  const { totalMs = DEFAULT_TOTAL_MS, attempts = DEFAULT_ATTEMPTS, backoffMs = DEFAULT_BACKOFF_MS } = settings;
  const deadline = performance.now() + totalMs;
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted();
    const off = settings.network.signal;
    try {
      return await getOnce(request, settings, joined(signal, off), deadline - performance.now());
    } catch (error) {
      signal?.throwIfAborted();
      off.throwIfAborted();
      if (!(error instanceof HttpFailure) || !error.retry || attempt >= attempts) throw error;
      const waitMs = error.afterMs ?? backoffMs * 2 ** (attempt - 1);
      if (performance.now() + waitMs >= deadline) {
        const seconds = Math.ceil(waitMs / 1000);
        throw new HttpFailure(`${error.message} It asks to wait ${seconds} s, which is too long; go on without it.`);
      }
      await pause(waitMs, joined(signal, off));
    }
  }
}

async function getOnce<T>(
  { url, site, schema, failureOf }: JsonRequest<T>,
  { timeoutMs = DEFAULT_TIMEOUT_MS, maxBytes = DEFAULT_MAX_BYTES, headers, fetch = globalThis.fetch }: HttpSettings,
  signal: AbortSignal,
  leftMs: number,
): Promise<T> {
  const limitMs = Math.min(timeoutMs, leftMs);
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), limitMs);
  const late = () =>
    new HttpFailure(`${site} did not answer within ${Number((limitMs / 1000).toPrecision(2))} s.`, true);
  try {
    const response = await fetch(url, {
      headers: { accept: "application/json", ...headers },
      credentials: "omit",
      referrerPolicy: "no-referrer",
      signal: joined(signal, timeout.signal),
    });
    if (!response.ok) throw await refusal(response, site, maxBytes);
    const text = await readText(response, site, maxBytes);
    const answer = parseAnswer(text, site, schema);
    const failure = failureOf?.(answer);
    if (failure) throw failure;
    return answer;
  } catch (error) {
    signal.throwIfAborted();
    if (timeout.signal.aborted) throw late();
    if (error instanceof HttpFailure) throw error;
    // Browsers tell nothing more of what went wrong, on purpose.
    throw new HttpFailure(`${site} could not be reached.`, true);
  } finally {
    clearTimeout(timer);
  }
}

async function refusal(response: Response, site: string, maxBytes: number): Promise<HttpFailure> {
  const { status, headers } = response;
  const own = await readText(response, site, maxBytes).then(ownWords, () => "");
  const said = own ? `: ${own}` : "";
  const afterMs = retryAfterMs(headers.get("retry-after"));
  if (status === 429) return new HttpFailure(`${site} says that there were too many requests${said}.`, true, afterMs);
  return new HttpFailure(`${site} refused with status ${status}${said}.`, PASSING.has(status), afterMs);
}

/** A JSON error's message, in the ways in which sites write them; nothing of an HTML page. */
function ownWords(text: string): string {
  try {
    const { message, error } = JSON.parse(text) as Record<string, unknown>;
    const words = [error, message].filter((part): part is string => typeof part === "string" && part !== "");
    return words.join(", ").replace(/\s+/g, " ").replace(/\.$/, "").slice(0, LONGEST_REASON);
  } catch {
    return "";
  }
}

/** Milliseconds of a `Retry-After`: seconds, or a date. Undefined for anything else; never negative. */
export function retryAfterMs(value: string | null, now = Date.now()): number | undefined {
  if (value === null) return undefined;
  if (/^\s*\d+\s*$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

async function readText(response: Response, site: string, maxBytes: number): Promise<string> {
  const reader = response.body?.getReader();
  if (!reader) return "";
  const decoder = new TextDecoder();
  let [text, bytes] = ["", 0];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.length;
    if (bytes > maxBytes) {
      await reader.cancel().catch(() => {});
      throw new HttpFailure(`${site} answered with more than ${maxBytes} bytes.`);
    }
    text += decoder.decode(value, { stream: true });
  }
}

function parseAnswer<T>(text: string, site: string, schema: z.ZodType<T>): T {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new HttpFailure(`${site} answered with something that is no JSON.`);
  }
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const path = issue?.path.join(".") || "the answer";
  throw new HttpFailure(`${site} answered in an unknown form (${path}: ${issue?.message}).`);
}

function joined(...signals: (AbortSignal | undefined)[]): AbortSignal {
  return AbortSignal.any(signals.filter((signal) => signal !== undefined));
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(done, ms);
    function done() {
      signal.removeEventListener("abort", stop);
      resolve();
    }
    function stop() {
      clearTimeout(timer);
      reject(signal.reason);
    }
    signal.addEventListener("abort", stop, { once: true });
  });
}
