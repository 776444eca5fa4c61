import { afterEach, describe, expect, it, vi } from "vitest";
import { openGpu } from "./device";
import { fold } from "./encoder";
import { DeviceLostError, formatBytes, GpuOutOfMemoryError, GpuUnavailableError } from "./errors";

afterEach(() => vi.unstubAllGlobals());

async function refusal(options?: Parameters<typeof openGpu>[0]): Promise<GpuUnavailableError> {
  const error = await openGpu(options).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(GpuUnavailableError);
  return error;
}

describe("openGpu", () => {
  it("tells an insecure page from a browser without WebGPU", async () => {
    vi.stubGlobal("navigator", {});
    vi.stubGlobal("isSecureContext", false);
    const insecure = await refusal();
    expect(insecure.reason).toBe("insecureContext");
    expect(insecure.message).toContain("not loaded over a secure connection");
    vi.stubGlobal("isSecureContext", true);
    const without = await refusal();
    expect(without.reason).toBe("noWebGpu");
    expect(without.message).toBe("This browser has no WebGPU, or it is switched off.");
  });

  it("names a missing adapter", async () => {
    const error = await refusal({ gpu: { requestAdapter: async () => null } as unknown as GPU });
    expect(error.reason).toBe("noAdapter");
    expect(error.message).toContain("no graphics adapter");
  });

  it("passes on why an adapter refuses a device", async () => {
    const adapter = {
      features: new Set(),
      limits: {},
      requestDevice: () => Promise.reject(new Error("too many devices")),
    };
    const error = await refusal({ gpu: { requestAdapter: async () => adapter } as unknown as GPU });
    expect(error.reason).toBe("deviceRefused");
    expect(error.message).toBe("The graphics adapter refused to open a device: too many devices");
  });
});

describe("errors", () => {
  it("state bytes and reasons", () => {
    expect(new GpuOutOfMemoryError("the cache", 3 * 2 ** 30, 2 ** 20, 1536).message).toBe(
      "out of memory on the GPU: the cache needs 3.0 GiB, available is 1.0 MiB (1.5 KiB are in use)",
    );
    expect(new GpuOutOfMemoryError("x", 100, undefined, 0).message).toContain("available is less than that");
    expect(new DeviceLostError("unknown", "driver crashed").message).toBe("the GPU device was lost: driver crashed");
    expect(new DeviceLostError("unknown", " ").message).toContain("the browser gives no reason");
  });

  it.each([
    [0, "0 bytes"],
    [1023, "1023 bytes"],
    [1024, "1.0 KiB"],
    [150 * 1024, "150 KiB"],
    [2 ** 50, "1024 TiB"],
  ])("write %i bytes as people do", (bytes, text) => expect(formatBytes(bytes)).toBe(text));
});

describe("fold", () => {
  it.each([
    [0, 10],
    [1, 10],
    [10, 10],
    [11, 10],
    [99, 10],
    [100, 10],
    [65536, 65535],
    [4_000_000_000, 65535],
  ])("covers %i workgroups within %i in a dimension", (count, limit) => {
    const [x, y] = fold(count, limit);
    expect(x).toBeLessThanOrEqual(limit);
    expect(y).toBeLessThanOrEqual(limit);
    expect(x * y).toBeGreaterThanOrEqual(count);
    // Less surplus than one workgroup in every row.
    expect(x * y - count).toBeLessThan(Math.max(1, y));
  });
});
