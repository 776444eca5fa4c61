/** Configurations as they stand in public checkpoints, and every refusal with its field named. */
import { describe, expect, it } from "vitest";
import { configToJson, expectedTensors, parseConfig } from "./config";

const qwen25 = {
  architectures: ["Qwen2ForCausalLM"],
  attention_dropout: 0.0,
  bos_token_id: 151643,
  eos_token_id: 151645,
  hidden_act: "silu",
  hidden_size: 896,
  initializer_range: 0.02,
  intermediate_size: 4864,
  max_position_embeddings: 32768,
  max_window_layers: 21,
  model_type: "qwen2",
  num_attention_heads: 14,
  num_hidden_layers: 24,
  num_key_value_heads: 2,
  rms_norm_eps: 1e-6,
  rope_theta: 1000000.0,
  sliding_window: 32768,
  tie_word_embeddings: true,
  torch_dtype: "bfloat16",
  use_sliding_window: false,
  vocab_size: 151936,
};

const qwen3 = {
  model_type: "qwen3",
  attention_bias: false,
  head_dim: 128,
  hidden_act: "silu",
  hidden_size: 1024,
  intermediate_size: 3072,
  max_position_embeddings: 40960,
  max_window_layers: 28,
  num_attention_heads: 16,
  num_hidden_layers: 28,
  num_key_value_heads: 8,
  rms_norm_eps: 1e-6,
  rope_scaling: null,
  rope_theta: 1000000,
  sliding_window: null,
  tie_word_embeddings: true,
  use_sliding_window: false,
  vocab_size: 151936,
  eos_token_id: 151645,
};

const llama = {
  model_type: "llama",
  hidden_act: "silu",
  hidden_size: 64,
  intermediate_size: 96,
  num_attention_heads: 8,
  num_hidden_layers: 2,
  vocab_size: 100,
  eos_token_id: 2,
};

const mistral = { ...llama, model_type: "mistral", sliding_window: null };

