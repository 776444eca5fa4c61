/** Opening and keeping what a visitor brings, over a real server, with a store in memory. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { MemoryFolder } from "../../tests/fixtures/memoryFolder";
import { parseConfig } from "../checkpoint/config";
import { openCheckpoint } from "../checkpoint/load";
import { randomCheckpointFiles } from "../checkpoint/randomCheckpoint";
import { memorySource } from "../checkpoint/sources";
import { CheckpointStore } from "../checkpoint/store";
import { onnxExport } from "../onnx/writer";
import { LibraryDesk } from "./libraryDesk";
import type { LibraryMessage, OpenOutcome } from "./libraryProtocol";

/** As small as a tokenizer can be. */
const BYTE_LEVEL = { type: "ByteLevel", add_prefix_space: false, use_regex: false };
const TOKENIZER = {
  model: { type: "BPE", vocab: { a: 0 }, merges: [] },
  pre_tokenizer: BYTE_LEVEL,
  decoder: BYTE_LEVEL,
};
const encoded = (json: unknown) => new TextEncoder().encode(JSON.stringify(json));
const CONFIG = parseConfig({
  model_type: "llama",
  vocab_size: 10,
  hidden_size: 8,
  intermediate_size: 8,
  num_hidden_layers: 1,
  num_attention_heads: 2,
});
const files: Record<string, Uint8Array<ArrayBuffer>> = {
  ...randomCheckpointFiles(CONFIG),
  "tokenizer.json": encoded(TOKENIZER),
};
const WEIGHTS = "model.safetensors";

