/**
 * The built page as a static host serves it: from a sub-folder, and, where a test wants it, with the headers that make a
 * page cross-origin isolated (COOP and COEP: https://html.spec.whatwg.org/multipage/browsers.html).
 */
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";

const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".css": "text/css",
  ".json": "application/json",
  ".wasm": "application/wasm",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

export interface Site {
  /** Of the page, with its folder; ends in a slash. */
  url: string;
  /** Paths that were asked for and are not there. */
  missing: string[];
  close(): Promise<void>;
}

export interface SiteOptions {
  /** As "/some/path/". */
  folder: string;
  /** With both headers. */
  isolated: boolean;
  /** JavaScript that goes before the engine worker's own. */
  workerPrelude?: string;
}

export async function startSite({ folder, isolated, workerPrelude = "" }: SiteOptions): Promise<Site> {
  const missing: string[] = [];
  const refuse = (response: ServerResponse, path: string) => {
    missing.push(path);
    response.writeHead(404, { "Content-Type": "text/plain" }).end("not here");
  };
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? "/", "http://localhost").pathname);
    if (!path.startsWith(folder)) return refuse(response, path);
    const own = normalize(path.slice(folder.length) || "index.html");
    const file = join("dist", own);
    stat(file).then(
      (found) => {
        if (!found.isFile()) return refuse(response, path);
        const prelude = /engineWorker-[^/]*\.js$/.test(file) ? `${workerPrelude}\n` : "";
        response.writeHead(200, {
          "Content-Type": TYPES[extname(file)] ?? "application/octet-stream",
          "Content-Length": found.size + Buffer.byteLength(prelude),
          ...(isolated && {
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Embedder-Policy": "require-corp",
          }),
        });
        response.write(prelude);
        createReadStream(file).pipe(response);
      },
      () => refuse(response, path),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}${folder}`,
    missing,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
