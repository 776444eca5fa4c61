/** Which sequences share a block: everything exactly once, within the limits, and no more waste than allowed. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { groupSequences } from "./grouping";

const LIMITS = { canPad: true, maxPositions: 2000, maxSequences: 8 };

describe("groupSequences", () => {
  it("takes every sequence once and keeps the limits", () => {
    const sequences = fc.array(fc.tuple(fc.integer({ min: 1, max: 3000 }), fc.integer({ min: 0, max: 500 })));
    fc.assert(
      fc.property(sequences, (lengths) => {
        const prompts = lengths.map(([prompt]) => prompt);
        const later = lengths.map(([, more]) => more);
        const groups = groupSequences(prompts, later, LIMITS);
        expect(groups.flat().sort((a, b) => a - b)).toEqual([...prompts.keys()]);
        for (const group of groups) {
          const longest = Math.max(...group.map((index) => prompts[index]!));
          const most = Math.max(...group.map((index) => later[index]!));
          const waste = group.reduce((sum, index) => sum + longest - prompts[index]!, 0);
          expect(group.length).toBeLessThanOrEqual(8);
          expect(group.length === 1 || group.length * (longest + most) <= 2000).toBe(true);
          expect(waste <= Math.max(128, 0.5 * group.length * longest)).toBe(true);
        }
      }),
    );
  });

  it("keeps a usual batch together", () => {
    expect(groupSequences([300, 310, 290, 305], [64, 64, 64, 64], LIMITS)).toEqual([[1, 3, 0, 2]]);
  });

  it("puts only equal lengths together where there is no padding", () => {
    const groups = groupSequences([5, 7, 5, 6, 7], [1, 1, 1, 1, 1], { ...LIMITS, canPad: false });
    expect(groups).toEqual([[1, 4], [3], [0, 2]]);
  });
});
