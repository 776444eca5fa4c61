/**
 * The whole decoder (qwen2, qwen3, llama, mistral) in f64, from the definitions: the truth that both GPU paths are
 * tested against. It keeps no cache and computes every position every time.
 */
import type { Checkpoint } from "../checkpoint/checkpoint";
import type { ModelConfig } from "../checkpoint/config";
import { decodeTensor } from "../checkpoint/dtype";
import { attention } from "./attention";
import { embedding } from "./embedding";
import { linear } from "./linear";
import { rmsNorm } from "./rmsNorm";
import { rope } from "./rope";
import { swiglu } from "./swiglu";

export interface ReferenceModel {
  config: ModelConfig;
  /** All weights by their checkpoint names. */
  weights: ReadonlyMap<string, Float64Array>;
}

/** Token ids, or embeddings [T, hiddenSize] in their place. */
export type ReferenceInput = { ids: ArrayLike<number> } | { embeddings: ArrayLike<number> };

export async function loadReferenceModel(checkpoint: Checkpoint): Promise<ReferenceModel> {
  const weights = new Map<string, Float64Array>();
  for (const [name, tensor] of checkpoint.tensors) {
    weights.set(name, decodeTensor(tensor.dtype, await tensor.read()));
  }
  return { config: checkpoint.config, weights };
}

/** Logits of every position, [T, vocabSize]. */
export function referenceLogits(model: ReferenceModel, input: ReferenceInput): Float64Array {
  const head = model.config.tieWordEmbeddings ? "model.embed_tokens.weight" : "lm_head.weight";
  return linear(referenceHidden(model, input), weight(model, head), model.config.hiddenSize);
}

/** The hidden state of every position after the final norm, [T, hiddenSize]. */
export function referenceHidden(model: ReferenceModel, input: ReferenceInput): Float64Array {
  const { config } = model;
  let hidden =
    "ids" in input
      ? embedding(input.ids, weight(model, "model.embed_tokens.weight"), config.hiddenSize)
      : Float64Array.from(input.embeddings);
  for (let layer = 0; layer < config.layers; layer++) {
    const prefix = `model.layers.${layer}`;
    hidden = add(hidden, attentionBlock(model, prefix, hidden));
    hidden = add(hidden, feedForward(model, prefix, hidden));
  }
  return rmsNorm(hidden, weight(model, "model.norm.weight"), config.rmsNormEps);
}

/** What attention adds to the hidden states [T, hiddenSize] of one sequence. */
function attentionBlock(model: ReferenceModel, prefix: string, hidden: Float64Array): Float64Array {
  const { config } = model;
  const { hiddenSize, heads, kvHeads, headDim, ropeTheta, rmsNormEps } = config;
  const length = hidden.length / hiddenSize;
  const positions = Array.from({ length }, (_, t) => t);
  const project = (x: Float64Array, name: string, inSize: number, hasBias: boolean) => {
    const bias = hasBias ? weight(model, `${prefix}.self_attn.${name}.bias`) : undefined;
    return linear(x, weight(model, `${prefix}.self_attn.${name}.weight`), inSize, bias);
  };

  const normed = rmsNorm(hidden, weight(model, `${prefix}.input_layernorm.weight`), rmsNormEps);
  let q = project(normed, "q_proj", hiddenSize, config.qkvBias);
  let k = project(normed, "k_proj", hiddenSize, config.qkvBias);
  const v = project(normed, "v_proj", hiddenSize, config.qkvBias);
  if (config.qkNorm) {
    // One norm over each head's headDim elements, before the rotation.
    q = rmsNorm(q, weight(model, `${prefix}.self_attn.q_norm.weight`), rmsNormEps);
    k = rmsNorm(k, weight(model, `${prefix}.self_attn.k_norm.weight`), rmsNormEps);
  }
  q = rope(q, positions, { heads, headDim, ropeTheta });
  k = rope(k, positions, { heads: kvHeads, headDim, ropeTheta });
  const mixed = attention(q, k, v, { heads, kvHeads, headDim, queryLengths: [length] });
  return project(mixed, "o_proj", heads * headDim, config.oBias);
}

/** What the feed-forward block adds to the hidden states [T, hiddenSize]. */
function feedForward(model: ReferenceModel, prefix: string, hidden: Float64Array): Float64Array {
  const { hiddenSize, intermediateSize, rmsNormEps } = model.config;
  const normed = rmsNorm(hidden, weight(model, `${prefix}.post_attention_layernorm.weight`), rmsNormEps);
  const gate = linear(normed, weight(model, `${prefix}.mlp.gate_proj.weight`), hiddenSize);
  const up = linear(normed, weight(model, `${prefix}.mlp.up_proj.weight`), hiddenSize);
  return linear(swiglu(gate, up), weight(model, `${prefix}.mlp.down_proj.weight`), intermediateSize);
}

function add(a: Float64Array, b: Float64Array): Float64Array {
  return a.map((value, i) => value + b[i]!);
}

function weight(model: ReferenceModel, name: string): Float64Array {
  const values = model.weights.get(name);
  if (!values) {
    throw new Error(`the reference model has no tensor "${name}"`);
  }
  return values;
}
