import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { martelloTothLowerBound, sumLowerBound } from "./bounds";
import { PACKING_ALGORITHMS, type PackingAlgorithm, type PackingStep, pack, packingSteps } from "./pack";

const algorithms = fc.constantFrom(...PACKING_ALGORITHMS);
const capacities = fc.integer({ min: 1, max: 40 });
/** Lengths from empty to twice a bin. */
const cases = capacities.chain((capacity) =>
  fc.record({
    capacity: fc.constant(capacity),
    lengths: fc.array(fc.integer({ min: 0, max: 2 * capacity }), { maxLength: 30 }),
  }),
);
/** Few items, each of 1 to a whole bin, so that the best packing can be searched for. */
const smallCases = capacities.chain((capacity) =>
  fc.record({
    capacity: fc.constant(capacity),
    lengths: fc.array(fc.integer({ min: 1, max: capacity }), { minLength: 1, maxLength: 8 }),
  }),
);

/** Fewest bins by trying every assignment (up to the naming of bins). */
function optimum(lengths: readonly number[], capacity: number): number {
  let best = lengths.length;
  const used: number[] = [];
  const place = (item: number) => {
    if (used.length >= best) return;
    if (item === lengths.length) {
      best = used.length;
      return;
    }
    const length = lengths[item] as number;
    for (let bin = 0; bin < used.length; bin++) {
      if ((used[bin] as number) + length > capacity) continue;
      used[bin] = (used[bin] as number) + length;
      place(item + 1);
      used[bin] = (used[bin] as number) - length;
    }
    used.push(length);
    place(item + 1);
    used.pop();
  };
  place(0);
  return best;
}

function allSteps(lengths: readonly number[], capacity: number, algorithm: PackingAlgorithm): PackingStep[] {
  return [...packingSteps(lengths, capacity, algorithm)];
}

const itemsOf = (lengths: readonly number[], capacity: number, algorithm: PackingAlgorithm) =>
  pack(lengths, capacity, algorithm).bins.map((bin) => bin.items);

describe("pack by hand", () => {
  const lengths = [5, 7, 5, 2, 4, 2, 5];

  it("packs the same items in the way that each algorithm is defined", () => {
    expect(itemsOf(lengths, 10, "ffd")).toEqual([[1, 3], [0, 2], [6, 4], [5]]);
    expect(itemsOf(lengths, 10, "ff")).toEqual([[0, 2], [1, 3], [4, 5], [6]]);
    expect(itemsOf(lengths, 10, "nf")).toEqual([[0], [1], [2, 3], [4, 5], [6]]);
    expect(itemsOf(lengths, 10, "one")).toEqual([[0], [1], [2], [3], [4], [5], [6]]);
    // The last item fits bins 0 (5 free) and 1 (2 free): the fuller one takes it.
    expect(itemsOf([5, 8, 2], 10, "bf")).toEqual([[0], [1, 2]]);
    expect(itemsOf([5, 8, 2], 10, "ff")).toEqual([[0, 2], [1]]);
  });

  it("reports bounds and utilization", () => {
    expect(pack(lengths, 10, "ffd")).toMatchObject({
      capacity: 10,
      lowerBound: 3,
      utilization: 30 / 40,
      truncated: [],
    });
  });

  it("cuts items longer than a bin, gives each a bin of its own and reports it", () => {
    const packing = pack([3, 25, 10, 11], 10, "ffd");
    expect(packing.bins).toEqual([
      { items: [1], used: 10 },
      { items: [3], used: 10 },
      { items: [2], used: 10 },
      { items: [0], used: 3 },
    ]);
    expect(packing).toMatchObject({ truncated: [1, 3], lowerBound: 4, utilization: 33 / 40 });
    // Nothing joins a truncated item, not even an empty one.
    expect(itemsOf([25, 0], 10, "ff")).toEqual([[0], [1]]);
  });

  it("takes no items and empty items", () => {
    expect(pack([], 10, "ffd")).toEqual({ bins: [], capacity: 10, lowerBound: 0, utilization: 0, truncated: [] });
    expect(pack([0, 0], 10, "nf").bins).toEqual([{ items: [0, 1], used: 0 }]);
  });

  it("keeps the order of equal lengths and prefers the first of equally full bins", () => {
    expect(itemsOf([4, 4, 4, 4], 8, "ffd")).toEqual([
      [0, 1],
      [2, 3],
    ]);
    expect(itemsOf([6, 6, 2], 8, "bf")).toEqual([[0, 2], [1]]);
  });

  it.each([
    ["capacity", [1], 0, "ffd", "capacity must be a whole number of at least 1 token; got 0"],
    ["capacity", [1], 1.5, "ffd", "capacity must be a whole number"],
    ["capacity", [1], Number.NaN, "ffd", "capacity must be a whole number"],
    ["lengths", [1, -1], 10, "ffd", "lengths[1] must be a whole number of tokens, 0 or more; got -1"],
    ["lengths", [0.5], 10, "ffd", "lengths[0] must be"],
    ["lengths", new Array(2), 10, "ffd", "lengths[0] must be"],
    ["algorithm", [1], 10, "best", "algorithm must be one of ffd, ff, nf, bf, one; got best"],
  ])("refuses a bad %s and names it", (_name, bad, capacity, algorithm, message) => {
    expect(() => pack(bad as number[], capacity, algorithm as PackingAlgorithm)).toThrow(message);
    // Before the first step, not at it.
    expect(() => packingSteps(bad as number[], capacity, algorithm as PackingAlgorithm)).toThrow(message);
  });
});

