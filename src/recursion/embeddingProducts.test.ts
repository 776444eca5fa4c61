/** Products in blocks against products one by one: odd numbers of vectors, tokens that fill no block, several looks. */
import { describe, expect, it } from "vitest";
import { SHOW_IDS } from "../../tests/fixtures/showIds";
import type { LanguageModel } from "../model/languageModel";
import { Random } from "../random/random";
import { embeddingProducts } from "./embeddingProducts";
import { plainNearestTokens } from "./lens";

function languageOf(vocabSize: number, hiddenSize: number) {
  const random = new Random(vocabSize, hiddenSize);
  const table = Float32Array.from({ length: vocabSize * hiddenSize }, () => random.normal());
  let looks = 0;
  const language = {
    id: "table",
    tokenizer: SHOW_IDS,
    config: { vocabSize, hiddenSize },
    embed: async (ids: ArrayLike<number>) => {
      looks++;
      const rows = Array.from(ids, (id) => table.subarray(id * hiddenSize, (id + 1) * hiddenSize));
      return Float32Array.from(rows.flatMap((row) => [...row]));
    },
  } as unknown as LanguageModel;
  return { language, table, looks: () => looks };
}

describe("embeddingProducts", () => {
  it.each([
    [1, 1, 1],
    [2, 3, 5],
    [3, 7, 33],
    [5, 131, 36],
    [0, 9, 4],
    // More than one look: 8 MiB hold four rows of these.
    [1, 5, 2 ** 19],
  ])("%i vectors, %i tokens, width %i", async (vectors, vocabSize, hiddenSize) => {
    const { language, table, looks } = languageOf(vocabSize, hiddenSize);
    const random = new Random(7, vectors);
    const values = Float32Array.from({ length: vectors * hiddenSize }, () => random.normal());
    const found = await embeddingProducts(language, values);
    expect(found).toHaveLength(vectors);
    found.forEach((products, vector) => {
      const wanted = Float32Array.from({ length: vocabSize }, (_, id) => {
        let sum = 0;
        for (let i = 0; i < hiddenSize; i++) sum += values[vector * hiddenSize + i]! * table[id * hiddenSize + i]!;
        return sum;
      });
      expect(products).toEqual(wanted);
    });
    expect(looks()).toBe(hiddenSize > 1000 ? 2 : 1);
  });

  it("finds the token whose embedding a vector is", async () => {
    const { language, table } = languageOf(50, 12);
    const embeddingLengths = Float32Array.from({ length: 50 }, (_, id) =>
      Math.hypot(...table.subarray(id * 12, (id + 1) * 12)),
    );
    const embeddingNorms = { mean: 1, low: 1, high: 1 };
    const vectors = Float32Array.from([17, 3, 49].flatMap((id) => [...table.subarray(id * 12, (id + 1) * 12)]));
    const nearest = await plainNearestTokens({ language, embeddingLengths, embeddingNorms }, vectors, 2);
    expect(nearest.map(([first]) => first?.id)).toEqual([17, 3, 49]);
    for (const [first, second] of nearest) {
      expect(first?.probability).toBeCloseTo(1, 5);
      expect(second?.probability).toBeLessThan(0.999);
    }
  });
});
