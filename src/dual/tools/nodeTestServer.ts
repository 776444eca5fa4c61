/** A server on this machine that answers as a test says: it stands for the sites that the network tools talk to. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { NetworkSwitch } from "./network";

export interface Answer {
  status?: number;
  headers?: Record<string, string>;
  /** An object is sent as JSON. */
  body?: unknown;
  /** Milliseconds before the answer; "never" leaves the request open, "cut" closes it in the middle of the body. */
  delay?: number | "never" | "cut";
}

export interface TestServer {
  url: string;
  /** What was asked, in order. */
  requests: { path: string; query: URLSearchParams; headers: IncomingMessage["headers"]; at: number }[];
  /** Decides the answers from now on; `count` is the number of the request since then, from 0. */
  answer: (with_: (request: { path: string; query: URLSearchParams; count: number }) => Answer) => void;
  close(): Promise<void>;
}

export async function testServer(): Promise<TestServer> {
  const requests: TestServer["requests"] = [];
  let decide: Parameters<TestServer["answer"]>[0] = () => ({ status: 404 });
  let count = 0;
  const server = createServer((request, response) => {
    const { pathname: path, searchParams: query } = new URL(request.url ?? "/", "http://localhost");
    requests.push({ path, query, headers: request.headers, at: performance.now() });
    send(response, decide({ path, query, count: count++ }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answer(with_) {
      decide = with_;
      count = 0;
      requests.length = 0;
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function send(response: ServerResponse, { status = 200, headers, body = "", delay = 0 }: Answer): void {
  if (delay === "never") return;
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const type = typeof body === "string" ? "text/html" : "application/json; charset=utf-8";
  const all = { "content-type": type, ...headers };
  if (delay === "cut") {
    response.writeHead(status, { ...all, "content-length": String(text.length + 10) });
    response.write(text, () => response.destroy());
    return;
  }
  setTimeout(() => response.writeHead(status, all).end(text), delay);
}

/** Settings that allow the network and do not make tests wait. */
export function hasty() {
  return { network: new NetworkSwitch(true), backoffMs: 5, timeoutMs: 2_000, totalMs: 5_000 };
}
