import { describe, expect, it } from "vitest";
import { type ScriptedModel, scriptedModel } from "../dual/scriptedModel";
import type { LanguageModel } from "../model/languageModel";
import { LATENT_MARKER, slottedModel } from "./slottedModel";

/** A scripted model whose embedding of a byte is [byte, 0, ...]. */
function model(): LanguageModel & Pick<ScriptedModel, "requests"> {
  const scripted = scriptedModel(() => "yes");
  const hiddenSize = 3;
  return Object.assign(Object.create(scripted) as ScriptedModel, {
    config: { ...scripted.config, hiddenSize, vocabSize: 256 },
    embed: async (ids: ArrayLike<number>) => {
      const rows = new Float32Array(ids.length * hiddenSize);
      Array.from(ids).forEach((id, row) => {
        rows[row * hiddenSize] = id;
      });
      return rows;
    },
  });
}

describe("a model whose prompts may hold latent vectors", () => {
  it("counts them as tokens and hands them on in their places", async () => {
    const own = model();
    const { hiddenSize } = own.config;
    const vectors = (count: number, first: number) =>
      Float32Array.from({ length: count * hiddenSize }, (_, i) => (i % hiddenSize === 0 ? first + i / hiddenSize : 0));
    const slotted = slottedModel(own, [vectors(2, 1000), vectors(1, 2000)]);
    const text = `a${LATENT_MARKER}b${LATENT_MARKER}`;
    const ids = slotted.tokenizer.encode(text);
    expect(ids).toHaveLength(5);
    expect(slotted.tokenizer.countTokens(text)).toBe(5);
    expect(slotted.tokenizer.decode(ids)).toBe("ab");
    await slotted.generate([{ input: { ids }, maxTokens: 3 }]);
    const input = own.requests[0]?.input;
    const rows = input && "embeddings" in input ? input.embeddings : new Float32Array();
    expect(rows).toHaveLength(5 * hiddenSize);
    expect(Array.from(rows).filter((_, i) => i % hiddenSize === 0)).toEqual([97, 1000, 1001, 98, 2000]);
  });

  it("leaves prompts without them as they are", async () => {
    const own = model();
    const slotted = slottedModel(own, [new Float32Array(own.config.hiddenSize)]);
    const input = { ids: slotted.tokenizer.encode("plain") };
    expect((await slotted.generate([{ input, maxTokens: 3 }]))[0]?.text).toBe("yes");
    expect(own.requests[0]?.input).toBe(input);
  });

  it("says when a prompt holds more of them than there are", () => {
    const slotted = slottedModel(model(), []);
    expect(() => slotted.tokenizer.encode(LATENT_MARKER)).toThrow("holds 1 latent messages, and there are 0");
  });
});
