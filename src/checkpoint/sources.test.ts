/** Sources in memory, of picked files and of a folder give the same bytes and name what is missing. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CheckpointSource } from "./checkpoint";
import { folderSource } from "./nodeFolder";
import { fileListSource, memorySource } from "./sources";

const bytes = Uint8Array.from({ length: 100 }, (_, i) => i);
const files = { "config.json": new TextEncoder().encode("{}"), "model.safetensors": bytes, empty: new Uint8Array(0) };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "twinloop-source-"));
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(folder, name), content);
  }
});
afterAll(() => rm(folder, { recursive: true }));

const kinds: [string, () => CheckpointSource][] = [
  ["memorySource", () => memorySource(files, "here")],
  [
    "fileListSource",
    () =>
      fileListSource(
        Object.entries(files).map(([name, data]) => new File([data], name)),
        "here",
      ),
  ],
  ["folderSource", () => folderSource(folder, "here")],
];

describe.each(kinds)("%s", (_, open) => {
  it("reads whole files, ranges and sizes", async () => {
    const source = open();
    expect(source.label).toBe("here");
    expect(await source.file("model.safetensors")).toEqual(bytes);
    expect(await source.range("model.safetensors", 10, 20)).toEqual(bytes.slice(10, 20));
    expect(await source.range("model.safetensors", 0, 100)).toEqual(bytes);
    expect(await source.range("model.safetensors", 100, 100)).toEqual(new Uint8Array(0));
    expect(await source.size("model.safetensors")).toBe(100);
    expect(await source.size("empty")).toBe(0);
    expect(await source.file("empty")).toEqual(new Uint8Array(0));
  });

  it("tells a missing file from an empty one", async () => {
    const source = open();
    expect(await source.file("other")).toBeUndefined();
    expect(await source.size("other")).toBeUndefined();
    await expect(source.range("other", 0, 1)).rejects.toThrow("here: other is missing");
  });

  it("refuses ranges past the end", async () => {
    await expect(open().range("model.safetensors", 90, 101)).rejects.toThrow("here: model.safetensors");
    await expect(open().range("empty", 0, 1)).rejects.toThrow("here: empty");
  });

  it("hands out bytes that a reader may overwrite", async () => {
    const source = open();
    (await source.range("model.safetensors", 0, 50)).fill(255);
    (await source.file("model.safetensors"))?.fill(255);
    expect(await source.file("model.safetensors")).toEqual(bytes);
  });

  it("stops when the signal says so", async () => {
    const signal = AbortSignal.abort();
    await expect(open().range("model.safetensors", 0, 1, signal)).rejects.toThrow(/abort/i);
    await expect(open().file("model.safetensors", signal)).rejects.toThrow(/abort/i);
  });
});

describe("memorySource", () => {
  it("takes text as UTF-8", async () => {
    expect(await memorySource({ a: "é" }).size("a")).toBe(2);
  });
});

describe("fileListSource", () => {
  const picked = (path: string, text: string) =>
    Object.defineProperty(new File([text], path.split("/").at(-1) ?? ""), "webkitRelativePath", { value: path });

  it("takes the files beside the topmost config.json of a picked folder", async () => {
    const source = fileListSource([
      picked("models/onnx/deep/config.json", "deep"),
      picked("models/tiny/config.json", "right"),
      picked("models/tiny/onnx/config.json", "nested"),
      picked("models/tiny/onnx/extra.json", "nested"),
      picked("models/tiny/vocab.json", "vocab"),
    ]);
    expect(new TextDecoder().decode(await source.file("config.json"))).toBe("right");
    expect(await source.size("vocab.json")).toBe(5);
    expect(await source.size("extra.json")).toBeUndefined();
  });

  it("refuses two files of one name", () => {
    expect(() => fileListSource([new File([], "a"), new File([], "a")])).toThrow("dropped files: a is there twice");
  });
});

describe("folderSource", () => {
  it("stays within its folder", async () => {
    await expect(folderSource(folder).file("../secret")).rejects.toThrow("no plain file name");
    await expect(folderSource(folder).size("..")).rejects.toThrow("no plain file name");
  });

  it("reads a folder that does not exist as an empty one", async () => {
    expect(await folderSource(join(folder, "nowhere")).file("config.json")).toBeUndefined();
    expect(await folderSource(join(folder, "config.json")).size("config.json")).toBeUndefined();
  });

  it("notices a file that ends early", async () => {
    await expect(folderSource(folder, "here").range("model.safetensors", 50, 120)).rejects.toThrow(
      "here: model.safetensors ends at byte 100, before byte 120",
    );
  });
});
