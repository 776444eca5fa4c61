/** Measured packings: the bins of the picture, really read, in the time of a clock that can be checked by hand. */
import { describe, expect, it } from "vitest";
import { pack } from "../packing/pack";
import { largestCapacity, measurePacking } from "./measurePacking";
import { scriptedModel } from "./scriptedModel";

const lengths = [60, 40, 40, 20, 90];
const sentences = ["A frog is green.", "The crow that lives in the old tower is black."];
const base = { lengths, capacity: 100, repetitions: 2, purpose: "colours", sentences };

describe("measurePacking", () => {
  it("reads the bins that each algorithm makes, as often as told and once before", async () => {
    const model = scriptedModel(() => "quote");
    let clock = 0;
    const progress: number[] = [];
    const rows = await measurePacking({
      ...base,
      model,
      algorithms: ["ffd", "one"],
      parallel: 2,
      now: () => ++clock,
      onProgress: (done, total) => progress.push(done / total),
    });
    expect(rows.map(({ algorithm, calls, batches }) => [algorithm, calls, batches])).toEqual([
      ["ffd", pack(lengths, 100, "ffd").bins.length, 2],
      ["one", 5, 3],
    ]);
    for (const { ms } of rows) expect(ms).toHaveLength(2);
    expect(rows[1]!.ms[0]).toBeGreaterThan(rows[0]!.ms[0]!);
    expect(rows.map(({ outputTokens, calls }) => outputTokens / calls)).toEqual([5, 5]);
    expect(progress.at(-1)).toBe(1);
    expect(model.batches).toHaveLength(3 * (2 + 3));
    // A document of 40 tokens really has so many: bytes, here.
    expect(model.batches.flat().find((prompt) => prompt.includes("[2]"))).toMatch(/\[2\] .{35,36}\n/);
  });

  it("refuses bins that the model cannot read, and ends when it is told to", async () => {
    const model = scriptedModel(() => "quote", { maxPositions: 500 });
    const most = largestCapacity(model, base.purpose);
    await expect(measurePacking({ ...base, model, algorithms: ["ffd"], capacity: most + 1 })).rejects.toThrow(
      `System 1 reads bins of at most ${most} tokens; got ${most + 1}`,
    );
    const controller = new AbortController();
    const measured = measurePacking({
      ...base,
      model,
      algorithms: ["ffd", "one"],
      signal: controller.signal,
      onProgress: () => controller.abort(new Error("enough")),
    });
    await expect(measured).rejects.toThrow("enough");
  });
});
