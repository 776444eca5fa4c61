/** Keeping, finding, refusing and deleting checkpoints, with a file system that can be damaged at will. */
import { beforeEach, describe, expect, it } from "vitest";
import { MemoryFolder } from "../../tests/fixtures/memoryFolder";
import type { CheckpointSource } from "./checkpoint";
import { parseConfig } from "./config";
import { listCheckpoint } from "./listing";
import { openCheckpoint } from "./load";
import { randomCheckpointFiles } from "./randomCheckpoint";
import { memorySource } from "./sources";
import { CheckpointStore, type KeepRequest } from "./store";

const CONFIG = parseConfig({
  model_type: "llama",
  vocab_size: 10,
  hidden_size: 8,
  intermediate_size: 8,
  num_hidden_layers: 1,
  num_attention_heads: 2,
});
const contents: Record<string, Uint8Array<ArrayBuffer>> = {
  ...randomCheckpointFiles(CONFIG, { shards: 2, dtype: "BF16" }),
  "tokenizer.json": new TextEncoder().encode("{}"),
};
const ORIGIN = { kind: "hub", id: "some/model", commit: "c".repeat(40) } as const;
const FIRST_SHARD = "model-00001-of-00002.safetensors";
const SECOND_SHARD = "model-00002-of-00002.safetensors";

/** A source that streams, and tells which files were streamed. */
function streaming(files = contents, chunkBytes = 100) {
  const streamed: string[] = [];
  const plain = memorySource(files, "some/model");
  const source: CheckpointSource = {
    ...plain,
    async stream(name, signal) {
      streamed.push(name);
      const bytes = files[name]!;
      let at = 0;
      return new ReadableStream({
        pull(controller) {
          signal?.throwIfAborted();
          if (at >= bytes.length) return controller.close();
          controller.enqueue(bytes.slice(at, at + chunkBytes));
          at += chunkBytes;
        },
      });
    },
  };
  return { source, streamed };
}

let root: MemoryFolder;
let store: CheckpointStore;
let request: KeepRequest;
beforeEach(async () => {
  root = new MemoryFolder();
  store = new CheckpointStore(async () => root);
  request = { name: "some/model", origin: ORIGIN, files: (await listCheckpoint(memorySource(contents))).files };
});
const only = (folder = root) => [...folder.children.values()][0]!;

describe("listCheckpoint", () => {
  it("names every file that loading reads, and what is in them", async () => {
    const listing = await listCheckpoint(memorySource(contents));
    expect(listing.files.map(({ name }) => name)).toEqual([
      "config.json",
      "tokenizer.json",
      "model.safetensors.index.json",
      FIRST_SHARD,
      SECOND_SHARD,
    ]);
    expect(listing.totalBytes).toBe(Object.values(contents).reduce((sum, { length }) => sum + length, 0));
    expect(listing.stored).toBe("BF16");
    const elements = [...listing.checkpoint.tensors.values()].map(({ shape }) => shape.reduce((a, b) => a * b, 1));
    expect(listing.parameters).toBe(elements.reduce((a, b) => a + b));
  });

  it("names what is missing, with the reason where there is one", async () => {
    const { "tokenizer.json": _, ...rest } = contents;
    await expect(listCheckpoint(memorySource(rest, "x"))).rejects.toThrow("x: tokenizer.json is missing");
    const source = { ...memorySource({}, "x"), absence: () => "the server answered 404" };
    await expect(listCheckpoint(source)).rejects.toThrow("x: config.json is missing: the server answered 404");
  });
});

