/** Estimates for real models, against arithmetic by hand. That they equal the allocations is in tests/gpu/memory.test.ts. */
import { describe, expect, it } from "vitest";
import { parseConfig } from "../checkpoint/config";
import { estimateMemory } from "./memoryEstimate";

/** Qwen3-0.6B's own config.json, as far as it matters. */
const QWEN3 = parseConfig({
  model_type: "qwen3",
  vocab_size: 151936,
  hidden_size: 1024,
  intermediate_size: 3072,
  num_hidden_layers: 28,
  num_attention_heads: 16,
  num_key_value_heads: 8,
  head_dim: 128,
  rope_theta: 1e6,
  rms_norm_eps: 1e-6,
  tie_word_embeddings: true,
  max_position_embeddings: 40960,
});
const DEFAULTS = {
  maxBindingBytes: 128 * 2 ** 20,
  maxBufferBytes: 256 * 2 ** 20,
  maxWorkgroupsPerDimension: 65535,
  maxWorkgroupMemoryBytes: 16384,
  maxInvocationsPerWorkgroup: 256,
};

describe("estimateMemory", () => {
  it("counts the parameters of Qwen3-0.6B in each format", () => {
    const weightsIn = (quantization: "stored" | "q8" | "q4") =>
      estimateMemory(QWEN3, { stored: "BF16", quantization, context: 4096, limits: DEFAULTS }).weights;
    const perLayer = 1024 * 4096 + 1024 * 2048 + 3 * 1024 * 3072;
    const table = 151936 * 1024;
    const vectors = 28 * (2 * 1024 + 2 * 128) + 1024;
    expect(weightsIn("stored")).toBe(2 * (28 * perLayer + table) + 4 * vectors);
    expect(weightsIn("q8")).toBe((36 / 32) * (28 * perLayer + table) + 4 * vectors);
    expect(weightsIn("q4")).toBe((20 / 32) * 28 * perLayer + (36 / 32) * table + 4 * vectors);
  });

  it("knows that its cache outgrows its weights", () => {
    const { keyValueCache } = estimateMemory(QWEN3, {
      stored: "BF16",
      kvDtype: "f16",
      context: 4096,
      limits: DEFAULTS,
    });
    // 112 KiB for each token.
    expect(keyValueCache).toBe(4096 * 112 * 1024 + 4096 * 128 * 4);
  });

  it("says what no buffer of the device can hold", () => {
    const estimate = (context: number) => estimateMemory(QWEN3, { stored: "BF16", context, limits: DEFAULTS });
    expect(estimate(4096).problems).toEqual([]);
    expect(estimate(40960).problems).toEqual([
      "the key/value cache of a sequence of 40960 tokens, in each layer, takes 160 MiB, and one buffer of this " +
        "device holds 128 MiB.",
    ]);
    expect(() => estimate(50000)).toThrow("context: 50000 tokens, and the model has 40960 positions");
  });
});
