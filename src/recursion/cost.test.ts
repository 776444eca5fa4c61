import { describe, expect, it } from "vitest";
import type { ModelConfig } from "../checkpoint/config";
import { bodyMultiplyAdds, headMultiplyAdds } from "./cost";

/** As Qwen2.5-0.5B. */
const config: ModelConfig = {
  modelType: "qwen2",
  vocabSize: 151_936,
  hiddenSize: 896,
  intermediateSize: 4864,
  layers: 24,
  heads: 14,
  kvHeads: 2,
  headDim: 64,
  ropeTheta: 1e6,
  rmsNormEps: 1e-6,
  tieWordEmbeddings: true,
  qkvBias: true,
  oBias: false,
  qkNorm: false,
  maxPositions: 32_768,
  eosIds: [],
};

describe("multiply-adds", () => {
  it("of a row are its matrices' parameters, and two for each key and head's width", () => {
    // q and o are 896 x 896, k and v 128 x 896, gate, up and down 4864 x 896.
    const matrices = 24 * (2 * 896 * 896 + 2 * 128 * 896 + 3 * 4864 * 896);
    expect(bodyMultiplyAdds(config, 0, 1)).toBe(matrices + 24 * 2 * 896);
    expect(bodyMultiplyAdds(config, 9, 10)).toBe(matrices + 24 * 2 * 896 * 10);
  });

  it("of rows add up, however they are cut", () => {
    const whole = bodyMultiplyAdds(config, 3, 40);
    expect(bodyMultiplyAdds(config, 3, 17) + bodyMultiplyAdds(config, 17, 40)).toBe(whole);
    expect(bodyMultiplyAdds(config, 7, 7)).toBe(0);
  });

  it("of the head are a quarter of a token's in a small model with a large vocabulary", () => {
    const head = headMultiplyAdds(config);
    expect(head).toBe(151_936 * 896);
    expect(head / (head + bodyMultiplyAdds(config, 0, 1))).toBeCloseTo(0.276, 2);
  });
});
