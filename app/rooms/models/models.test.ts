/** The room's own arithmetic: rows of the self-test, addresses and links. */
import { describe, expect, it } from "vitest";
import type { KernelTestCase } from "../../../src/worker/deviceProtocol";
import { kernelRows } from "./kernelRows";
import { DEFAULTS, publicAddress, publicId, searchSchema } from "./search";

const one = (kernel: string, more: Partial<KernelTestCase> = {}): KernelTestCase => {
  const sizes = { size: "1 x 1", forward: 1e-7, tolerance: 1e-5, passed: true, milliseconds: 2 };
  return { path: "decode", kernel, ...sizes, ...more };
};

describe("kernelRows", () => {
  it("shows the worst of each kernel and where it failed, one path at a time", () => {
    const cases = [
      one("matmul"),
      one("matmul", { size: "7 x 3", forward: 1e-2, passed: false }),
      one("rmsNorm", { path: "differentiable", backward: 3e-6 }),
      one("rmsNorm", { path: "differentiable", backward: 1e-6, forward: 2e-6 }),
    ];
    expect(kernelRows(cases, "decode")).toEqual([
      { kernel: "matmul", sizes: 2, forward: 1e-2, tolerance: 1e-5, failed: ["7 x 3"], milliseconds: 4 },
    ]);
    expect(kernelRows(cases, "differentiable")).toEqual([
      { kernel: "rmsNorm", sizes: 2, forward: 2e-6, backward: 3e-6, tolerance: 1e-5, failed: [], milliseconds: 4 },
    ]);
  });
});

describe("what of an address stays in the URL", () => {
  it.each([
    ["https://a.example/models/x?token=secret", "https://a.example/models/x"],
    ["https://me:secret@a.example/models/x#secret", "https://a.example/models/x"],
    ["me:secret@a.example/models/x", ""],
    ["https://me:secret", ""],
    ["models/x", ""],
  ])("%j", (typed, kept) => expect(publicAddress(typed)).toBe(kept));

  it.each([
    ["https://me:secret@huggingface.co/a/b", "https://huggingface.co/a/b"],
    [" a/b@v1 ", "a/b@v1"],
    ["me:secret@huggingface.co/a/b", ""],
    ["a/b?token=secret", ""],
  ])("as a model's name: %j", (typed, kept) => expect(publicId(typed)).toBe(kept));
});

describe("searchSchema", () => {
  it("falls back value by value, and knows no token", () => {
    expect(searchSchema.parse({})).toEqual(DEFAULTS);
    const parsed = searchSchema.parse({ source: "floppy", id: "a/b", token: "hf_secret", url: 7 });
    expect(parsed).toEqual({ ...DEFAULTS, id: "a/b" });
    const withSecrets = { url: "https://a.example/x?token=secret", host: "https://me:secret@a.example/" };
    expect(searchSchema.parse(withSecrets)).toEqual({
      ...DEFAULTS,
      url: "https://a.example/x",
      host: "https://a.example/",
    });
  });
});
