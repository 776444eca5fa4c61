/** Each filter by hand, their order, and that draws follow the probabilities. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Random } from "../random/random";
import {
  applyRepetitionPenalty,
  argmax,
  drawToken,
  minP,
  nextTokenProbabilities,
  type SamplingFilters,
  topK,
  topP,
} from "./sampling";

const f64 = (...values: number[]) => Float64Array.from(values);
const logOf = (...probabilities: number[]) => Float64Array.from(probabilities, Math.log);
const keptIds = (logits: Float64Array) => [...logits.keys()].filter((id) => logits[id] !== Number.NEGATIVE_INFINITY);
const off: SamplingFilters = { temperature: 1, topK: 0, topP: 1, minP: 0, repetitionPenalty: 1 };

describe("filters", () => {
  it("penalise a seen token once, towards less likely", () => {
    expect(applyRepetitionPenalty(f64(2, -2, 2, 0), [0, 1, 0, 3], 2)).toEqual(f64(1, -4, 2, 0));
  });

  it("keep the k largest", () => {
    expect(keptIds(topK(f64(1, 3, 2, 0), 2))).toEqual([1, 2]);
    expect(keptIds(topK(f64(1, 3, 2, 0), 0))).toEqual([0, 1, 2, 3]);
    expect(keptIds(topK(f64(1, 3, 2, 0), 9))).toEqual([0, 1, 2, 3]);
    expect(keptIds(topK(f64(1, 3, 1, 1), 2))).toEqual([0, 1, 2, 3]);
  });

  it("keep the fewest tokens that reach p", () => {
    const logits = logOf(0.1, 0.5, 0.15, 0.25);
    expect(keptIds(topP(logits, 0.49))).toEqual([1]);
    expect(keptIds(topP(logits, 0.51))).toEqual([1, 3]);
    expect(keptIds(topP(logits, 0.76))).toEqual([1, 2, 3]);
    expect(keptIds(topP(logits, 0))).toEqual([1]);
    expect(keptIds(topP(logits, 1))).toEqual([0, 1, 2, 3]);
  });

  it("keep all of what topP must, and nothing it need not", () => {
    const logits = fc.array(fc.double({ min: -5, max: 5, noNaN: true }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(logits, fc.double({ min: 0.01, max: 0.99, noNaN: true }), (values, p) => {
        const kept = keptIds(topP(Float64Array.from(values), p));
        const total = values.reduce((sum, value) => sum + Math.exp(value), 0);
        const mass = (ids: number[]) => ids.reduce((sum, id) => sum + Math.exp(values[id]!), 0) / total;
        const least = Math.min(...kept.map((id) => values[id]!));
        expect(mass(kept)).toBeGreaterThanOrEqual(p - 1e-9);
        expect(mass(kept.filter((id) => values[id]! > least + 1e-9))).toBeLessThan(p + 1e-9);
      }),
    );
  });

  it("keep what is at least p times as likely as the best", () => {
    const logits = logOf(0.1, 0.5, 0.15, 0.25);
    expect(keptIds(minP(logits, 0.29))).toEqual([1, 2, 3]);
    expect(keptIds(minP(logits, 0.51))).toEqual([1]);
    expect(keptIds(minP(logits, 0))).toEqual([0, 1, 2, 3]);
  });
});

describe("nextTokenProbabilities", () => {
  it("is the softmax when everything is off", () => {
    const probabilities = nextTokenProbabilities(logOf(0.2, 0.3, 0.5), off);
    expect([...probabilities].map((p) => p.toFixed(12))).toEqual([
      "0.200000000000",
      "0.300000000000",
      "0.500000000000",
    ]);
  });

  it("puts everything on the first best for temperature 0, penalty included", () => {
    expect(nextTokenProbabilities(f64(1, 3, 3), { ...off, temperature: 0 })).toEqual(f64(0, 1, 0));
    const penalized = { ...off, temperature: 0, repetitionPenalty: 2 };
    expect(nextTokenProbabilities(f64(1, 3, 2.9), penalized, [1])).toEqual(f64(0, 0, 1));
    expect(argmax(f64(-3, -1, -1))).toBe(1);
  });

  it("applies temperature before the cuts, and topP to what topK left", () => {
    // At temperature 2, 0.64 : 0.16 : 0.04 : 0.01 becomes 8 : 4 : 2 : 1.
    const logits = logOf(0.64, 0.16, 0.04, 0.01);
    const kept = (filters: Partial<SamplingFilters>) =>
      [...nextTokenProbabilities(logits, { ...off, temperature: 2, ...filters })].map((p) => Math.round(p * 1e6) / 1e6);
    expect(kept({})).toEqual([0.533333, 0.266667, 0.133333, 0.066667]);
    expect(kept({ topP: 0.6 })).toEqual([0.666667, 0.333333, 0, 0]);
    expect(kept({ topK: 2, topP: 0.66 })).toEqual([1, 0, 0, 0]);
    expect(kept({ minP: 0.2 })).toEqual([0.571429, 0.285714, 0.142857, 0]);
  });
});

describe("drawToken", () => {
  it("splits [0, 1) among the tokens in the order of their ids", () => {
    const probabilities = f64(0.25, 0, 0.5, 0.25);
    expect([0, 0.2499, 0.25, 0.7499, 0.75, 0.9999].map((uniform) => drawToken(probabilities, uniform))).toEqual([
      0, 0, 2, 2, 3, 3,
    ]);
    expect(drawToken(f64(0, 0.3, 0.6, 0), 0.95)).toBe(2);
  });

  it("draws as often as the probabilities say", () => {
    const random = new Random(7);
    const counts = [0, 0, 0];
    for (let i = 0; i < 30000; i++) {
      counts[drawToken(f64(0.2, 0.3, 0.5), random.uniform())]!++;
    }
    expect(counts.map((count) => Math.round((count / 30000) * 50) / 50)).toEqual([0.2, 0.3, 0.5]);
  });
});
