/** The room's own arithmetic: rows of the self-test, addresses and links. */
import { describe, expect, it } from "vitest";
import type { KernelTestCase } from "../../../src/worker/deviceProtocol";
import { kernelRows } from "./kernelRows";
import { addressOf, DEFAULTS, searchSchema } from "./search";

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

describe("addressOf", () => {
  it.each([
    ["https://a.example/models/x", "https://a.example/models/x"],
    [" http://localhost:1/ ", "http://localhost:1/"],
    ["ftp://a.example/", undefined],
    ["javascript:alert(1)", undefined],
    ["models/x", undefined],
    ["", undefined],
  ])("%j", (typed, wanted) => expect(addressOf(typed)).toBe(wanted));
});

describe("searchSchema", () => {
  it("falls back value by value, and knows no token", () => {
    expect(searchSchema.parse({})).toEqual(DEFAULTS);
    const parsed = searchSchema.parse({ source: "floppy", id: "a/b", token: "hf_secret", url: 7 });
    expect(parsed).toEqual({ ...DEFAULTS, id: "a/b" });
  });
});
