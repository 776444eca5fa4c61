/** config.json of a checkpoint, validated and in our names. One decoder covers every architecture named here. */
import { z } from "zod";
import { CheckpointError } from "./errors";

export const ARCHITECTURES = ["qwen2", "qwen3", "llama", "mistral"] as const;
export type Architecture = (typeof ARCHITECTURES)[number];

export interface ModelConfig {
  modelType: Architecture;
  vocabSize: number;
  hiddenSize: number;
  intermediateSize: number;
  layers: number;
  heads: number;
  kvHeads: number;
  /** May differ from hiddenSize / heads. */
  headDim: number;
  ropeTheta: number;
  rmsNormEps: number;
  tieWordEmbeddings: boolean;
  /** Biases on q, k, v (always in qwen2; `attention_bias` elsewhere). */
  qkvBias: boolean;
  /** Bias on the attention's output projection (`attention_bias` of qwen3 and llama; never in qwen2 and mistral). */
  oBias: boolean;
  /** RMSNorm over headDim on q and k before the rotary embedding (qwen3). */
  qkNorm: boolean;
  maxPositions: number;
  /** Union of config.json and generation_config.json. */
  eosIds: readonly number[];
  /** How generation_config.json would have tokens drawn, where it asks for drawing them (`do_sample`). */
  sampling?: SuggestedSampling;
}

/** Filters of `SamplingOptions`. */
export interface SuggestedSampling {
  temperature: number;
  topK: number;
  topP: number;
  minP: number;
  repetitionPenalty: number;
}

/**
 * What transformers' configuration classes assume when a field is absent from config.json. Sizes that no default could
 * guess (vocabulary, widths, layers, heads) are required instead. `kvHeads` and `headDim` of null mean "from heads".
 */
const DEFAULTS: Record<
  Architecture,
  { kvHeads: number | null; headDim: number | null; maxPositions: number; slidingWindow: number | null }
> = {
  qwen2: { kvHeads: 32, headDim: null, maxPositions: 32768, slidingWindow: 4096 },
  qwen3: { kvHeads: 32, headDim: 128, maxPositions: 32768, slidingWindow: 4096 },
  llama: { kvHeads: null, headDim: null, maxPositions: 2048, slidingWindow: null },
  mistral: { kvHeads: 8, headDim: null, maxPositions: 131072, slidingWindow: 4096 },
};
const DEFAULT_ROPE_THETA = 10000;

/** Beyond any model, so that a damaged number is refused before anything is counted out in its name. */
const MAX_LAYERS = 1000;
const size = z
  .int()
  .positive()
  .max(2 ** 31 - 1);
/** As f32, which the kernels compute in, it is neither 0 nor infinite. */
const f32 = z
  .number()
  .min(2 ** -126)
  .max(2 ** 127);
const tokenIds = z.union([z.int(), z.array(z.int())]).nullish();

const ropeSchema = z.looseObject({
  rope_type: z.string().nullish(),
  /** The older name of rope_type. */
  type: z.string().nullish(),
  rope_theta: f32.nullish(),
  partial_rotary_factor: z.number().nullish(),
});

const configSchema = z.looseObject({
  model_type: z.enum(ARCHITECTURES),
  vocab_size: size,
  hidden_size: size,
  intermediate_size: size,
  num_hidden_layers: size.max(MAX_LAYERS),
  num_attention_heads: size,
  num_key_value_heads: size.nullish(),
  head_dim: size.nullish(),
  hidden_act: z.string().nullish(),
  max_position_embeddings: size.nullish(),
  rms_norm_eps: f32.max(1).nullish(),
  tie_word_embeddings: z.boolean().nullish(),
  attention_bias: z.boolean().nullish(),
  mlp_bias: z.boolean().nullish(),
  rope_theta: f32.nullish(),
  rope_scaling: ropeSchema.nullish(),
  rope_parameters: ropeSchema.nullish(),
  partial_rotary_factor: z.number().nullish(),
  sliding_window: z.int().nullish(),
  use_sliding_window: z.boolean().nullish(),
  max_window_layers: z.int().nullish(),
  layer_types: z.array(z.string()).nullish(),
  quantization_config: z.unknown().optional(),
  eos_token_id: tokenIds,
});
type RawConfig = z.infer<typeof configSchema>;

