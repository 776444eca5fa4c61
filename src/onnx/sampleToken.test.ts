/** Tokens from logits: the reference's, and the WGSL engine's order of filters with them (tests/gpu/onnx.test.ts). */
import { describe, expect, it } from "vitest";
import { Random, randomUniform } from "../random/random";
import { drawToken, nextTokenProbabilities } from "../reference/sampling";
import { sampleToken } from "./sampleToken";

const random = new Random(5);
const logits = Float32Array.from({ length: 50 }, () => 3 * random.normal());

describe("sampleToken", () => {
  it("takes the largest, of equals the first", () => {
    expect(sampleToken(Float32Array.of(1, 4, 2, 4), {}, new Set(), 0)).toBe(1);
  });

  it("draws as the reference does, with the seed's own numbers", () => {
    const filters = { temperature: 1.3, topK: 20, topP: 0.9, minP: 0.02, repetitionPenalty: 1.2 };
    const seen = new Set([3, 7, 30]);
    const probabilities = nextTokenProbabilities(Float64Array.from(logits), filters, seen);
    const drawn = Array.from({ length: 30 }, (_, step) => sampleToken(logits, { ...filters, seed: 9 }, seen, step));
    expect(drawn).toEqual(drawn.map((_, step) => drawToken(probabilities, randomUniform(9, 0, step))));
    expect(new Set(drawn).size).toBeGreaterThan(3);
  });

  it("penalizes what was seen in greedy choices too", () => {
    const best = logits.indexOf(Math.max(...logits));
    expect(sampleToken(logits, { repetitionPenalty: 1 }, new Set([best]), 0)).toBe(best);
    expect(sampleToken(logits, { repetitionPenalty: 50 }, new Set([best]), 0)).not.toBe(best);
  });

  it("gives nothing for logits that are not finite", () => {
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      expect(sampleToken(Float32Array.of(1, bad, 2), {}, new Set(), 0)).toBeUndefined();
    }
  });
});
