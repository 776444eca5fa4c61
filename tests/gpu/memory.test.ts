/** The estimate of a model's memory against what is really allocated. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { QUANTIZATIONS } from "../../src/checkpoint/quantize";
import type { Gpu } from "../../src/gpu/device";
import { openNodeGpu } from "../../src/gpu/nodeDevice";
import { BufferScope } from "../../src/gpu/scope";
import { estimateMemory } from "../../src/model/memoryEstimate";
import { loadWeights } from "../../src/model/weights";
import { loadWgslModel } from "../../src/model/wgslModel";
import { CHECKPOINTS, openRandom } from "../fixtures/onnxModels";
import { SHOW_IDS, someIds } from "../fixtures/showIds";

let gpu: Gpu;
beforeAll(async () => {
  gpu = await openNodeGpu();
});
afterAll(() => gpu.close());

describe.each(Object.keys(CHECKPOINTS))("%s", (name) => {
  it.each(QUANTIZATIONS)("%s weights take the bytes that were told", async (quantization) => {
    const { checkpoint } = await openRandom(name);
    const scope = new BufferScope(gpu);
    await loadWeights(scope, checkpoint, { quantization });
    const { dtype } = CHECKPOINTS[name]!;
    const { limits, isSoftware } = gpu;
    const options = { stored: dtype, quantization, context: 20, limits, isSoftware };
    expect(estimateMemory(checkpoint.config, options).weights).toBe(scope.liveBytes);
    scope.freeAll();
  });
});

it("a generation takes little more or less than was told", async () => {
  const name = "mistral, widths of 32";
  const { checkpoint } = await openRandom(name);
  const model = await loadWgslModel({ id: "random", gpu, checkpoint, tokenizer: SHOW_IDS });
  const loaded = model.liveBytes;
  const requests = Array.from({ length: 4 }, () => ({ input: { ids: someIds(88, 131) }, maxTokens: 8 }));
  await model.generate(requests);
  const { limits, isSoftware } = gpu;
  const options = { stored: "BF16", context: 96, sequences: 4, limits, isSoftware } as const;
  const { keyValueCache, activations } = estimateMemory(checkpoint.config, options);
  const measured = model.liveBytes - loaded;
  // The estimate is for prompts that fill the context; allocations are rounded up, and sampling has buffers of its own.
  expect(measured / (keyValueCache + activations)).toBeGreaterThan(0.8);
  expect(measured / (keyValueCache + activations)).toBeLessThan(1.3);
  model.dispose();
});