const generationSchema = z.looseObject({
  eos_token_id: tokenIds,
  do_sample: z.boolean().nullish(),
  temperature: z.number().nonnegative().nullish(),
  top_k: z.int().nonnegative().nullish(),
  top_p: z.number().positive().max(1).nullish(),
  min_p: z.number().min(0).max(1).nullish(),
  repetition_penalty: z.number().positive().nullish(),
});
type RawGeneration = z.infer<typeof generationSchema>;

/**
 * Reads config.json and, when the checkpoint has one, generation_config.json (both already parsed from JSON).
 * Follows the configuration classes of transformers for what may be absent.
 * @throws CheckpointError naming the file and the field: unknown `model_type`, wrong type or size, a feature that the
 * decoder does not have (scaled rotary embeddings, sliding windows, other activations, quantized weights).
 */
export function parseConfig(configJson: unknown, generationConfigJson?: unknown): ModelConfig {
  const raw = validate("config.json", configSchema, configJson);
  const generation =
    generationConfigJson === undefined
      ? {}
      : validate("generation_config.json", generationSchema, generationConfigJson);
  const defaults = DEFAULTS[raw.model_type];
  const heads = raw.num_attention_heads;
  const kvHeads = raw.num_key_value_heads ?? (raw.num_key_value_heads === null ? heads : (defaults.kvHeads ?? heads));
  if (heads % kvHeads !== 0) {
    throw refusal("num_key_value_heads", kvHeads, `num_attention_heads (${heads}) must be a multiple of it`);
  }
  const headDim = raw.head_dim ?? (raw.head_dim === null ? null : defaults.headDim) ?? raw.hidden_size / heads;
  if (!Number.isInteger(headDim)) {
    throw refusal("hidden_size", raw.hidden_size, `not a multiple of num_attention_heads (${heads}), and no head_dim`);
  }
  if (headDim % 2 !== 0) {
    throw refusal("head_dim", headDim, "the rotary embedding needs an even number");
  }
  const maxPositions = raw.max_position_embeddings ?? defaults.maxPositions;
  refuseUnsupported(raw, maxPositions);
  const attentionBias = raw.attention_bias ?? false;
  const sampling = samplingOf(generation);
  return {
    modelType: raw.model_type,
    vocabSize: raw.vocab_size,
    hiddenSize: raw.hidden_size,
    intermediateSize: raw.intermediate_size,
    layers: raw.num_hidden_layers,
    heads,
    kvHeads,
    headDim,
    ropeTheta: raw.rope_parameters?.rope_theta ?? raw.rope_scaling?.rope_theta ?? raw.rope_theta ?? DEFAULT_ROPE_THETA,
    rmsNormEps: raw.rms_norm_eps ?? 1e-6,
    tieWordEmbeddings: raw.tie_word_embeddings ?? false,
    qkvBias: raw.model_type === "qwen2" || (raw.model_type !== "mistral" && attentionBias),
    oBias: (raw.model_type === "qwen3" || raw.model_type === "llama") && attentionBias,
    qkNorm: raw.model_type === "qwen3",
    maxPositions,
    eosIds: uniqueTokenIds(raw.vocab_size, raw.eos_token_id, generation.eos_token_id),
    ...(sampling && { sampling }),
  };
}

/** What is absent is as in transformers' GenerationConfig, which keeps 50 tokens. */
function samplingOf(raw: RawGeneration): SuggestedSampling | undefined {
  if (!raw.do_sample) return undefined;
  return {
    temperature: raw.temperature ?? 1,
    topK: raw.top_k ?? 50,
    topP: raw.top_p ?? 1,
    minP: raw.min_p ?? 0,
    repetitionPenalty: raw.repetition_penalty ?? 1,
  };
}

