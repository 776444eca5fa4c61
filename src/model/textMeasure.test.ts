/** Perplexity and agreement against models whose probabilities are known. */
import { describe, expect, it } from "vitest";
import type { ModelConfig } from "../checkpoint/config";
import type { LanguageModel } from "./languageModel";
import { agreement, measureTexts } from "./textMeasure";

/** Gives the token after `id` the probability `p`, and the rest to all others alike; counts what it is asked. */
function counting(p: number, next: (id: number) => number, maxPositions = 100) {
  const vocabSize = 5;
  const windows: number[][] = [];
  const forward: LanguageModel["forward"] = async (inputs) =>
    inputs.map((input) => {
      const ids = "ids" in input ? Array.from(input.ids) : [];
      windows.push(ids);
      const rows = ids.flatMap((id) => {
        const row = new Array<number>(vocabSize).fill(Math.log((1 - p) / (vocabSize - 1)) + 7);
        row[next(id)] = Math.log(p) + 7;
        return row;
      });
      return Float32Array.from(rows);
    });
  return { model: { config: { vocabSize, maxPositions } as ModelConfig, forward }, windows };
}
const up = (id: number) => (id + 1) % 5;

describe("measureTexts", () => {
  it("gives the inverse of the probability, if that is always the same", async () => {
    const { model } = counting(0.4, up);
    const { perplexity, tokens, best } = await measureTexts(model, [[0, 1, 2, 3, 4, 0]]);
    expect(perplexity).toBeCloseTo(2.5, 5);
    expect(tokens).toBe(5);
    expect([...best]).toEqual([1, 2, 3, 4, 0]);
    const wrong = await measureTexts(model, [[0, 0, 0]]);
    expect(wrong.perplexity).toBeCloseTo(1 / 0.15, 5);
  });

  it("reads texts in windows, and leaves out those that predict nothing", async () => {
    const { model, windows } = counting(0.4, up, 4);
    const { tokens } = await measureTexts(model, [[0, 1, 2, 3, 4], [1], [], [2, 3]]);
    expect(windows).toEqual([[0, 1, 2], [2]]);
    expect(tokens).toBe(4);
    await expect(measureTexts(model, [[1]])).rejects.toThrow("no two tokens in a row");
  });
});

describe("agreement", () => {
  it("is the share of the same most probable tokens", async () => {
    const text = [[0, 1, 2, 3, 4]];
    const one = await measureTexts(counting(0.4, up).model, text);
    const other = await measureTexts(counting(0.6, (id) => (id === 2 ? 0 : up(id))).model, text);
    expect(agreement(one, one)).toBe(1);
    expect(agreement(one, other)).toBe(0.75);
    const shorter = await measureTexts(counting(0.4, up).model, [[0, 1]]);
    expect(() => agreement(one, shorter)).toThrow("4 tokens of one text, 1 of another");
  });
});
