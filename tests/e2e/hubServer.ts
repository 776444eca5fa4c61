/**
 * A server that imitates the hub for browser tests: lists of files, redirects to another origin, ETags, ranges, models
 * behind a licence; and a folder of plain files. What it answers can be spoiled file by file, and what it was asked for
 * can be looked up.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export const COMMIT = "0123456789abcdef0123456789abcdef01234567";

export type Fault = "404" | "html" | "truncated" | "401" | "403" | "429" | "wrongSize" | "slow";

/** What the storage wants of every request, as a server does whose files are not for everybody. */
export interface Lock {
  query?: string;
  authorization?: string;
}

export interface FakeHub {
  /** Address of the hub, and of the storage that it sends to. */
  url: string;
  storageUrl: string;
  /** Files of "some/model", by name. */
  files: Record<string, Uint8Array>;
  /** How a file is answered from now on, instead of rightly. */
  faults: Map<string, Fault>;
  /** Bytes of each file that were sent since the last `reset`. */
  sent: Map<string, number>;
  /** Until `reset`. */
  lock?: Lock | undefined;
  /** Tokens that the hub, and the storage, were shown. */
  tokens: { hub: Set<string>; storage: Set<string> };
  reset(): void;
  close(): Promise<void>;
}

export async function startFakeHub(files: Record<string, Uint8Array>): Promise<FakeHub> {
  const faults = new Map<string, Fault>();
  const sent = new Map<string, number>();
  const tokens = { hub: new Set<string>(), storage: new Set<string>() };

  const [hub, storage] = await Promise.all([listen(onHub), listen(onStorage)]);

  function onHub(request: IncomingMessage, response: ServerResponse): void {
    if (preflight(request, response)) return;
    if (request.headers.authorization) tokens.hub.add(request.headers.authorization);
    const path = decodeURIComponent(new URL(request.url ?? "/", hub.url).pathname);
    if (path.startsWith("/api/models/some/model/revision/")) {
      const revision = path.slice("/api/models/some/model/revision/".length);
      if (revision !== "main" && revision !== COMMIT) {
        refuse(response, 404);
        return;
      }
      const siblings = Object.entries(files).map(([rfilename, { length }]) => ({
        rfilename,
        size: faults.get(rfilename) === "wrongSize" ? length + 8 : length,
      }));
      response.writeHead(200, { "Content-Type": "application/json" });
      response.end(JSON.stringify({ id: "some/model", sha: COMMIT, siblings }));
      return;
    }
    const file = path.split(`/some/model/resolve/${COMMIT}/`)[1];
    if (file === undefined) {
      refuse(response, path.startsWith("/api/") ? 401 : 404);
      return;
    }
    const fault = faults.get(file);
    const isOpen = request.headers.authorization === "Bearer hf_right";
    if (fault === "401" && !isOpen) {
      refuse(response, 401);
      return;
    }
    if (fault === "403" || fault === "429") {
      refuse(response, Number(fault));
      return;
    }
    if (!files[file]) {
      refuse(response, 404);
      return;
    }
    response.writeHead(302, { Location: `${storage.url}/${encodeURIComponent(file)}` }).end();
  }

  function onStorage(request: IncomingMessage, response: ServerResponse): void {
    if (preflight(request, response)) return;
    if (request.headers.authorization) tokens.storage.add(request.headers.authorization);
    const { pathname, search } = new URL(request.url ?? "/", storage.url);
    const { query, authorization } = fake.lock ?? {};
    if (
      (query !== undefined && search !== `?${query}`) ||
      request.headers.authorization !== (authorization ?? request.headers.authorization)
    ) {
      refuse(response, 403);
      return;
    }
    const file = decodeURIComponent(pathname.slice(1));
    const content = files[file];
    const fault = faults.get(file);
    if (!content || fault === "404") {
      refuse(response, 404);
      return;
    }
    if (fault === "html") {
      response.writeHead(200, { "Content-Type": "text/html" }).end("<!doctype html><title>Not here</title>");
      return;
    }
    const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "");
    const start = range ? Number(range[1]) : 0;
    const end = range ? Math.min(Number(range[2]) + 1, content.length) : content.length;
    const body = content.subarray(start, end);
    response.writeHead(range ? 206 : 200, {
      "Content-Type": "application/octet-stream",
      "Content-Length": body.length,
      "Accept-Ranges": "bytes",
      ETag: `"${file}-1"`,
      ...(range && { "Content-Range": `bytes ${start}-${end - 1}/${content.length}` }),
    });
    const count = (bytes: number) => sent.set(file, (sent.get(file) ?? 0) + bytes);
    // Ranges of headers arrive whole, so that a spoiled body is met while copying.
    if (!range && fault === "truncated") {
      response.write(body.subarray(0, body.length / 2), () => response.destroy());
      return;
    }
    if (!range && fault === "slow") {
      count(body.length / 2);
      response.write(body.subarray(0, body.length / 2));
      return;
    }
    count(body.length);
    response.end(body);
  }

  const fake: FakeHub = {
    url: hub.url,
    storageUrl: storage.url,
    files,
    faults,
    sent,
    tokens,
    reset() {
      fake.lock = undefined;
      faults.clear();
      sent.clear();
      tokens.hub.clear();
      tokens.storage.clear();
    },
    async close() {
      for (const { server } of [hub, storage]) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
    },
  };
  return fake;
}

async function listen(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ server: Server; url: string }> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  return { server, url: `http://localhost:${(server.address() as AddressInfo).port}` };
}

/** Other sites may read, and may ask for ranges and show tokens, as at the real hub. */
function preflight(request: IncomingMessage, response: ServerResponse): boolean {
  response.setHeader("Access-Control-Allow-Origin", "*");
  response.setHeader("Access-Control-Allow-Headers", "authorization, range");
  response.setHeader("Access-Control-Expose-Headers", "ETag, Content-Range, Accept-Ranges");
  if (request.method !== "OPTIONS") return false;
  response.writeHead(204).end();
  return true;
}

function refuse(response: ServerResponse, status: number): void {
  response.writeHead(status, { "Content-Type": "application/json" }).end('{"error":"no"}');
}