/** A config.json for a configuration of ours; `parseConfig` gives the same configuration back. */
export function configToJson(config: ModelConfig): Record<string, unknown> {
  return {
    architectures: [
      `${{ qwen2: "Qwen2", qwen3: "Qwen3", llama: "Llama", mistral: "Mistral" }[config.modelType]}ForCausalLM`,
    ],
    model_type: config.modelType,
    vocab_size: config.vocabSize,
    hidden_size: config.hiddenSize,
    intermediate_size: config.intermediateSize,
    num_hidden_layers: config.layers,
    num_attention_heads: config.heads,
    num_key_value_heads: config.kvHeads,
    head_dim: config.headDim,
    hidden_act: "silu",
    max_position_embeddings: config.maxPositions,
    rms_norm_eps: config.rmsNormEps,
    rope_theta: config.ropeTheta,
    tie_word_embeddings: config.tieWordEmbeddings,
    attention_bias: config.qkvBias,
    sliding_window: null,
    eos_token_id: [...config.eosIds],
  };
}

/**
 * Names (as in transformers) and shapes of all tensors that the decoder uses, in the order of the computation.
 * Linear weights are [out, in]. `lm_head.weight` is there only when the head is not tied to the embedding.
 */
export function expectedTensors(config: ModelConfig): Map<string, readonly number[]> {
  const { hiddenSize, intermediateSize, vocabSize, headDim } = config;
  const qSize = config.heads * headDim;
  const kvSize = config.kvHeads * headDim;
  const shapes = new Map<string, readonly number[]>();
  shapes.set("model.embed_tokens.weight", [vocabSize, hiddenSize]);
  for (let layer = 0; layer < config.layers; layer++) {
    const prefix = `model.layers.${layer}`;
    shapes.set(`${prefix}.input_layernorm.weight`, [hiddenSize]);
    for (const [name, outSize] of [
      ["q_proj", qSize] as const,
      ["k_proj", kvSize] as const,
      ["v_proj", kvSize] as const,
    ]) {
      shapes.set(`${prefix}.self_attn.${name}.weight`, [outSize, hiddenSize]);
      if (config.qkvBias) {
        shapes.set(`${prefix}.self_attn.${name}.bias`, [outSize]);
      }
    }
    if (config.qkNorm) {
      shapes.set(`${prefix}.self_attn.q_norm.weight`, [headDim]);
      shapes.set(`${prefix}.self_attn.k_norm.weight`, [headDim]);
    }
    shapes.set(`${prefix}.self_attn.o_proj.weight`, [hiddenSize, qSize]);
    if (config.oBias) {
      shapes.set(`${prefix}.self_attn.o_proj.bias`, [hiddenSize]);
    }
    shapes.set(`${prefix}.post_attention_layernorm.weight`, [hiddenSize]);
    shapes.set(`${prefix}.mlp.gate_proj.weight`, [intermediateSize, hiddenSize]);
    shapes.set(`${prefix}.mlp.up_proj.weight`, [intermediateSize, hiddenSize]);
    shapes.set(`${prefix}.mlp.down_proj.weight`, [hiddenSize, intermediateSize]);
  }
  shapes.set("model.norm.weight", [hiddenSize]);
  if (!config.tieWordEmbeddings) {
    shapes.set("lm_head.weight", [vocabSize, hiddenSize]);
  }
  return shapes;
}