describe("pack always", () => {
  it("places every item once, over-fills no bin and leaves truncated items alone", () => {
    fc.assert(
      fc.property(cases, algorithms, ({ lengths, capacity }, algorithm) => {
        const packing = pack(lengths, capacity, algorithm);
        const placed = packing.bins.flatMap((bin) => bin.items).sort((a, b) => a - b);
        expect(placed).toEqual(lengths.map((_, item) => item));
        expect(packing.truncated).toEqual(placed.filter((item) => (lengths[item] as number) > capacity));
        for (const bin of packing.bins) {
          const used = bin.items.reduce((sum, item) => sum + Math.min(lengths[item] as number, capacity), 0);
          expect(bin.used).toBe(used);
          expect(used).toBeLessThanOrEqual(capacity);
          if (bin.items.some((item) => packing.truncated.includes(item))) expect(bin.items).toHaveLength(1);
        }
        expect(packing.bins.length).toBeGreaterThanOrEqual(packing.lowerBound);
        expect(packing.utilization).toBeLessThanOrEqual(1);
      }),
    );
  });

  it("stays within the proven factors of the best packing", () => {
    fc.assert(
      fc.property(smallCases, ({ lengths, capacity }) => {
        const best = optimum(lengths, capacity);
        const bins = (algorithm: PackingAlgorithm) => pack(lengths, capacity, algorithm).bins.length;
        expect(bins("ffd")).toBeLessThanOrEqual((11 / 9) * best + 6 / 9);
        expect(bins("nf")).toBeLessThanOrEqual(2 * best - 1);
        expect(bins("ff")).toBeLessThanOrEqual(Math.floor(1.7 * best));
        expect(bins("bf")).toBeLessThanOrEqual(Math.floor(1.7 * best));
        expect(bins("one")).toBe(lengths.length);
      }),
      { numRuns: 300 },
    );
  });

  it("bounds the best packing from below, the stronger bound at least as high", () => {
    fc.assert(
      fc.property(smallCases, ({ lengths, capacity }) => {
        const best = optimum(lengths, capacity);
        const stronger = martelloTothLowerBound(lengths, capacity);
        expect(stronger).toBeGreaterThanOrEqual(sumLowerBound(lengths, capacity));
        expect(stronger).toBeLessThanOrEqual(best);
      }),
      { numRuns: 300 },
    );
    expect([sumLowerBound([6, 6, 6], 10), martelloTothLowerBound([6, 6, 6], 10)]).toEqual([2, 3]);
    expect([sumLowerBound([7, 7, 4, 4], 10), martelloTothLowerBound([7, 7, 4, 4], 10)]).toEqual([3, 3]);
    expect(martelloTothLowerBound([], 10)).toBe(0);
    // 9 and 9 are alone beside items of 2; 6 and 2 and 2 share a bin.
    expect([sumLowerBound([9, 9, 6, 2, 2], 10), martelloTothLowerBound([9, 9, 6, 2, 2], 10)]).toEqual([3, 3]);
    expect([sumLowerBound([8, 8, 3, 3], 10), martelloTothLowerBound([8, 8, 3, 3], 10)]).toEqual([3, 3]);
  });

  it("tells steps that replay to the result, each comparison true", () => {
    fc.assert(
      fc.property(cases, algorithms, ({ lengths, capacity }, algorithm) => {
        const bins: { items: number[]; used: number }[] = [];
        const cut: number[] = [];
        for (const step of allSteps(lengths, capacity, algorithm)) {
          if (step.type === "open") {
            expect(step.bin).toBe(bins.length);
            bins.push({ items: [], used: 0 });
          } else if (step.type === "compare") {
            const free = capacity - (bins[step.bin]?.used as number);
            expect(step).toMatchObject({ free, length: lengths[step.item], fits: step.length <= free });
          } else if (step.type === "truncate") {
            expect(step).toEqual({ type: "truncate", item: step.item, from: lengths[step.item], length: capacity });
            cut.push(step.item);
          } else if (step.type === "place") {
            bins[step.bin]?.items.push(step.item);
            (bins[step.bin] as { used: number }).used += step.length;
            expect(step.used).toBe(bins[step.bin]?.used);
          }
        }
        const packing = pack(lengths, capacity, algorithm);
        expect(bins).toEqual(packing.bins);
        expect(cut.sort((a, b) => a - b)).toEqual(packing.truncated);
      }),
    );
  });

  it("compares First Fit Decreasing with every earlier bin until one fits", () => {
    expect(allSteps([4, 7, 3], 10, "ffd")).toEqual([
      { type: "order", items: [1, 0, 2] },
      { type: "open", bin: 0 },
      { type: "place", item: 1, bin: 0, length: 7, used: 7 },
      { type: "compare", item: 0, bin: 0, length: 4, free: 3, fits: false },
      { type: "open", bin: 1 },
      { type: "place", item: 0, bin: 1, length: 4, used: 4 },
      { type: "compare", item: 2, bin: 0, length: 3, free: 3, fits: true },
      { type: "place", item: 2, bin: 0, length: 3, used: 10 },
    ]);
  });
});
