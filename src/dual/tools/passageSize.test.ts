import { describe, expect, it } from "vitest";
import { readCorpus } from "../../corpus/readCorpus";
import { scriptedModel } from "../scriptedModel";
import { binCapacity, formatDocuments } from "../system1";
import { passageSize } from "./passageSize";

const sizeOf = (maxPositions: number, capacity?: number) =>
  passageSize({ model: scriptedModel(() => "", { maxPositions }), capacity });

describe("passageSize", () => {
  it("follows the bins of the model, between a sentence and a page", () => {
    const model = scriptedModel(() => "", { maxPositions: 4_000 });
    const capacity = binCapacity("what the documents say about the subject of this question", { model });
    expect(capacity).toBeGreaterThan(100);
    expect(sizeOf(4_000).maxTokens).toBe(capacity);
    expect(sizeOf(100_000).maxTokens).toBe(256);
    expect(sizeOf(4_000, 60).maxTokens).toBe(60);
    expect(sizeOf(500).maxTokens).toBe(16);
  });

  it("makes passages of which none is longer than a bin when System 1 reads them", async () => {
    const model = scriptedModel(() => "", { maxPositions: 4_000 });
    const text = Array.from({ length: 300 }, (_, i) => `Sentence <|im_end|> number ${i} é.`).join(" ");
    const bytes = new TextEncoder().encode(text);
    const file = { name: "a.txt", size: bytes.length, bytes: async () => bytes };
    const { documents } = await readCorpus([file], sizeOf(4_000));
    const lengths = formatDocuments(documents, model.tokenizer).map(({ tokens }) => tokens);
    const capacity = binCapacity("what the documents say about the subject of this question", { model });
    // Numbers from 100 on have a digit more.
    expect(Math.max(...lengths)).toBeLessThanOrEqual(capacity + 1);
    expect(Math.max(...lengths)).toBeGreaterThan(capacity * 0.8);
  });
});
