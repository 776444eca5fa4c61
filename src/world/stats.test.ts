import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { wilson95 } from "./stats";

describe("wilson95", () => {
  it("gives the published values", () => {
    // Newcombe 1998, table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
    for (const [k, n, low, high] of [
      [81, 263, 0.2553, 0.3662],
      [15, 148, 0.0624, 0.1605],
      [0, 20, 0, 0.1611],
      [1, 29, 0.0061, 0.1718],
    ] as const) {
      const [l, h] = wilson95(k, n);
      expect(l).toBeCloseTo(low, 4);
      expect(h).toBeCloseTo(high, 4);
    }
  });

  it("knows nothing without trials and stays within [0, 1] around the proportion", () => {
    expect(wilson95(0, 0)).toEqual([0, 1]);
    fc.assert(
      fc.property(fc.nat(500), fc.nat(500), (a, b) => {
        const [k, n] = [Math.min(a, b), Math.max(a, b, 1)];
        const [low, high] = wilson95(k, n);
        expect(low).toBeGreaterThanOrEqual(0);
        expect(high).toBeLessThanOrEqual(1);
        expect(low).toBeLessThanOrEqual(k / n);
        expect(high).toBeGreaterThanOrEqual(k / n);
      }),
    );
  });

  it.each([
    [-1, 3],
    [4, 3],
    [0.5, 3],
    [0, Number.NaN],
  ])("refuses %s of %s", (k, n) => {
    expect(() => wilson95(k, n)).toThrow("successes must be a whole number");
  });
});