describe("parseConfig", () => {
  it("reads Qwen2.5-0.5B", () => {
    expect(parseConfig(qwen25, { eos_token_id: [151645, 151643], temperature: 0.7 })).toEqual({
      modelType: "qwen2",
      vocabSize: 151936,
      hiddenSize: 896,
      intermediateSize: 4864,
      layers: 24,
      heads: 14,
      kvHeads: 2,
      headDim: 64,
      ropeTheta: 1000000,
      rmsNormEps: 1e-6,
      tieWordEmbeddings: true,
      qkvBias: true,
      oBias: false,
      qkNorm: false,
      maxPositions: 32768,
      eosIds: [151645, 151643],
    });
  });

  it("reads Qwen3-0.6B, whose heads are wider than hidden / heads", () => {
    const config = parseConfig(qwen3);
    expect(config).toMatchObject({ headDim: 128, qkvBias: false, oBias: false, qkNorm: true, eosIds: [151645] });
  });

  it("takes the defaults of each architecture for absent fields", () => {
    expect(parseConfig(llama)).toMatchObject({
      kvHeads: 8,
      headDim: 8,
      ropeTheta: 10000,
      rmsNormEps: 1e-6,
      tieWordEmbeddings: false,
      maxPositions: 2048,
    });
    expect(parseConfig(mistral)).toMatchObject({ kvHeads: 8, maxPositions: 131072 });
    const { head_dim: _, ...withoutHeadDim } = qwen3;
    expect(parseConfig({ ...withoutHeadDim, hidden_size: 512 }).headDim).toBe(128);
    expect(parseConfig({ ...qwen3, head_dim: null }).headDim).toBe(64);
    expect(parseConfig({ ...qwen25, num_key_value_heads: null }).kvHeads).toBe(14);
  });

  it("finds rope_theta where newer files keep it", () => {
    const { rope_theta: _, ...rest } = qwen3;
    expect(parseConfig({ ...rest, rope_parameters: { rope_type: "default", rope_theta: 5e5 } }).ropeTheta).toBe(5e5);
    expect(parseConfig({ ...rest, rope_scaling: { type: "default", rope_theta: 7e5 } }).ropeTheta).toBe(7e5);
    expect(parseConfig(rest).ropeTheta).toBe(10000);
  });

  it("follows attention_bias where the architecture knows it", () => {
    expect(parseConfig({ ...llama, attention_bias: true })).toMatchObject({ qkvBias: true, oBias: true });
    expect(parseConfig({ ...qwen3, attention_bias: true })).toMatchObject({ qkvBias: true, oBias: true });
    expect(parseConfig({ ...qwen25, attention_bias: true })).toMatchObject({ qkvBias: true, oBias: false });
    expect(parseConfig({ ...mistral, attention_bias: true })).toMatchObject({ qkvBias: false, oBias: false });
  });

  it("unites end tokens, drops impossible ones, and accepts none", () => {
    expect(parseConfig({ ...llama, eos_token_id: [2, 7] }, { eos_token_id: 3 }).eosIds).toEqual([2, 7, 3]);
    expect(parseConfig({ ...llama, eos_token_id: -1 }, { eos_token_id: [100, 99] }).eosIds).toEqual([99]);
    expect(parseConfig({ ...llama, eos_token_id: null }).eosIds).toEqual([]);
  });

  it("accepts sliding windows that are not in use", () => {
    for (const json of [
      { ...qwen25, sliding_window: 1024, use_sliding_window: false },
      { ...qwen25, sliding_window: 1024, use_sliding_window: true, max_window_layers: 24 },
      { ...qwen25, sliding_window: 32768, use_sliding_window: true, max_window_layers: 0 },
      { ...qwen3, layer_types: ["full_attention", "full_attention"] },
      { ...mistral, sliding_window: 131072 },
    ]) {
      expect(() => parseConfig(json)).not.toThrow();
    }
  });

  it.each([
    ["model_type", { ...llama, model_type: "gpt2" }, "gpt2"],
    ["model_type", { ...llama, model_type: undefined }, "missing"],
    ["vocab_size", { ...llama, vocab_size: "100" }, '"100"'],
    ["hidden_size", { ...llama, hidden_size: 0 }, "0"],
    ["hidden_size", { ...llama, hidden_size: 60 }, "num_attention_heads"],
    ["num_hidden_layers", { ...llama, num_hidden_layers: 1.5 }, "1.5"],
    ["num_hidden_layers", { ...llama, num_hidden_layers: 1e9 }, "1000000000"],
    ["num_attention_heads", { ...llama, num_attention_heads: -2 }, "-2"],
    ["vocab_size", { ...llama, vocab_size: 1e15 }, "1000000000000000"],
    ["max_position_embeddings", { ...llama, max_position_embeddings: 9e15 }, "9000000000000000"],
    ["rms_norm_eps", { ...llama, rms_norm_eps: 1e300 }, "1e+300"],
    ["rope_theta", { ...llama, rope_theta: 1e300 }, "1e+300"],
    ["rope_theta", { ...llama, rope_theta: 1e-300 }, "1e-300"],
    ["intermediate_size", { ...llama, intermediate_size: undefined }, "missing"],
    ["num_key_value_heads", { ...llama, num_key_value_heads: 3 }, "multiple"],
    ["head_dim", { ...llama, head_dim: 7 }, "even"],
    ["hidden_act", { ...llama, hidden_act: "gelu" }, "gelu"],
    ["mlp_bias", { ...llama, mlp_bias: true }, "true"],
    ["rms_norm_eps", { ...llama, rms_norm_eps: 0 }, "0"],
    ["rope_scaling.rope_type", { ...llama, rope_scaling: { rope_type: "llama3", factor: 8 } }, "llama3"],
    ["rope_scaling.type", { ...llama, rope_scaling: { type: "linear", factor: 2 } }, "linear"],
    ["rope_parameters.rope_type", { ...llama, rope_parameters: { rope_type: "yarn" } }, "yarn"],
    ["rope_parameters.full_attention", { ...llama, rope_parameters: { full_attention: {} } }, "differ"],
    ["rope_parameters.partial_rotary_factor", { ...llama, rope_parameters: { partial_rotary_factor: 0.5 } }, "0.5"],
    ["partial_rotary_factor", { ...llama, partial_rotary_factor: 0.25 }, "0.25"],
    ["sliding_window", { ...mistral, sliding_window: 4096 }, "4096"],
    ["sliding_window", { ...mistral, sliding_window: undefined }, "not supported"],
    ["use_sliding_window", { ...qwen25, use_sliding_window: true, sliding_window: 512 }, "not supported"],
    [
      "layer_types",
      { ...qwen25, use_sliding_window: true, sliding_window: 512, layer_types: ["sliding_attention"] },
      "sliding_attention",
    ],
    ["layer_types", { ...qwen3, layer_types: ["linear_attention"] }, "linear_attention"],
    ["quantization_config", { ...llama, quantization_config: { quant_method: "gptq" } }, "gptq"],
    ["eos_token_id", { ...llama, eos_token_id: "2" }, '"2"'],
  ])("refuses a bad %s by name", (field, json, detail) => {
    expect(() => parseConfig(json)).toThrow(`config.json: field "${field}"`);
    expect(() => parseConfig(json)).toThrow(detail);
  });

  it("names the file when the whole of it is wrong", () => {
    expect(() => parseConfig([])).toThrow("config.json: ");
    expect(() => parseConfig(llama, { eos_token_id: "x" })).toThrow('generation_config.json: field "eos_token_id"');
  });

  it("takes over how generation_config.json would draw tokens, if it would", () => {
    const qwen = { do_sample: true, temperature: 0.6, top_k: 20, top_p: 0.95 };
    const sampling = { temperature: 0.6, topK: 20, topP: 0.95, minP: 0, repetitionPenalty: 1 };
    expect(parseConfig(llama, qwen).sampling).toEqual(sampling);
    expect(parseConfig(llama, { ...qwen, do_sample: false })).not.toHaveProperty("sampling");
    expect(parseConfig(llama, { temperature: 0.6 })).not.toHaveProperty("sampling");
    // What transformers assumes where the file is silent.
    expect(parseConfig(llama, { do_sample: true }).sampling).toMatchObject({ temperature: 1, topK: 50, topP: 1 });
    expect(() => parseConfig(llama, { top_p: 2 })).toThrow('generation_config.json: field "top_p"');
  });

  it("gives the same configuration back through configToJson", () => {
    for (const json of [qwen25, qwen3, llama, mistral, { ...llama, attention_bias: true, head_dim: 10 }]) {
      const config = parseConfig(json);
      expect(parseConfig(JSON.parse(JSON.stringify(configToJson(config))))).toEqual(config);
    }
  });
});

