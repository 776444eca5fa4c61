/** The device: counted bytes, errors with names, folded dispatches, reading back. */
import { describe, expect, it, onTestFinished } from "vitest";
import grid from "../../shaders/common/grid.wgsl?raw";
import type { Gpu } from "../../src/gpu/device";
import { DeviceLostError, GpuFailure, GpuOutOfMemoryError } from "../../src/gpu/errors";
import { openNodeGpu } from "../../src/gpu/nodeDevice";
import { BufferScope } from "../../src/gpu/scope";

async function open(options: Parameters<typeof openNodeGpu>[0] = {}): Promise<Gpu> {
  const gpu = await openNodeGpu(options);
  onTestFinished(() => gpu.close());
  return gpu;
}

/** Adds 1 to one element for every workgroup. */
const COUNT = `
@group(0) @binding(0) var<storage, read_write> cells: array<u32>;
@compute @workgroup_size(1)
fn forward(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) count: vec3u) {
  let number = workgroup_number(id, count);
  if (number < arrayLength(&cells)) {
    cells[number] += 1u;
  }
}`;

describe("device", () => {
  it("names itself and its limits, and uses no more than it was asked for", async () => {
    const gpu = await open();
    expect(gpu.name).not.toBe("");
    expect(gpu.limits.maxBindingBytes).toBeGreaterThanOrEqual(128 * 2 ** 20);
    const small = await open({ raiseLimits: false, subgroups: false });
    expect(small.limits).toEqual({
      maxBufferBytes: 256 * 2 ** 20,
      maxBindingBytes: 128 * 2 ** 20,
      maxWorkgroupsPerDimension: 65535,
      maxWorkgroupMemoryBytes: 16384,
      maxInvocationsPerWorkgroup: 256,
    });
    expect(small.features.has("subgroups")).toBe(false);
    expect(small.subgroupSize).toBeUndefined();
  });

  it("counts every byte and gives it back", async () => {
    const gpu = await open();
    expect(gpu.liveBytes).toBe(0);
    const buffer = await gpu.allocate("a", 1001);
    expect(gpu.liveBytes).toBe(1004);
    const scope = new BufferScope(gpu);
    await scope.allocate("b", 64);
    const uniform = await scope.uniform("c", [1, 2, 3, 4, 5]);
    expect([scope.liveBytes, gpu.liveBytes]).toEqual([96, 1100]);
    scope.free(uniform);
    scope.free(uniform);
    scope.free(undefined);
    expect(gpu.liveBytes).toBe(1068);
    scope.freeAll();
    gpu.free(buffer);
    gpu.free(buffer);
    expect(gpu.liveBytes).toBe(0);
    expect(gpu.peakBytes).toBe(1100);
  });

  it("writes at offsets and reads back", async () => {
    const gpu = await open();
    const buffer = await gpu.allocate("a", 64);
    gpu.write(buffer, 16, Uint32Array.of(7, 8, 9).subarray(1));
    expect([...new Uint32Array(await gpu.read(buffer, 12, 16))]).toEqual([0, 8, 9, 0]);
    expect((await gpu.read(buffer, 0, 0)).byteLength).toBe(0);
    const many = await Promise.all([0, 16, 20].map((offset) => gpu.read(buffer, offset, 4)));
    expect(many.map((bytes) => new Uint32Array(bytes)[0])).toEqual([0, 8, 9]);
  });

  it("folds more workgroups than fit one dimension", async () => {
    const gpu = await open();
    const count = 65535 + 1234;
    const cells = await gpu.allocate("cells", count * 4);
    const kernel = await gpu.kernel({ label: "count", code: grid + COUNT });
    const encoder = gpu.encode("count");
    encoder.dispatch(kernel, [cells], count);
    encoder.dispatch(kernel, [cells], 0);
    encoder.submit();
    const counted = new Uint32Array(await gpu.read(cells, 0, count * 4));
    expect(counted.every((value) => value === 1)).toBe(true);
    expect(() => gpu.encode("x").dispatch(kernel, [cells], [65536, 1])).toThrow(
      "count: 65536 x 1 workgroups, at most 65535",
    );
  });

  it("sees earlier dispatches of the same pass, and binds parts of buffers", async () => {
    const gpu = await open();
    const cells = await gpu.allocate("cells", 1024);
    const kernel = await gpu.kernel({ label: "count", code: grid + COUNT });
    const encoder = gpu.encode("count");
    for (let i = 0; i < 5; i++) encoder.dispatch(kernel, [cells], 4);
    encoder.dispatch(kernel, [{ buffer: cells, offset: 256, size: 8 }], 4);
    const copies = await gpu.allocate("copies", 16);
    encoder.copy(cells, 0, copies, 4, 8);
    encoder.dispatch(kernel, [cells], 4);
    encoder.submit();
    const values = new Uint32Array(await gpu.read(cells, 0, 1024));
    expect([...values.slice(0, 5), ...values.slice(64, 67)]).toEqual([6, 6, 6, 6, 0, 1, 1, 0]);
    expect([...new Uint32Array(await gpu.read(copies, 0, 16))]).toEqual([0, 5, 5, 0]);
  });

  it("refuses what exceeds the limits or the budget, with the bytes", async () => {
    const gpu = await open({ memoryBudget: 4096 });
    await gpu.allocate("first", 4000);
    const failure = await gpu.allocate("the second one", 1024).catch((error) => error);
    expect(failure).toBeInstanceOf(GpuOutOfMemoryError);
    expect(failure).toMatchObject({ neededBytes: 1024, availableBytes: 96, liveBytes: 4000 });
    expect(failure.message).toContain("the second one needs 1.0 KiB, available is 96 bytes (3.9 KiB are in use)");
    const small = await open({ caps: { maxBufferBytes: 1000 } });
    await expect(small.allocate("large", 1001)).rejects.toThrow("large needs 1004 bytes, available is 1000 bytes");
  });

  it("names a shader that does not compile, every time", async () => {
    const gpu = await open();
    const broken = { label: "broken", code: "@compute @workgroup_size(1) fn forward() { let x = undefined_name; }" };
    await expect(gpu.kernel(broken)).rejects.toThrow(/shader broken does not compile: .*undefined_name/s);
    await expect(gpu.kernel(broken)).rejects.toThrow(GpuFailure);
    const missing = { label: "nameless", code: "@compute @workgroup_size(1) fn other() {}" };
    await expect(gpu.kernel(missing)).rejects.toThrow("shader nameless does not compile");
    await expect(gpu.kernel({ label: "count", code: grid + COUNT })).resolves.toBeDefined();
  });

  it("builds the same kernel once", async () => {
    const gpu = await open();
    const source = { label: "count", code: grid + COUNT };
    const [first, second] = await Promise.all([gpu.kernel(source), gpu.kernel({ ...source })]);
    expect(first).toBe(second);
  });

  it("tells of a command that the device refused, when the result is asked for", async () => {
    const gpu = await open();
    const kernel = await gpu.kernel({ label: "count", code: grid + COUNT });
    const cells = await gpu.allocate("cells", 64);
    const other = await gpu.allocate("other", 64);
    gpu.free(cells);
    const encoder = gpu.encode("count");
    encoder.dispatch(kernel, [cells], 4);
    encoder.submit();
    await expect(gpu.read(other, 0, 4)).rejects.toThrow(/the GPU refused a command: .*cells.*destroyed/s);
  });

  it("says that it is lost, to those who wait and to those who come later", async () => {
    const gpu = await open();
    const buffer = await gpu.allocate("a", 64);
    const waiting = gpu.read(buffer, 0, 64).catch((error) => error);
    gpu.close();
    expect(await waiting).toBeInstanceOf(DeviceLostError);
    expect((await gpu.lost).message).toBe("the GPU device was lost: it was closed");
    await expect(gpu.allocate("b", 64)).rejects.toThrow(DeviceLostError);
    expect(gpu.liveBytes).toBe(0);
  });
});
