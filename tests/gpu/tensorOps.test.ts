/** Every operation of src/tensor, forward and backward, against the f64 reference at awkward sizes. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Gpu } from "../../src/gpu/device";
import { openNodeGpu } from "../../src/gpu/nodeDevice";
import { opCases } from "../../src/tensor/check/opCases";
import { runCase } from "../../src/tensor/check/runCase";
import { Tape } from "../../src/tensor/tape";

const cases = opCases();

describe.each([
  ["with what the device offers", {}],
  ["at the default limits, without subgroups", { raiseLimits: false, subgroups: false }],
])("operations %s", (_, options) => {
  let gpu: Gpu;
  let tape: Tape;

  beforeAll(async () => {
    gpu = await openNodeGpu(options);
    tape = new Tape(gpu);
  });
  afterAll(() => {
    tape.dispose();
    expect(gpu.liveBytes).toBe(0);
    gpu.close();
  });

  it.each([...new Set(cases.map(({ op }) => op))])("%s", async (op) => {
    for (const testCase of cases.filter((other) => other.op === op)) {
      // Twice, as gradients must add up.
      const { size, forward, gradients } = await runCase(tape, testCase, 2);
      expect(forward, `${op} ${size}`).toBeLessThan(1e-5);
      expect(Object.keys(gradients).length).toBeGreaterThan(0);
      for (const [name, error] of Object.entries(gradients)) {
        expect(error, `${op} ${size}: gradient of ${name}`).toBeLessThan(2e-5);
      }
      expect(tape.liveBytes, `${op} ${size}`).toBe(0);
    }
  });
});