describe("expectedTensors", () => {
  it("lists a tied qwen2 layer with biases on q, k and v only", () => {
    const shapes = expectedTensors(parseConfig({ ...qwen25, num_hidden_layers: 1 }));
    expect(Object.fromEntries(shapes)).toEqual({
      "model.embed_tokens.weight": [151936, 896],
      "model.layers.0.input_layernorm.weight": [896],
      "model.layers.0.self_attn.q_proj.weight": [896, 896],
      "model.layers.0.self_attn.q_proj.bias": [896],
      "model.layers.0.self_attn.k_proj.weight": [128, 896],
      "model.layers.0.self_attn.k_proj.bias": [128],
      "model.layers.0.self_attn.v_proj.weight": [128, 896],
      "model.layers.0.self_attn.v_proj.bias": [128],
      "model.layers.0.self_attn.o_proj.weight": [896, 896],
      "model.layers.0.post_attention_layernorm.weight": [896],
      "model.layers.0.mlp.gate_proj.weight": [4864, 896],
      "model.layers.0.mlp.up_proj.weight": [4864, 896],
      "model.layers.0.mlp.down_proj.weight": [896, 4864],
      "model.norm.weight": [896],
    });
  });

  it("counts the tensors of public checkpoints", () => {
    expect(expectedTensors(parseConfig(qwen25)).size).toBe(290);
    expect(expectedTensors(parseConfig({ ...qwen3, tie_word_embeddings: false })).size).toBe(28 * 11 + 3);
    expect(expectedTensors(parseConfig(qwen3)).get("model.layers.27.self_attn.q_proj.weight")).toEqual([2048, 1024]);
    expect(expectedTensors(parseConfig(qwen3)).get("model.layers.27.self_attn.k_norm.weight")).toEqual([128]);
    expect(
      expectedTensors(parseConfig({ ...llama, attention_bias: true })).has("model.layers.1.self_attn.o_proj.bias"),
    ).toBe(true);
  });
});
