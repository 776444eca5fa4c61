/** What must hold of a whole decoder, whatever its weights; the values themselves are checked in golden.test.ts. */
import { describe, expect, it } from "vitest";
import { type ModelConfig, parseConfig } from "../checkpoint/config";
import { openCheckpoint } from "../checkpoint/load";
import { randomCheckpoint } from "../checkpoint/randomCheckpoint";
import { loadReferenceModel, type ReferenceModel, referenceHidden, referenceLogits } from "./decoder";
import { linear } from "./linear";

const base = parseConfig({
  model_type: "qwen3",
  vocab_size: 13,
  hidden_size: 8,
  intermediate_size: 11,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 6,
  tie_word_embeddings: true,
});
const configs: Record<string, ModelConfig> = {
  qwen3: base,
  qwen2: { ...base, modelType: "qwen2", qkvBias: true, qkNorm: false },
  llama: { ...base, modelType: "llama", qkNorm: false, tieWordEmbeddings: false, kvHeads: 4 },
  "llama with attention_bias": { ...base, modelType: "llama", qkNorm: false, qkvBias: true, oBias: true, kvHeads: 1 },
};

const load = async (config: ModelConfig) => loadReferenceModel(await openCheckpoint(randomCheckpoint(config)));
const ids = [3, 1, 12, 0, 7, 7, 2];

const distance = (a: Float64Array, b: Float64Array) =>
  a.reduce((max, value, i) => Math.max(max, Math.abs(value - b[i]!)), 0);

/** The model with one tensor changed. */
function withTensor(model: ReferenceModel, name: string, change: (value: number, index: number) => number) {
  const values = model.weights.get(name);
  if (!values) {
    throw new Error(`no tensor ${name}`);
  }
  return { ...model, weights: new Map(model.weights).set(name, values.map(change)) };
}

describe.each(Object.entries(configs))("reference decoder, %s", (_, config) => {
  it("gives a row of logits for every position and never looks ahead", async () => {
    const model = await load(config);
    const logits = referenceLogits(model, { ids });
    expect(logits).toHaveLength(ids.length * 13);
    for (const length of [1, 4]) {
      expect(referenceLogits(model, { ids: ids.slice(0, length) })).toEqual(logits.slice(0, length * 13));
    }
  });

  it("reads the embeddings of tokens as it reads the tokens", async () => {
    const model = await load(config);
    const table = model.weights.get("model.embed_tokens.weight") as Float64Array;
    const embeddings = ids.flatMap((id) => [...table.slice(id * 8, (id + 1) * 8)]);
    expect(referenceHidden(model, { embeddings })).toEqual(referenceHidden(model, { ids }));
  });

  it("is moved by the order of tokens and by every tensor", async () => {
    const model = await load(config);
    const logits = referenceLogits(model, { ids });
    const swapped = referenceLogits(model, { ids: [1, 3, ...ids.slice(2)] });
    expect(distance(logits.slice(-13), swapped.slice(-13))).toBeGreaterThan(1e-4);
    for (const name of model.weights.keys()) {
      // A bias on keys alone shifts all scores of a query alike where nothing turns it, so look at the whole sequence.
      const moved = referenceLogits(
        withTensor(model, name, (value, i) => value + 0.1 * Math.cos(i)),
        { ids },
      );
      expect(distance(logits, moved), name).toBeGreaterThan(1e-6);
    }
  });

  it("puts the head over the final-normed states", async () => {
    const model = await load(config);
    const head = config.tieWordEmbeddings ? "model.embed_tokens.weight" : "lm_head.weight";
    const hidden = referenceHidden(model, { ids });
    expect(hidden).toHaveLength(ids.length * 8);
    expect(linear(hidden, model.weights.get(head) as Float64Array, 8)).toEqual(referenceLogits(model, { ids }));
    const unit = referenceHidden(
      withTensor(model, "model.norm.weight", () => 1),
      { ids },
    );
    for (let t = 0; t < ids.length; t++) {
      const row = unit.slice(t * 8, (t + 1) * 8);
      expect(row.reduce((sum, value) => sum + value * value, 0) / 8).toBeCloseTo(1, 4);
    }
  });
});

describe("reference decoder", () => {
  it("normalises queries and keys in qwen3: their scale does not matter", async () => {
    const scaled = async (config: ModelConfig) => {
      const model = await load({ ...config, rmsNormEps: 1e-12 });
      const bigger = withTensor(model, "model.layers.0.self_attn.q_proj.weight", (value) => 3 * value);
      return distance(referenceLogits(model, { ids }), referenceLogits(bigger, { ids }));
    };
    expect(await scaled(configs.qwen3 as ModelConfig)).toBeLessThan(1e-6);
    expect(await scaled(configs.llama as ModelConfig)).toBeGreaterThan(1e-3);
  });

  it("refuses ids outside the vocabulary", async () => {
    const model = await load(base);
    expect(() => referenceLogits(model, { ids: [13] })).toThrow("token id 13 is outside the vocabulary of 13");
  });
});