let server: Server;
let url: string;
let asked: string[] = [];
/** Answered by the test, when it likes. */
let held: (() => void) | undefined;
beforeAll(async () => {
  server = createServer((request, response) => {
    const name = request.url?.split("/").at(-1) ?? "";
    asked.push(name);
    const content = files[name.replace(/\?.*$/, "")];
    if (!content) {
      response.writeHead(404).end();
      return;
    }
    const answer = () => response.writeHead(200, { "Content-Length": content.length, ETag: '"1"' }).end(content);
    if (held && name === WEIGHTS) held = answer;
    else answer();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/models/tiny/`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

let messages: LibraryMessage[];
let desk: LibraryDesk;
beforeEach(() => {
  asked = [];
  held = undefined;
  messages = [];
  const root = new MemoryFolder();
  const store = new CheckpointStore(async () => root);
  desk = new LibraryDesk({ store, post: (message) => messages.push(message), estimate: async () => ({ quota: 100 }) });
});

const infoOf = (outcome: OpenOutcome) => {
  if (outcome.status !== "ready") throw new Error(JSON.stringify(outcome));
  return outcome.info;
};

describe("LibraryDesk", () => {
  it("opens an address, keeps it, and finds it kept the next time", async () => {
    const info = infoOf(await desk.open({ kind: "url", url }));
    expect(info).toMatchObject({ name: "models/tiny", stored: "F32", keptBytes: 0 });
    expect(info.key).toBeUndefined();
    expect(info.totalBytes).toBe(Object.values(files).reduce((sum, { length }) => sum + length, 0));
    const kept = await desk.keep(info.handle);
    expect(kept).toMatchObject({ status: "ready" });
    expect(messages.at(-1)).toEqual({ type: "keeping", loadedBytes: info.totalBytes, totalBytes: info.totalBytes });

    const again = infoOf(await desk.open({ kind: "url", url }));
    expect(again).toMatchObject({ key: kept.status === "ready" && kept.key, keptBytes: info.totalBytes });
    asked = [];
    const fromStore = infoOf(await desk.openKept(again.key as string));
    expect(fromStore).toMatchObject({ name: "models/tiny", key: again.key, parameters: info.parameters });
    expect((await openCheckpoint(await desk.keptSource(again.key as string))).config).toEqual(info.config);
    expect(asked).toEqual([]);
    expect(await desk.report()).toMatchObject({ quota: 100, checkpoints: [{ name: "models/tiny" }] });
    await desk.remove(again.key as string);
    expect((await desk.report()).checkpoints).toEqual([]);
  });

  it("opens files of this machine under the name of their folder", async () => {
    const picked = Object.entries(files).map(([name, bytes]) => {
      return { path: `mine/${name}`, file: new File([bytes], name, { lastModified: 5 }) };
    });
    const info = infoOf(await desk.open({ kind: "files", name: "mine", files: picked }));
    expect(info.name).toBe("mine");
    expect(await desk.source(info.handle).size(WEIGHTS)).toBe(files[WEIGHTS]?.length);
    expect(await desk.keep(info.handle)).toMatchObject({ status: "ready" });
    expect(infoOf(await desk.open({ kind: "files", name: "mine", files: picked })).key).toBeDefined();
  });

  it("opens exports in ONNX: of a folder's two places, of an address, and kept", async () => {
    const checkpoint = await openCheckpoint(memorySource(files));
    const exported = onnxExport(checkpoint);
    const { [WEIGHTS]: weights, ...others } = files;
    const theirs = { ...others, "model.onnx": exported.model, [exported.dataFile]: new Uint8Array(exported.dataBytes) };
    const picked = Object.entries(theirs).map(([name, bytes]) => {
      const path = /onnx/.test(name) ? `mine/onnx/${name}` : `mine/${name}`;
      return { path, file: new File([bytes as Uint8Array<ArrayBuffer>], name, { lastModified: 5 }) };
    });
    const info = infoOf(await desk.open({ kind: "files", name: "mine", files: picked }));
    expect(info).toMatchObject({ graph: "onnx/model.onnx", graphs: ["onnx/model.onnx"], hasTensors: false });
    expect(info.parameters).toBeGreaterThan(0);
    expect(info.stored).toBeUndefined();
    expect(await desk.keep(info.handle)).toMatchObject({ status: "ready" });
    const again = infoOf(await desk.open({ kind: "files", name: "mine", files: picked }));
    const kept = infoOf(await desk.openKept(again.key as string));
    expect(kept).toMatchObject({ graph: "onnx/model.onnx", files: info.files, identity: info.identity });

    // Beside safetensors an export has to be asked for.
    const both = [...picked, { path: `mine/${WEIGHTS}`, file: new File([weights as BlobPart], WEIGHTS) }];
    const first = infoOf(await desk.open({ kind: "files", name: "mine", files: both }));
    expect(first).toMatchObject({ hasTensors: true, graphs: ["onnx/model.onnx"], stored: "F32" });
    expect(first.graph).toBeUndefined();
    expect(first.identity).not.toBe(info.identity);
    const wanted = await desk.open({ kind: "files", name: "mine", files: both, graph: "onnx/model.onnx" });
    expect(infoOf(wanted).graph).toBe("onnx/model.onnx");

    // The server of this test answers by file name, in whatever folder.
    Object.assign(files, theirs);
    delete files[WEIGHTS];
    try {
      const folder = infoOf(await desk.open({ kind: "url", url }));
      expect(folder).toMatchObject({ graph: "model.onnx", name: "models/tiny", hasTensors: false });
      const file = infoOf(await desk.open({ kind: "url", url: `${url}onnx/model.onnx` }));
      expect(file).toMatchObject({ graph: "onnx/model.onnx", name: "models/tiny", graphs: ["onnx/model.onnx"] });
    } finally {
      for (const name of ["model.onnx", exported.dataFile]) delete files[name];
      files[WEIGHTS] = weights as Uint8Array<ArrayBuffer>;
    }
  });

  it("says what is wrong, and what is not open any more", async () => {
    const missing = await desk.open({ kind: "url", url: `${url}deeper/` });
    expect(missing).toMatchObject({ status: "ready" });
    const { [WEIGHTS]: weights } = files;
    delete files[WEIGHTS];
    expect(await desk.open({ kind: "url", url })).toMatchObject({
      status: "failed",
      problem: { kind: "modelFilesMissing", detail: expect.stringContaining("neither model.safetensors nor") },
    });
    files[WEIGHTS] = weights as Uint8Array<ArrayBuffer>;
    expect(await desk.keep("opened-99")).toMatchObject({ status: "failed", problem: { kind: "modelFilesMissing" } });
    expect(await desk.openKept("nothing")).toMatchObject({ status: "failed" });
  });

  it("is cancelled in the middle, and by whatever comes next", async () => {
    held = () => {};
    const first = desk.open({ kind: "url", url });
    while (!asked.includes(WEIGHTS)) await new Promise((resolve) => setTimeout(resolve, 5));
    desk.cancel();
    expect(await first).toEqual({ status: "cancelled" });
    const second = desk.open({ kind: "url", url });
    held = undefined;
    expect((await desk.open({ kind: "url", url })).status).toBe("ready");
    expect(await second).toEqual({ status: "cancelled" });
  });

  it("goes without a store where the browser has none", async () => {
    const none = async () => {
      throw new Error("no private file system here");
    };
    desk = new LibraryDesk({ store: new CheckpointStore(none), post: () => {} });
    const info = infoOf(await desk.open({ kind: "url", url }));
    expect(info.key).toBeUndefined();
    expect(await desk.report()).toEqual({ checkpoints: [], unavailable: "no private file system here" });
  });

  it("keeps what opens an address to itself, and takes the address of a file for its folder", async () => {
    const secret = `${url.replace("//", "//me:s3cret@")}config.json?token=s3cret`;
    const info = infoOf(await desk.open({ kind: "url", url: secret }));
    expect(info.name).toBe("models/tiny");
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.every((name) => name.endsWith("?token=s3cret"))).toBe(true);
    await desk.keep(info.handle);
    const kept = JSON.stringify([info, await desk.report()]);
    expect(kept).toContain(`"url":"${url}"`);
    expect(kept).not.toContain("s3cret");
    expect(await desk.open({ kind: "url", url: "s3cret.example" })).toMatchObject({
      problem: { kind: "modelInvalid", detail: "this is no address that begins with http:// or https://" },
    });
  });

  it.each([
    ["no JSON", "{", "not valid JSON"],
    ["another kind", JSON.stringify({ model: { type: "Unigram", vocab: [] } }), 'field "model.type"'],
    [
      "another model's",
      JSON.stringify({
        ...TOKENIZER,
        model: { ...TOKENIZER.model, vocab: Object.fromEntries([..."abcdefghijk"].map((c, i) => [c, i])) },
      }),
      "it has 11 words, and the model's vocab_size is 10",
    ],
  ])("meets a tokenizer that cannot be used before any weights have come: %s", async (_, content, message) => {
    const before = files["tokenizer.json"] as Uint8Array<ArrayBuffer>;
    try {
      files["tokenizer.json"] = new TextEncoder().encode(content);
      const info = infoOf(await desk.open({ kind: "url", url }));
      asked = [];
      const kept = await desk.keep(info.handle);
      expect(kept).toMatchObject({ status: "failed", problem: { kind: "modelInvalid" } });
      expect(JSON.stringify(kept)).toContain(JSON.stringify(message).slice(1, -1));
      expect(asked).not.toContain(WEIGHTS);
    } finally {
      files["tokenizer.json"] = before;
    }
  });

  it.each(["model.gguf", "pytorch_model.bin", "adapter_model.safetensors"])(
    "says that %s is not read",
    async (name) => {
      const file = new File(["x"], name);
      const outcome = await desk.open({ kind: "files", name: "mine", files: [{ path: `mine/${name}`, file }] });
      expect(outcome).toMatchObject({ status: "failed", problem: { kind: "modelInvalid" } });
      expect(JSON.stringify(outcome)).toContain(`there is ${name}, and neither model.safetensors nor`);
    },
  );
});
