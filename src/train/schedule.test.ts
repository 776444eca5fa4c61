import { describe, expect, it } from "vitest";
import { cosineRate } from "./schedule";

describe("cosineRate", () => {
  const schedule = { learningRate: 0.4, warmupSteps: 4, steps: 24, finalShare: 0.1 };

  it("rises linearly, falls by half a cosine and stays", () => {
    expect([1, 2, 4].map((step) => cosineRate(step, schedule))).toEqual([0.1, 0.2, 0.4]);
    expect(cosineRate(14, schedule)).toBeCloseTo(0.4 * 0.55, 12);
    expect(cosineRate(24, schedule)).toBeCloseTo(0.04, 12);
    expect(cosineRate(1000, schedule)).toBeCloseTo(0.04, 12);
    const rates = Array.from({ length: 21 }, (_, i) => cosineRate(4 + i, schedule));
    expect(rates.every((rate, i) => i === 0 || rate < (rates[i - 1] as number))).toBe(true);
  });

  it("does without warm-up, and survives runs that are all warm-up", () => {
    expect(cosineRate(1, { learningRate: 1, warmupSteps: 0, steps: 1 })).toBeCloseTo(0, 12);
    expect(cosineRate(3, { learningRate: 1, warmupSteps: 3, steps: 3 })).toBe(1);
    expect(cosineRate(4, { learningRate: 1, warmupSteps: 3, steps: 3 })).toBeCloseTo(0, 12);
  });
});
