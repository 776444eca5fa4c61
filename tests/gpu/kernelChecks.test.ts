/** The checks that the page's self-test runs: they pass on this device, and a wrong kernel does not. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Gpu } from "../../src/gpu/device";
import { openNodeGpu } from "../../src/gpu/nodeDevice";
import { kernelChecks } from "../../src/model/check/kernelChecks";
import { checkAdamW } from "../../src/tensor/check/adamWCheck";
import { Tape } from "../../src/tensor/tape";

const KERNELS = [...new Set(kernelChecks().map(({ kernel }) => kernel))];

describe.each([
  ["kernels of the device", {}, KERNELS],
  ["kernels for graphics cards", { software: false, subgroups: false }, ["matmul", "rmsNorm"]],
] as const)("%s", (_, options, kernels) => {
  let gpu: Gpu;
  beforeAll(async () => {
    gpu = await openNodeGpu(options);
  });
  afterAll(() => {
    gpu.pool.drain();
    expect(gpu.liveBytes).toBe(0);
    gpu.close();
  });

  it.each([...kernels])("%s passes", async (name) => {
    const checks = kernelChecks().filter(({ kernel }) => kernel === name);
    for (const check of checks) {
      expect(await check.run(gpu), check.size).toBeLessThanOrEqual(check.tolerance);
    }
  });
});

it("the optimizer's check passes and leaves nothing behind", async () => {
  const gpu = await openNodeGpu();
  const tape = new Tape(gpu);
  expect(await checkAdamW(tape)).toBeLessThan(1e-5);
  expect(tape.liveBytes).toBe(0);
  tape.dispose();
  gpu.close();
});

it("a kernel that computes something else fails its check", async () => {
  const gpu = await openNodeGpu();
  const compile = gpu.kernel.bind(gpu);
  // A little off, as a driver's fault would make it.
  gpu.kernel = (source) => compile({ ...source, code: source.code.replaceAll("+ EPSILON)", "+ EPSILON + 0.01)") });
  const norms = kernelChecks().filter(({ kernel }) => kernel === "rmsNorm");
  for (const check of norms) expect(await check.run(gpu)).toBeGreaterThan(check.tolerance);
  expect(norms.length).toBeGreaterThan(0);
  gpu.close();
});
