/** A real HTTP server that behaves in every way that hosts do, the bad ones included. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { CheckpointSource } from "./checkpoint";
import { parseConfig } from "./config";
import { openCheckpoint } from "./load";
import { randomCheckpointFiles } from "./randomCheckpoint";
import { memorySource, urlSource } from "./sources";

const bytes = Uint8Array.from({ length: 1000 }, (_, i) => i % 251);
const page = "<!DOCTYPE html><html><body>The app</body></html>";

type Behaviour = (request: IncomingMessage, response: ServerResponse) => void;
let behave: Behaviour;
let requests: string[] = [];
let server: Server;
let base: string;

beforeAll(async () => {
  server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url} ${request.headers.range ?? "whole"}`);
    behave(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/models/x`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  requests = [];
});

const rangeOf = (request: IncomingMessage) => {
  const match = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "");
  return match ? { start: Number(match[1]), end: Number(match[2]) + 1 } : undefined;
};

/** What a good static host does. */
const good =
  (content: Uint8Array): Behaviour =>
  (request, response) => {
    const range = rangeOf(request);
    if (!range) {
      response.writeHead(200, { "Content-Type": "application/octet-stream" }).end(content);
    } else if (range.start >= content.length) {
      response.writeHead(416, { "Content-Range": `bytes */${content.length}` }).end();
    } else {
      const end = Math.min(range.end, content.length);
      const sent = content.subarray(range.start, end);
      response.writeHead(206, { "Content-Range": `bytes ${range.start}-${end - 1}/${content.length}` }).end(sent);
    }
  };

const status =
  (code: number, type = "text/plain", body = ""): Behaviour =>
  (_, response) =>
    response.writeHead(code, { "Content-Type": type }).end(body);

