/** Small random checkpoints of every architecture, and a tokenizer that shows ids. */

import type { ModelConfig } from "../../../src/checkpoint/config";
import { openCheckpoint } from "../../../src/checkpoint/load";
import { type RandomCheckpointOptions, randomCheckpoint } from "../../../src/checkpoint/randomCheckpoint";
import type { Gpu } from "../../../src/gpu/device";
import { type LoadWgslModelOptions, loadWgslModel, type WgslLanguageModel } from "../../../src/model/wgslModel";
import { loadReferenceModel, type ReferenceModel } from "../../../src/reference/decoder";
import { SHOW_IDS } from "../../fixtures/showIds";

export { SHOW_IDS, someIds } from "../../fixtures/showIds";

/** Sizes that are no multiples of tiles or of 4. */
export const QWEN3: ModelConfig = {
  modelType: "qwen3",
  vocabSize: 131,
  hiddenSize: 36,
  intermediateSize: 50,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  headDim: 10,
  ropeTheta: 10000,
  rmsNormEps: 1e-6,
  tieWordEmbeddings: true,
  qkvBias: false,
  oBias: false,
  qkNorm: true,
  maxPositions: 256,
  eosIds: [],
};

/** Biases on q, k, v; seven heads share two key/value heads' worth of keys, as in Qwen2.5-0.5B. */
export const QWEN2: ModelConfig = {
  ...QWEN3,
  modelType: "qwen2",
  vocabSize: 97,
  hiddenSize: 42,
  heads: 7,
  kvHeads: 1,
  headDim: 6,
  qkvBias: true,
  qkNorm: false,
  rmsNormEps: 1e-5,
  ropeTheta: 1e6,
};

/** Its own head, one key/value head for each head. */
export const LLAMA: ModelConfig = {
  ...QWEN3,
  modelType: "llama",
  vocabSize: 64,
  hiddenSize: 33,
  intermediateSize: 29,
  layers: 1,
  heads: 3,
  kvHeads: 3,
  headDim: 12,
  qkNorm: false,
  tieWordEmbeddings: false,
};

/** A model with random weights, on the GPU and as reference. */
export async function openModels(
  gpu: Gpu,
  config: ModelConfig,
  options: RandomCheckpointOptions & Pick<LoadWgslModelOptions, "kvDtype"> = {},
): Promise<{ model: WgslLanguageModel; reference: ReferenceModel }> {
  const { kvDtype, ...random } = options;
  const checkpoint = await openCheckpoint(randomCheckpoint(config, random));
  const reference = await loadReferenceModel(checkpoint);
  const model = await loadWgslModel({
    id: "random",
    gpu,
    checkpoint,
    tokenizer: SHOW_IDS,
    ...(kvDtype && { kvDtype }),
  });
  return { model, reference };
}
