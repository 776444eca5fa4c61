/** Headers: every impossible file is refused by name, nothing but CheckpointError ever escapes, and files round-trip. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { TensorDtype } from "./checkpoint";
import { BYTES_PER_ELEMENT } from "./dtype";
import { CheckpointError } from "./errors";
import {
  parseSafetensors,
  parseSafetensorsHeader,
  readSafetensorsHeader,
  type SafetensorsTensor,
  writeSafetensors,
} from "./safetensors";
import { memorySource } from "./sources";

const read = (bytes: Uint8Array) => readSafetensorsHeader(memorySource({ "x.safetensors": bytes }), "x.safetensors");

/** A file with a hand-written header. */
function fileOf(header: unknown, dataBytes: number, headerLength?: bigint): Uint8Array {
  const json = new TextEncoder().encode(typeof header === "string" ? header : JSON.stringify(header));
  const file = new Uint8Array(8 + json.length + dataBytes);
  new DataView(file.buffer).setBigUint64(0, headerLength ?? BigInt(json.length), true);
  file.set(json, 8);
  return file;
}

const f32 = (shape: number[], start: number, end: number) => ({ dtype: "F32", shape, data_offsets: [start, end] });

describe("reading headers", () => {
  it("places tensors by byte, whatever their order in the header", async () => {
    const file = fileOf(
      { b: f32([2], 4, 12), __metadata__: { format: "pt" }, a: f32([], 0, 4), e: f32([0], 4, 4) },
      12,
    );
    const start = file.length - 12;
    expect(await read(file)).toEqual([
      { name: "a", dtype: "F32", shape: [], start, end: start + 4 },
      { name: "e", dtype: "F32", shape: [0], start: start + 4, end: start + 4 },
      { name: "b", dtype: "F32", shape: [2], start: start + 4, end: start + 12 },
    ]);
  });

  it.each([
    ["an empty file", new Uint8Array(0), "truncated"],
    ["half a length", new Uint8Array(5), "truncated"],
    ["a header of length 0", fileOf("", 8, 0n), "impossible header length 0"],
    ["a header of exabytes", fileOf("{}", 0, 2n ** 63n), "impossible header length 9223372036854775808"],
    ["a header longer than the file", fileOf("{}", 0, 1000n), "exceeds the file of 10 bytes"],
    ["an HTML page", new TextEncoder().encode("<!doctype html><html></html>"), "a web page"],
    ["a GGUF file", new TextEncoder().encode("GGUF\x03\0\0\0 and so on"), "this is a GGUF file"],
    ["a PyTorch file", new TextEncoder().encode("PK\x03\x04 and so on"), "as PyTorch writes"],
    ["an LFS pointer", new TextEncoder().encode("version https://git-lfs.github.com/spec/v1\n"), "git lfs pull"],
    ["bad JSON", fileOf("{,}", 0), "not valid JSON"],
    ["bad UTF-8", Uint8Array.from([3, 0, 0, 0, 0, 0, 0, 0, 0x22, 0xff, 0x22]), "not valid JSON"],
    ["a list", fileOf([], 0), "not a JSON object"],
    ["null", fileOf("null", 0), "not a JSON object"],
    ["an entry that is a number", fileOf({ w: 3 }, 0), 'tensor "w"'],
    ["no dtype", fileOf({ w: { shape: [1], data_offsets: [0, 4] } }, 4), 'tensor "w": dtype'],
    ["a negative length", fileOf({ w: f32([-1], 0, 4) }, 4), 'tensor "w": shape.0'],
    ["a fractional length", fileOf({ w: f32([1.5], 0, 6) }, 6), 'tensor "w": shape.0'],
    ["a negative offset", fileOf({ w: f32([1], -4, 0) }, 4), 'tensor "w": data_offsets.0'],
    ["one offset", fileOf({ w: { dtype: "F32", shape: [1], data_offsets: [0] } }, 4), 'tensor "w": data_offsets'],
    ["offsets backwards", fileOf({ w: f32([1], 4, 0) }, 4), 'tensor "w": offsets [4, 0] do not match'],
    ["offsets against the shape", fileOf({ w: f32([2], 0, 4) }, 4), 'tensor "w": offsets [0, 4] do not match F32 [2]'],
    ["an enormous shape", fileOf({ w: f32([1e9, 1e9, 1e9], 0, 4) }, 4), 'tensor "w": offsets'],
    ["integers", fileOf({ w: { ...f32([4], 0, 4), dtype: "I8" } }, 4), 'tensor "w" has unsupported dtype "I8"'],
    ["a dtype from Object", fileOf({ w: { ...f32([4], 0, 4), dtype: "toString" } }, 4), "unsupported dtype"],
    ["an overlap", fileOf({ a: f32([2], 0, 8), b: f32([1], 4, 8) }, 8), 'tensor "b" overlaps'],
    ["a gap", fileOf({ a: f32([1], 0, 4), b: f32([1], 8, 12) }, 12), '4 bytes before tensor "b"'],
    ["a gap at the start", fileOf({ a: f32([1], 4, 8) }, 8), '4 bytes before tensor "a"'],
    ["a tail", fileOf({ a: f32([1], 0, 4) }, 6), "2 bytes after the last tensor"],
    ["a truncated file", fileOf({ a: f32([1], 0, 4), b: f32([3], 4, 16) }, 15), 'truncated: tensor "b" ends at byte'],
  ])("refuses %s", async (_, file, message) => {
    const refusal = expect(read(file)).rejects;
    await refusal.toThrow(CheckpointError);
    await refusal.toThrow(message);
    await refusal.toThrow("x.safetensors: ");
  });

  it("says which file is missing", async () => {
    await expect(readSafetensorsHeader(memorySource({}, "here"), "y.safetensors")).rejects.toThrow(
      "here: y.safetensors is missing",
    );
  });

  it("throws nothing but CheckpointError on damaged and arbitrary headers", async () => {
    const good = writeSafetensors([
      { name: "a", dtype: "F32", shape: [2, 3], bytes: new Uint8Array(24) },
      { name: "b", dtype: "BF16", shape: [5], bytes: new Uint8Array(10) },
    ]);
    const parsesOrRefuses = async (file: Uint8Array) => {
      try {
        for (const { start, end, shape, dtype } of await read(file)) {
          expect(start >= 8 && end <= file.length).toBe(true);
          expect(shape.reduce((a, b) => a * b, BYTES_PER_ELEMENT[dtype])).toBe(end - start);
        }
      } catch (error) {
        expect(error).toBeInstanceOf(CheckpointError);
      }
    };
    await fc.assert(
      fc.asyncProperty(fc.nat(good.length - 1), fc.nat(255), fc.nat(good.length), async (at, byte, length) => {
        const damaged = good.slice();
        damaged[at] = byte;
        await parsesOrRefuses(damaged);
        await parsesOrRefuses(good.slice(0, length));
      }),
    );
    await fc.assert(fc.asyncProperty(fc.uint8Array(), parsesOrRefuses));
    await fc.assert(fc.asyncProperty(fc.json(), fc.nat(64), (json, data) => parsesOrRefuses(fileOf(json, data))));
    const entry = fc.record({
      dtype: fc.constantFrom("F32", "BF16", "F16", "I64"),
      shape: fc.array(fc.nat(4), { maxLength: 3 }),
      data_offsets: fc.tuple(fc.nat(64), fc.nat(64)),
    });
    const header = fc.dictionary(fc.string(), entry, { maxKeys: 4 });
    await fc.assert(fc.asyncProperty(header, fc.nat(64), (json, data) => parsesOrRefuses(fileOf(json, data))));
  });

  it("refuses every proper beginning of a file", () => {
    const good = writeSafetensors([{ name: "a", dtype: "F32", shape: [3], bytes: new Uint8Array(12) }]);
    return Promise.all(
      Array.from(good, (_, length) => expect(read(good.slice(0, length))).rejects.toThrow(CheckpointError)),
    );
  });
});