describe("urlSource", () => {
  it("reads files, ranges and sizes under its prefix", async () => {
    behave = good(bytes);
    for (const source of [urlSource(base, { wholeFileBytes: 0 }), urlSource(`${base}/`, { wholeFileBytes: 0 })]) {
      expect(await source.file("a.json")).toEqual(bytes);
      expect(await source.size("a b")).toBe(1000);
      expect(await source.range("a b", 10, 20)).toEqual(bytes.slice(10, 20));
      expect(await source.range("a b", 0, 1000)).toEqual(bytes);
      expect(await source.range("a b", 5, 5)).toEqual(new Uint8Array(0));
    }
    expect(requests.slice(0, 4)).toEqual([
      "GET /models/x/a.json whole",
      "GET /models/x/a%20b bytes=0-0",
      "GET /models/x/a%20b bytes=10-19",
      "GET /models/x/a%20b bytes=0-999",
    ]);
  });

  it.each([
    ['"abc"', 'W/"abc"'],
    ['"abc"', '"abc-gzip"'],
    ['W/"abc"', 'W/"abc;br"'],
  ])("takes a compressed answer for the same content: %s and %s", async (plain, compressed) => {
    behave = (request, response) => {
      response.setHeader("ETag", request.headers.range ? plain : compressed);
      good(bytes)(request, response);
    };
    const source = urlSource(base, { wholeFileBytes: 0 });
    expect(await source.size("a")).toBe(1000);
    expect(await streamed(source, "a")).toEqual(bytes);
    expect(await source.range("a", 5, 9)).toEqual(bytes.slice(5, 9));
  });

  it("notices another content of the same size between two parts", async () => {
    let tag = '"1"';
    behave = (request, response) => {
      response.setHeader("ETag", tag);
      good(bytes)(request, response);
    };
    const source = urlSource(base, { wholeFileBytes: 0 });
    await source.range("a", 0, 9);
    tag = '"2"';
    await expect(source.range("a", 9, 20)).rejects.toThrow("a changed on the server while it was read");
    await expect(source.stream?.("a")).rejects.toThrow("a changed on the server while it was read");
    // Who opens it anew gets the new one.
    expect(await urlSource(base, { wholeFileBytes: 0 }).range("a", 9, 20)).toEqual(bytes.slice(9, 20));
  });

  it("asks for nothing that a known folder does not hold", async () => {
    behave = good(bytes);
    const source = urlSource(base, { files: ["a.json"] });
    expect(await source.file("a.json")).toEqual(bytes);
    expect(await source.file("chat_template.jinja")).toBeUndefined();
    expect(await source.size("model.safetensors.index.json")).toBeUndefined();
    await expect(source.range("b", 0, 10)).rejects.toThrow("b is missing");
    expect(requests).toEqual(["GET /models/x/a.json whole"]);
  });

  it("asks for parts past the browser's cache, and for whole files through it", async () => {
    behave = good(bytes);
    const caches: (RequestCache | undefined)[] = [];
    const fetchFile: typeof fetch = (input, init) => {
      caches.push(init?.cache);
      return fetch(input, init);
    };
    const source = urlSource(base, { fetchFile, wholeFileBytes: 0 });
    await source.size("a");
    await source.range("a", 10, 20);
    await source.file("a");
    expect(caches).toEqual(["no-store", "no-store", undefined]);
  });

  it("opens a sharded checkpoint over the network", async () => {
    const config = parseConfig({
      model_type: "llama",
      vocab_size: 10,
      hidden_size: 8,
      intermediate_size: 8,
      num_hidden_layers: 1,
      num_attention_heads: 2,
    });
    const files = randomCheckpointFiles(config, { shards: 2, dtype: "BF16" });
    behave = (request, response) => {
      const file = files[request.url?.split("/").at(-1) ?? ""];
      (file ? good(file) : status(404))(request, response);
    };
    const expected = await openCheckpoint(memorySource(files));
    // Four requests find config.json, no generation_config.json, no single file, and the index.
    const ranged = 4 + 2 * ["size", "prefix", "header"].length + expected.tensors.size;
    const whole = 4 + 2 * ["size", "everything"].length;
    for (const [wholeFileBytes, requestCount] of [
      [0, ranged],
      [10000, whole],
    ] as const) {
      requests = [];
      const { tensors } = await openCheckpoint(urlSource(base, { wholeFileBytes }));
      for (const [name, tensor] of expected.tensors) {
        expect(await tensors.get(name)?.read()).toEqual(await tensor.read());
      }
      expect(requests).toHaveLength(requestCount);
    }
  });

  it.each([
    ["404", status(404)],
    ["410", status(410)],
    ["a fallback page", status(200, "text/html; charset=utf-8", page)],
  ])("takes %s for a missing file", async (_, behaviour) => {
    behave = behaviour;
    const source = urlSource(base, { label: "the model" });
    expect(await source.file("config.json")).toBeUndefined();
    expect(await source.size("model.safetensors")).toBeUndefined();
    await expect(source.range("model.safetensors", 0, 8)).rejects.toThrow("the model: model.safetensors is missing");
    await expect(openCheckpoint(source)).rejects.toThrow("the model: config.json is missing");
  });

  it("recognises a fallback page without a type", async () => {
    behave = (_, response) => response.writeHead(200).end(`\n${page}`);
    expect(await urlSource(base).file("config.json")).toBeUndefined();
  });

  it.each([403, 500, 503])("reports status %i with the file", async (code) => {
    behave = status(code);
    const source = urlSource(base, { label: "the model" });
    await expect(source.file("config.json")).rejects.toThrow(`the model: config.json: the server answered ${code}`);
    await expect(source.size("config.json")).rejects.toThrow(`the server answered ${code}`);
  });

  it("reports a server that is not there", async () => {
    const source = urlSource("http://127.0.0.1:1/", { label: "the model" });
    await expect(source.file("config.json")).rejects.toThrow("the model: config.json: ");
    await expect(source.size("config.json")).rejects.toThrow("the model: config.json: ");
  });

  it("reads the whole file once where Range is ignored", async () => {
    behave = (_, response) => response.writeHead(200).end(bytes);
    const source = urlSource(base);
    expect(await source.size("a")).toBe(1000);
    expect(await source.range("a", 10, 20)).toEqual(bytes.slice(10, 20));
    expect(await source.range("a", 999, 1000)).toEqual(bytes.slice(999));
    expect(requests).toHaveLength(1);
    await expect(source.range("a", 999, 1001)).rejects.toThrow("a has 1000 bytes");
    expect(await source.range("b", 3, 4)).toEqual(bytes.slice(3, 4));
    expect(await source.range("a", 0, 1)).toEqual(bytes.slice(0, 1));
    expect(requests).toHaveLength(2);
  });

  it("does not let one stopped reader of a whole file stop another", async () => {
    const held: ServerResponse[] = [];
    behave = (_, response) => {
      response.writeHead(200, { "Content-Length": 1000 }).write(bytes.subarray(0, 500));
      held.push(response);
    };
    const source = urlSource(base);
    const stop = new AbortController();
    const first = source.range("a", 0, 600, stop.signal);
    while (held.length === 0) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
    const second = source.range("a", 600, 610);
    const stopThird = new AbortController();
    const third = source.range("a", 600, 610, stopThird.signal);
    stopThird.abort();
    await expect(third).rejects.toThrow(/abort/i);
    behave = (_, response) => response.writeHead(200).end(bytes);
    stop.abort();
    await expect(first).rejects.toThrow(/abort/i);
    expect(await second).toEqual(bytes.slice(600, 610));
  });

  it.each<[string, Behaviour, string]>([
    [
      "other bytes than asked for",
      (_, response) => response.writeHead(206, { "Content-Range": "bytes 0-9/1000" }).end(bytes.subarray(0, 10)),
      "asked for bytes 10-19, the server sent bytes 0-9/1000",
    ],
    [
      "206 without Content-Range",
      (_, response) => response.writeHead(206).end(bytes.subarray(10, 20)),
      "the server sent no Content-Range",
    ],
    [
      "fewer bytes than it says",
      (_, response) => response.writeHead(206, { "Content-Range": "bytes 10-19/1000" }).end(bytes.subarray(10, 15)),
      "got 5 of 10 bytes",
    ],
    [
      "a shorter file",
      (_, response) => response.writeHead(206, { "Content-Range": "bytes 10-14/15" }).end(bytes.subarray(10, 15)),
      "the server sent bytes 10-14/15",
    ],
    ["416", status(416), "a is too short"],
  ])("refuses %s", async (_, behaviour, message) => {
    behave = behaviour;
    await expect(urlSource(base, { label: "the model" }).range("a", 10, 20)).rejects.toThrow(message);
    await expect(urlSource(base, { label: "the model" }).range("a", 10, 20)).rejects.toThrow("the model: a");
  });

  it("notices a body that breaks off", async () => {
    behave = (_, response) => {
      response
        .writeHead(206, { "Content-Range": "bytes 10-19/1000", "Content-Length": 10 })
        .write(bytes.subarray(10, 15));
      setTimeout(() => response.destroy(), 20);
    };
    await expect(urlSource(base, { label: "the model" }).range("a", 10, 20)).rejects.toThrow("the model: a: ");
  });

  it("notices a file that changes while it is read", async () => {
    for (const wholeFileBytes of [0, 1000]) {
      behave = good(bytes);
      const source = urlSource(base, { wholeFileBytes });
      await source.size("a");
      behave = good(bytes.slice(0, 900));
      await expect(source.range("a", 0, 10)).rejects.toThrow("a changed while it was read (1000, now 900 bytes)");
    }
  });

  const streamed = async (source: CheckpointSource, name: string) =>
    new Uint8Array(await new Response(await source.stream?.(name)).arrayBuffer());

  it("streams a file without keeping it, and gives what it has kept", async () => {
    behave = good(bytes);
    const source = urlSource(base, { wholeFileBytes: 0 });
    expect(await streamed(source, "a")).toEqual(bytes);
    expect(await streamed(source, "a")).toEqual(bytes);
    expect(requests).toEqual(["GET /models/x/a whole", "GET /models/x/a whole"]);
    const small = urlSource(base);
    await small.size("a");
    await small.range("a", 0, 8);
    requests = [];
    expect(await streamed(small, "a")).toEqual(bytes);
    expect(requests).toEqual([]);
  });

  it.each<[string, Behaviour, string]>([
    ["404", status(404), "a is missing: the server answered 404"],
    ["a page", status(200, "text/html", page), "a is missing: the server sent a web page instead of the file"],
    ["a page without a type", (_, response) => response.writeHead(200).end(page), "a: the server sent a web page"],
    ["403", status(403), "a: the server answered 403"],
  ])("says why it does not stream: %s", async (_, behaviour, message) => {
    behave = behaviour;
    await expect(streamed(urlSource(base, { label: "the model" }), "a")).rejects.toThrow(`the model: ${message}`);
  });

  it("notices a stream that ends early or holds another content", async () => {
    behave = good(bytes);
    const source = urlSource(base, { label: "the model", wholeFileBytes: 0 });
    await source.size("a");
    behave = (_, response) => response.writeHead(200).end(bytes.subarray(0, 600));
    await expect(streamed(source, "a")).rejects.toThrow("the model: a was cut short: 600 of 1000 bytes arrived");

    behave = (_, response) => response.writeHead(206, { ETag: '"1"', "Content-Range": "bytes 0-0/1000" }).end("x");
    const tagged = urlSource(base, { label: "the model", wholeFileBytes: 0 });
    await tagged.size("a");
    expect(tagged.version!("a")).toBe('"1"');
    behave = (_, response) => response.writeHead(200, { ETag: '"2"' }).end(bytes);
    await expect(streamed(tagged, "a")).rejects.toThrow("the model: a changed on the server");
  });

  it("takes no more than the beginning of a large file whose server ignores Range", async () => {
    behave = (_, response) => response.writeHead(200, { "Content-Length": 1000 }).end(bytes);
    const source = urlSource(base, { wholeFileBytes: 100 });
    expect(await source.size("a")).toBe(1000);
    expect(await source.range("a", 10, 60)).toEqual(bytes.slice(10, 60));
    expect(await source.range("a", 900, 1000)).toEqual(bytes.slice(900));
  });

  it("knows the size of an empty file", async () => {
    behave = good(new Uint8Array(0));
    expect(await urlSource(base).size("a")).toBe(0);
  });

  it("asks with HEAD where Content-Range does not tell the size", async () => {
    behave = (request, response) => {
      if (request.method === "HEAD") {
        response.writeHead(200, { "Content-Length": 1000 }).end();
      } else {
        response.writeHead(206, { "Content-Range": "bytes 0-0/*" }).end(bytes.subarray(0, 1));
      }
    };
    expect(await urlSource(base).size("a")).toBe(1000);
    behave = (request, response) => {
      const headers = request.method === "HEAD" ? { "Content-Length": 300, "Content-Encoding": "gzip" } : {};
      response.writeHead(request.method === "HEAD" ? 200 : 206, headers).end();
    };
    await expect(urlSource(base).size("a")).rejects.toThrow("a: the server does not tell the size");
  });

  it("stops at once when the signal says so", async () => {
    behave = () => {};
    const stop = new AbortController();
    const reading = urlSource(base).file("a", stop.signal);
    setTimeout(() => stop.abort(), 20);
    await expect(reading).rejects.toThrow(/abort/i);
    await expect(urlSource(base).size("a", AbortSignal.abort())).rejects.toThrow(/abort/i);
  });
});
