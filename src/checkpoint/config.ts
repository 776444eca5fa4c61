/** config.json of a checkpoint, validated and in our names. One decoder covers every architecture named here. */

export type Architecture = "qwen2" | "qwen3" | "llama" | "mistral";

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
  /** RMSNorm over headDim on q and k before the rotary embedding (qwen3). */
  qkNorm: boolean;
  maxPositions: number;
  /** Union of config.json and generation_config.json. */
  eosIds: readonly number[];
}
