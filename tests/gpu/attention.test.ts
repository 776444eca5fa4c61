/** Norm, rotation, cache and attention of ragged batches against the f64 reference. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ModelConfig } from "../../src/checkpoint/config";
import type { Gpu } from "../../src/gpu/device";
import { openNodeGpu } from "../../src/gpu/nodeDevice";
import { referenceHidden } from "../../src/reference/decoder";
import { relativeError } from "./support/gpu";
import { LLAMA, openModels, QWEN3, someIds } from "./support/models";

/**
 * One layer of nothing but attention to speak of: what differs between shapes is heads, sharing and head dimension.
 * Lengths stand at the edges of blocks of 8 keys, of tiles of rows and of the 64 keys of the plain kernel.
 */
const LENGTHS = [1, 2, 7, 8, 9, 15, 16, 17, 31, 63, 64, 65, 66, 130];

/** Heads, key/value heads, head dimension. */
const SHAPES = [
  [1, 1, 8],
  [2, 1, 14],
  [6, 2, 16],
  [5, 1, 20],
  [8, 1, 32],
  [7, 7, 34],
  [4, 2, 64],
  [2, 2, 66],
  [3, 1, 96],
  [4, 1, 128],
] as const;

describe.each([
  ["kernels of the device", {}],
  ["kernels without subgroups", { subgroups: false }],
] as const)("attention, %s", (_, options) => {
  let gpu: Gpu;
  beforeAll(async () => {
    gpu = await openNodeGpu(options);
  });
  afterAll(() => gpu.close());

  it.each(SHAPES)("%i heads, %i key/value heads of %i", async (heads, kvHeads, headDim) => {
    for (const base of headDim % 3 === 0 ? [LLAMA] : [QWEN3]) {
      const config: ModelConfig = { ...base, layers: 1, heads, kvHeads, headDim };
      const { model, reference } = await openModels(gpu, config, { seed: headDim });
      const inputs = LENGTHS.map((length, seed) => ({ ids: someIds(length, config.vocabSize, seed) }));
      const hidden = await model.forward(inputs, { output: "hidden" });
      for (const [i, input] of inputs.entries()) {
        const error = relativeError(hidden[i]!, referenceHidden(reference, input));
        expect(error, `length ${LENGTHS[i]}`).toBeLessThan(2e-5);
      }
      model.dispose();
    }
  });

  it("attends to one key as strongly as scores of thousands demand", async () => {
    // Large norms of q and k make scores that f16, or an exponential without its maximum, could not hold.
    const config: ModelConfig = { ...QWEN3, layers: 1 };
    const { model, reference } = await openModels(gpu, config);
    const embeddings = Float32Array.from({ length: 40 * 36 }, (_, i) => Math.sin(i * i) * 1000);
    const [hidden] = await model.forward([{ embeddings }], { output: "hidden" });
    expect(relativeError(hidden!, referenceHidden(reference, { embeddings }))).toBeLessThan(1e-4);
    model.dispose();
  });

  it("turns far positions exactly", async () => {
    const config: ModelConfig = { ...QWEN3, layers: 1, maxPositions: 3000, ropeTheta: 100 };
    const { model, reference } = await openModels(gpu, config);
    const ids = someIds(700, config.vocabSize);
    const [last] = await model.forward([{ ids }], { output: "hidden", lastOnly: true });
    const expected = referenceHidden(reference, { ids }).slice(-config.hiddenSize);
    expect(relativeError(last!, expected)).toBeLessThan(2e-5);
    model.dispose();
  });
});
