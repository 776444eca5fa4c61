/** Figures, guarantees, traps, the search for the best packing, and the study over seeds. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { martelloTothLowerBound, sumLowerBound } from "./bounds";
import { figuresOf, packingFigures } from "./figures";
import { guaranteedBins } from "./guarantees";
import { bestPacking } from "./optimum";
import { PACKING_ALGORITHMS, pack, packingSteps } from "./pack";
import { PackingStudy } from "./study";
import { sampled, shuffled, TRAPS, trap, uniformLengths } from "./workloads";

const bins = (lengths: number[], capacity: number, algorithm: (typeof PACKING_ALGORITHMS)[number]) =>
  pack(lengths, capacity, algorithm).bins.length;

/** The fewest bins by trying every partition of items that all fit a bin. */
function fewest(lengths: readonly number[], capacity: number): number {
  let best = lengths.length;
  const used: number[] = [];
  const place = (n: number) => {
    if (n === lengths.length) {
      best = Math.min(best, used.length);
      return;
    }
    for (const [bin, before] of [...used].entries()) {
      if (before + lengths[n]! > capacity) continue;
      used[bin] = before + lengths[n]!;
      place(n + 1);
      used[bin] = before;
    }
    used.push(lengths[n]!);
    place(n + 1);
    used.pop();
  };
  place(0);
  return best;
}

describe("figures", () => {
  it("counts what a packing costs", () => {
    const { packing, ...figures } = packingFigures([4, 7, 3, 15], 10, "ffd");
    expect(packing.bins.map(({ items }) => items)).toEqual([[3], [1, 2], [0]]);
    expect(figures).toEqual({
      bins: 3,
      // 15 is cut without asking, 7 finds only the closed bin, 4 and 3 ask the bin of 7.
      comparisons: 2,
      utilization: 24 / 30,
      waste: 6,
      longestBin: 10,
      truncated: 1,
      cut: 5,
    });
    expect(figuresOf(pack([], 10), [])).toEqual({
      bins: 0,
      utilization: 0,
      waste: 0,
      longestBin: 0,
      truncated: 0,
      cut: 0,
    });
  });

  it("agrees with the steps", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 25 }),
        fc.constantFrom(...PACKING_ALGORITHMS),
        (lengths, algorithm) => {
          const { packing, comparisons, waste } = packingFigures(lengths, 20, algorithm);
          const steps = [...packingSteps(lengths, 20, algorithm)];
          expect(packing).toEqual(pack(lengths, 20, algorithm));
          expect(comparisons).toBe(steps.filter(({ type }) => type === "compare").length);
          const read = lengths.reduce((sum, length) => sum + Math.min(length, 20), 0);
          expect(waste).toBe(packing.bins.length * 20 - read);
        },
      ),
    );
  });
});