describe("writing", () => {
  it("round-trips names, formats, shapes and bytes", async () => {
    const tensor = fc
      .record({
        dtype: fc.constantFrom<TensorDtype>("F32", "BF16", "F16"),
        shape: fc.array(fc.nat(5), { maxLength: 3 }),
        seed: fc.nat(255),
      })
      .map(({ dtype, shape, seed }): Omit<SafetensorsTensor, "name"> => {
        const bytes = new Uint8Array(shape.reduce((a, b) => a * b, BYTES_PER_ELEMENT[dtype]));
        return { dtype, shape, bytes: bytes.map((_, i) => i + seed) };
      });
    const named = fc
      .dictionary(
        fc.string({ unit: "grapheme" }).filter((name) => name !== "__metadata__"),
        tensor,
      )
      .map((byName) => Object.entries(byName).map(([name, rest]) => ({ name, ...rest })));
    await fc.assert(
      fc.asyncProperty(named, async (tensors) => {
        const file = writeSafetensors(tensors, { format: "pt" });
        const entries = await read(file);
        const back = entries.map(({ start, end, ...rest }) => ({ ...rest, bytes: file.slice(start, end) }));
        const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);
        expect(back.sort(byName)).toEqual([...tensors].sort(byName));
      }),
    );
  });

  it("starts the data at a multiple of 8 bytes", () => {
    for (let length = 1; length < 20; length++) {
      const file = writeSafetensors([{ name: "n".repeat(length), dtype: "F32", shape: [], bytes: new Uint8Array(4) }]);
      expect((file.length - 4) % 8).toBe(0);
    }
  });

  it("refuses bytes that do not fit, and repeated names", () => {
    const tensor: SafetensorsTensor = { name: "a", dtype: "F16", shape: [3], bytes: new Uint8Array(6) };
    expect(() => writeSafetensors([{ ...tensor, shape: [2] }])).toThrow('tensor "a": 6 bytes do not match F16 [2]');
    expect(() => writeSafetensors([tensor, tensor])).toThrow('tensor name "a" is taken');
  });

  it("matches the layout of the specification byte by byte", () => {
    const header = '{"a":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]}}';
    const file = writeSafetensors([{ name: "a", dtype: "BF16", shape: [1], bytes: new Uint8Array([0x80, 0x3f]) }]);
    expect([...file.slice(0, 8)]).toEqual([56, 0, 0, 0, 0, 0, 0, 0]);
    expect(new TextDecoder().decode(file.slice(8, 64))).toBe(header.padEnd(56));
    expect([...file.slice(64)]).toEqual([0x80, 0x3f]);
    expect(parseSafetensorsHeader("a", file.slice(8, 64), file.length)).toHaveLength(1);
  });
});

describe("files in memory", () => {
  const tensors: SafetensorsTensor[] = [
    { name: "a", dtype: "F32", shape: [2], bytes: Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8) },
    { name: "b", dtype: "F16", shape: [1, 1], bytes: Uint8Array.of(9, 10) },
  ];

  it("give back tensors and metadata", () => {
    const file = writeSafetensors(tensors, { settings: '{"steps":3}' });
    expect(parseSafetensors("x", file)).toEqual({ tensors, metadata: { settings: '{"steps":3}' } });
    expect(parseSafetensors("x", writeSafetensors(tensors))).toEqual({ tensors, metadata: {} });
  });

  it("are refused by name when they are cut off, or their metadata is no text", () => {
    const file = writeSafetensors(tensors);
    for (const length of [0, 7, 20, file.length - 1]) {
      expect(() => parseSafetensors("x", file.subarray(0, length))).toThrow(CheckpointError);
    }
    expect(() => parseSafetensors("x", fileOf({ __metadata__: { step: 3 } }, 0))).toThrow('x: metadata "step"');
  });
});