describe("CheckpointStore", () => {
  it("keeps a checkpoint that opens as the original does, and counts every byte once", async () => {
    const { source, streamed } = streaming();
    const progress: [number, number][] = [];
    const key = await store.keep(request, source, { onProgress: (...bytes) => progress.push(bytes) });
    expect(streamed).toEqual(request.files.map(({ name }) => name));
    const total = request.files.reduce((sum, { bytes }) => sum + bytes, 0);
    expect(progress.at(-1)).toEqual([total, total]);
    expect(progress.every(([loaded], i) => i === 0 || loaded >= progress[i - 1]![0])).toBe(true);

    const [entry] = await store.list();
    expect(entry).toMatchObject({ key, name: "some/model", origin: ORIGIN, wantedBytes: total });
    expect(entry?.problem).toBeUndefined();
    expect(await store.holds(request)).toBe(true);
    const { tensors } = await openCheckpoint(await store.source(key));
    for (const [name, tensor] of (await openCheckpoint(memorySource(contents))).tensors) {
      expect(await tensors.get(name)?.read()).toEqual(await tensor.read());
    }
  });

  it("copies in pieces from a source that cannot stream", async () => {
    const key = await store.keep(request, memorySource(contents));
    expect(await (await store.source(key)).file(SECOND_SHARD)).toEqual(contents[SECOND_SHARD]);
  });

  it("goes on where a cancelled copy ended, and never takes half a file for a whole one", async () => {
    const { source } = streaming();
    const stop = new AbortController();
    const boundary = request.files.slice(0, -1).reduce((sum, { bytes }) => sum + bytes, 0);
    const keeping = store.keep(request, source, {
      signal: stop.signal,
      onProgress: (loaded) => loaded > boundary && stop.abort(),
    });
    await expect(keeping).rejects.toThrow(/abort/i);
    expect([...only().contents.keys()].some((name) => name.endsWith(".part"))).toBe(false);
    const [entry] = await store.list();
    expect(entry?.problem).toBe(`${SECOND_SHARD} is missing`);
    expect(await store.holds(request)).toBe(false);
    await expect(store.source(entry!.key)).rejects.toThrow(`some/model: ${SECOND_SHARD} is missing`);

    const again = streaming();
    const seen: number[] = [];
    await store.keep(request, again.source, { onProgress: (loaded) => seen.push(loaded) });
    expect(again.streamed).toEqual([SECOND_SHARD]);
    expect(seen.at(-1)).toBe(request.files.reduce((sum, { bytes }) => sum + bytes, 0));
    expect(await store.holds(request)).toBe(true);
  });

  it("refuses a file that was cut off on disk, and mends it", async () => {
    const key = await store.keep(request, memorySource(contents));
    only().contents.set(FIRST_SHARD, contents[FIRST_SHARD]!.slice(0, 50));
    const length = contents[FIRST_SHARD]!.length;
    await expect(store.source(key)).rejects.toThrow(`some/model: ${FIRST_SHARD} has 50 of ${length} bytes`);
    const { source, streamed } = streaming();
    await store.keep(request, source);
    expect(streamed).toEqual([FIRST_SHARD]);
    expect(await (await store.source(key)).file(FIRST_SHARD)).toEqual(contents[FIRST_SHARD]);
  });

  it("begins anew when the files have changed at their origin", async () => {
    await store.keep(request, memorySource(contents));
    const changed = { ...request, files: request.files.map((file) => ({ ...file, version: "2" })) };
    expect(await store.holds(changed)).toBe(false);
    const { source, streamed } = streaming();
    await store.keep(changed, source);
    expect(streamed).toHaveLength(request.files.length);
    expect(await store.holds(changed)).toBe(true);
    expect(await store.list()).toHaveLength(1);
  });

  it.each([
    ["shorter", -10, /has another size than was listed: \d+ of \d+ bytes/],
    ["longer", 10, /has another size than was listed: more of \d+ bytes/],
  ])("refuses a file that arrives %s than it was listed", async (_, difference, message) => {
    const bytes = new Uint8Array(contents[FIRST_SHARD]!.length + difference);
    const { source } = streaming({ ...contents, [FIRST_SHARD]: bytes });
    await expect(store.keep(request, source)).rejects.toThrow(message);
    await expect(store.keep(request, source)).rejects.toThrow(`some/model: ${FIRST_SHARD}`);
    expect(only().contents.has(FIRST_SHARD)).toBe(false);
    expect(await store.holds(request)).toBe(false);
  });

  it("says when storage is full, with the file", async () => {
    root = new MemoryFolder(1000);
    const { source } = streaming();
    await expect(store.keep(request, source)).rejects.toThrow(/some\/model: .*storage for this page is full/);
  });

  it("keeps checkpoints apart, and deletes one without the other", async () => {
    const one = await store.keep(request, memorySource(contents));
    const other = await store.keep(
      { ...request, origin: { kind: "url", url: "https://a.example/some/model/" } },
      memorySource(contents),
    );
    expect(one).not.toBe(other);
    await store.remove(one);
    expect((await store.list()).map(({ key }) => key)).toEqual([other]);
    await expect(store.source(one)).rejects.toThrow("no such checkpoint");
    await store.remove(other);
    expect(await store.list()).toEqual([]);
  });

  it("shows what cannot be read, so that it can be deleted", async () => {
    (await root.folder("strange")).contents.set("manifest.json", new TextEncoder().encode("{}"));
    const [entry] = await store.list();
    expect(entry).toMatchObject({ key: "strange", bytes: 2, problem: "what is there cannot be read" });
    await store.remove("strange");
    expect(await store.list()).toEqual([]);
  });
});