/** Features that would silently change the result if the decoder ignored them. */
function refuseUnsupported(raw: RawConfig, maxPositions: number): void {
  const activation = raw.hidden_act ?? "silu";
  if (activation !== "silu" && activation !== "swish") {
    throw refusal("hidden_act", activation, 'only "silu" is supported');
  }
  if (raw.mlp_bias) {
    throw refusal("mlp_bias", true, "biases in the feed-forward layers are not supported");
  }
  if (raw.quantization_config !== undefined && raw.quantization_config !== null) {
    throw refusal("quantization_config", raw.quantization_config, "only F32, BF16 and F16 weights are supported");
  }
  for (const field of ["rope_scaling", "rope_parameters"] as const) {
    const rope = raw[field];
    const ropeType = rope?.rope_type ?? rope?.type ?? "default";
    if (ropeType !== "default") {
      throw refusal(`${field}.${rope?.rope_type ? "rope_type" : "type"}`, ropeType, 'only "default" is supported');
    }
    // Newer files may hold one entry per kind of layer; a decoder with one rotary table cannot follow those.
    const nested = Object.entries(rope ?? {}).find(([, value]) => typeof value === "object" && value !== null);
    if (nested) {
      throw refusal(`${field}.${nested[0]}`, nested[1], "rotary embeddings that differ by layer are not supported");
    }
    refusePartialRotary(`${field}.partial_rotary_factor`, rope?.partial_rotary_factor);
  }
  refusePartialRotary("partial_rotary_factor", raw.partial_rotary_factor);
  refuseSlidingWindow(raw, maxPositions);
}

function refusePartialRotary(field: string, factor: number | null | undefined): void {
  if (factor !== undefined && factor !== null && factor !== 1) {
    throw refusal(field, factor, "only a full rotary embedding (1) is supported");
  }
}

/** A window at least as long as the longest sequence changes nothing and passes. */
function refuseSlidingWindow(raw: RawConfig, maxPositions: number): void {
  const isQwen = raw.model_type === "qwen2" || raw.model_type === "qwen3";
  const window = raw.sliding_window === undefined ? DEFAULTS[raw.model_type].slidingWindow : raw.sliding_window;
  const hasShortWindow = window !== null && window < maxPositions && (!isQwen || raw.use_sliding_window === true);
  const foreign = raw.layer_types?.find((type) => type !== "full_attention" && type !== "sliding_attention");
  if (foreign !== undefined) {
    throw refusal("layer_types", foreign, 'only "full_attention" is supported');
  }
  if (raw.model_type === "llama" || !hasShortWindow) {
    return;
  }
  if (raw.layer_types) {
    if (raw.layer_types.includes("sliding_attention")) {
      throw refusal("layer_types", "sliding_attention", 'only "full_attention" is supported');
    }
    return;
  }
  // In qwen2 and qwen3 the first max_window_layers layers (28 when absent) attend to everything.
  if (!isQwen || raw.num_hidden_layers > (raw.max_window_layers ?? 28)) {
    throw refusal(isQwen ? "use_sliding_window" : "sliding_window", isQwen ? true : window, "not supported");
  }
}

function uniqueTokenIds(vocabSize: number, ...fields: (number | number[] | null | undefined)[]): number[] {
  const ids = new Set(fields.flatMap((field) => field ?? []));
  // Some files hold -1 or an id beyond the vocabulary for "none": the model can never produce it.
  return [...ids].filter((id) => id >= 0 && id < vocabSize);
}

function validate<T>(file: string, schema: z.ZodType<T>, json: unknown): T {
  const parsed = schema.safeParse(json);
  if (parsed.success) {
    return parsed.data;
  }
  const problems = parsed.error.issues.map((issue) => {
    const field = issue.path.join(".");
    const value = issue.path.reduce<unknown>(
      (at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key],
      json,
    );
    return field === "" ? issue.message : `field "${field}" is ${show(value)}: ${issue.message}`;
  });
  throw new CheckpointError(`${file}: ${problems.join("; ")}`);
}

function refusal(field: string, value: unknown, reason: string): CheckpointError {
  return new CheckpointError(`config.json: field "${field}" is ${show(value)}: ${reason}`);
}

function show(value: unknown): string {
  const text = value === undefined ? "missing" : JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