describe("best packing", () => {
  it("finds the fewest bins and says that it did", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 4, max: 30 }).chain((capacity) =>
          fc.record({
            capacity: fc.constant(capacity),
            lengths: fc.array(fc.integer({ min: 0, max: capacity }), { maxLength: 8 }),
          }),
        ),
        ({ lengths, capacity }) => {
          const { packing, lowerBound, proven } = bestPacking(lengths, capacity);
          expect(proven).toBe(true);
          // Items of no length need a bin only when there is no other.
          expect(packing.bins.length).toBe(fewest(lengths, capacity));
          expect(lowerBound).toBe(packing.bins.length);
          expect(packing.bins.flatMap(({ items }) => items).sort((a, b) => a - b)).toEqual(lengths.map((_, i) => i));
          for (const { items, used } of packing.bins) {
            expect(items.reduce((sum, item) => sum + lengths[item]!, 0)).toBe(used);
            expect(used).toBeLessThanOrEqual(capacity);
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it("beats every algorithm where they all fail, cut items included", () => {
    // 10 is filled exactly only as 4+3+3 and 5+5.
    const lengths = [4, 5, 3, 5, 3, 25, 4, 3, 3];
    const { packing, proven } = bestPacking(lengths, 10);
    expect([packing.bins.length, proven]).toEqual([4, true]);
    expect(packing.truncated).toEqual([5]);
    expect(packing.bins.find(({ items }) => items.includes(5))).toEqual({ items: [5], used: 10 });
    expect(packing.utilization).toBe(1);
  });

  it("gives up when it was told to, with an honest range", () => {
    const { lengths, capacity } = trap("ffd");
    expect(bestPacking(lengths, capacity)).toMatchObject({ proven: true, lowerBound: 9 });
    const { packing, proven, lowerBound } = bestPacking(lengths, capacity, 5);
    expect([packing.bins.length, proven, lowerBound]).toEqual([11, false, 9]);
  });
});

describe("traps", () => {
  const table = (name: (typeof TRAPS)[number]) => {
    const { lengths, capacity } = trap(name);
    const counts = PACKING_ALGORITHMS.map((algorithm) => [algorithm, bins(lengths, capacity, algorithm)]);
    return { ...Object.fromEntries(counts), best: bestPacking(lengths, capacity).packing.bins.length };
  };

  it("each catches the algorithm that it was built for", () => {
    expect(table("ffd")).toMatchObject({ ffd: 11, best: 9 });
    expect(table("ff")).toMatchObject({ ff: 10, bf: 10, ffd: 6, best: 6 });
    expect(table("nf")).toMatchObject({ nf: 10, ffd: 6, ff: 6, best: 6 });
    expect(table("halves")).toMatchObject({ ffd: 6, best: 6 });
    const halves = trap("halves");
    expect(sumLowerBound(halves.lengths, halves.capacity)).toBe(4);
    expect(martelloTothLowerBound(halves.lengths, halves.capacity)).toBe(6);
  });

  it("the guarantees hold, and the first trap meets its own exactly", () => {
    for (const name of TRAPS) {
      const counts = table(name);
      for (const algorithm of PACKING_ALGORITHMS) {
        const most = guaranteedBins(algorithm, counts.best);
        if (most !== undefined) expect(counts[algorithm]).toBeLessThanOrEqual(most);
      }
    }
    expect(guaranteedBins("ffd", 9)).toBe(11);
    expect([6, 10, 20].map((best) => guaranteedBins("ff", best))).toEqual([10, 17, 34]);
    expect(guaranteedBins("bf", 10)).toBe(17);
    expect(guaranteedBins("nf", 6)).toBe(11);
    expect([guaranteedBins("nf", 0), guaranteedBins("ffd", 1), guaranteedBins("one", 3)]).toEqual([0, 1, undefined]);
  });
});

describe("workloads and studies", () => {
  it("draw the same items for the same seed, within their limits", () => {
    const lengths = uniformLengths(5, 400, 20, 24);
    expect(lengths).toEqual(uniformLengths(5, 400, 20, 24));
    expect(lengths).not.toEqual(uniformLengths(6, 400, 20, 24));
    expect([...new Set(lengths)].sort()).toEqual([20, 21, 22, 23, 24]);
    const items = ["a", "b", "c", "d", "e", "f"];
    expect(shuffled(0, items)).toEqual(items);
    expect(shuffled(3, items)).not.toEqual(items);
    expect(shuffled(3, items).sort()).toEqual(items);
    expect(new Set(sampled(1, 4, items)).size).toBe(4);
    expect(sampled(1, 9, items).sort()).toEqual(items);
  });

  it("a study counts how far each algorithm is from the bound, and remembers a seed of each case", () => {
    const draw = (seed: number) => uniformLengths(seed, 12, 20, 90);
    const study = new PackingStudy({ draw, capacity: 100, algorithms: ["ffd", "nf", "one"], seeds: 40 });
    study.next();
    const early = study.rowsNow();
    while (!study.finished) study.next();
    expect(study.done).toBe(40);
    expect(early[0]!.counts.reduce((sum, count) => sum + count)).toBe(1);
    for (const row of study.rowsNow()) {
      expect(row.counts.reduce((sum, count) => sum + count)).toBe(40);
      expect(row.bins).toBe(study.lowerBounds + row.extra);
      for (const [extra, seed] of row.firstSeed.entries()) {
        expect(seed === undefined).toBe(row.counts[extra] === 0);
        if (seed === undefined) continue;
        const lengths = draw(seed);
        expect(bins(lengths, 100, row.algorithm) - martelloTothLowerBound(lengths, 100)).toBe(extra);
      }
    }
    const [ffd, nf, one] = study.rowsNow();
    expect(ffd!.extra).toBeLessThan(nf!.extra);
    expect(one!.bins).toBe(40 * 12);
    expect(one!.comparisons).toBe(0);
  });
});
