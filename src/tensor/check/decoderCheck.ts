/**
 * The whole decoder's gradients against the reference: every parameter of small random models of each architecture, on
 * a ragged batch. The reference is f64 throughout: its loss is differenced along random directions, one for each
 * parameter, and compared with the gradient along the same direction.
 */
import type { ModelConfig } from "../../checkpoint/config";
import { openCheckpoint } from "../../checkpoint/load";
import { randomCheckpoint } from "../../checkpoint/randomCheckpoint";
import { Random } from "../../random/random";
import { loadReferenceModel, type ReferenceModel, referenceLogits } from "../../reference/decoder";
import { logProbs } from "../../reference/losses";
import { DifferentiableDecoder } from "../decoder";
import { byCheckpointName, loadDecoderTensors } from "../decoderWeights";
import { crossEntropy } from "../ops/losses";
import { Sequences } from "../sequences";
import type { Tape } from "../tape";

const BASE: ModelConfig = {
  modelType: "llama",
  vocabSize: 61,
  hiddenSize: 20,
  intermediateSize: 27,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  headDim: 6,
  ropeTheta: 10000,
  rmsNormEps: 1e-6,
  tieWordEmbeddings: false,
  qkvBias: false,
  oBias: false,
  qkNorm: false,
  maxPositions: 64,
  eosIds: [],
};

/** One small model of each architecture. */
export const CHECKED_CONFIGS: Readonly<Record<string, ModelConfig>> = {
  qwen2: { ...BASE, modelType: "qwen2", qkvBias: true, kvHeads: 4 },
  qwen3: { ...BASE, modelType: "qwen3", qkNorm: true, tieWordEmbeddings: true, headDim: 8 },
  llama: { ...BASE, kvHeads: 1 },
};

export interface DecoderErrors {
  architecture: string;
  /** |loss - reference|. */
  loss: number;
  /** For each parameter |slope - reference| over the larger of the reference's slope and a typical slope. */
  gradients: Record<string, number>;
}

/** Lengths with a sequence of one token and one across the edge of attention's tiles. */
const LENGTHS = [3, 1, 35];

export async function checkDecoder(tape: Tape, architecture: string, seed = 1): Promise<DecoderErrors> {
  const config = CHECKED_CONFIGS[architecture];
  if (!config) throw new RangeError(`no architecture "${architecture}"`);
  const checkpoint = await openCheckpoint(randomCheckpoint(config, { seed }));
  const random = new Random(seed, 1);
  const draw = (length: number) => Array.from({ length }, () => random.int(config.vocabSize));
  const batch = LENGTHS.map((length) => ({ ids: draw(length), targets: draw(length) }));
  const mask: number[] = batch.flatMap(({ ids }) => ids.map((_, i) => (i % 3 === 1 ? 0 : 1)));

  const decoder = new DifferentiableDecoder(tape, await loadDecoderTensors(tape, checkpoint, { trainable: true }));
  const loss = tape.scope(() => {
    const sequences = new Sequences(tape, { queryLengths: LENGTHS });
    const ids = tape.integers(batch.flatMap((sequence) => sequence.ids));
    const targets = tape.integers(batch.flatMap((sequence) => sequence.targets));
    const hidden = decoder.forward(decoder.embed(ids), sequences);
    const result = crossEntropy(hidden, decoder.tensors.head, targets, mask);
    tape.backward(result);
    return result;
  });
  const gradients = await byCheckpointName(decoder.tensors, async ({ grad }) => grad?.read());
  const found = await loss.item();
  loss.dispose();
  decoder.dispose();

  const reference = await loadReferenceModel(checkpoint);
  const referenceLoss = (model: ReferenceModel) => {
    const all = batch.flatMap(({ ids, targets }) => {
      return [...logProbs(referenceLogits(model, { ids }), targets, config.vocabSize)];
    });
    const count = mask.reduce((a, b) => a + b, 0);
    return -all.reduce((sum, value, i) => sum + value * (mask[i] as number), 0) / count;
  };
  const errors: DecoderErrors = { architecture, loss: Math.abs(found - referenceLoss(reference)), gradients: {} };
  for (const [name, values] of reference.weights) {
    const direction = values.map(() => random.normal());
    const moved = (step: number) => {
      const weights = new Map(reference.weights).set(
        name,
        values.map((value, i) => value + step * (direction[i] as number)),
      );
      return referenceLoss({ ...reference, weights });
    };
    const step = 1e-5;
    const slope = (moved(step) - moved(-step)) / (2 * step);
    const gradient = gradients.get(name);
    const own = gradient?.reduce((sum, value, i) => sum + value * (direction[i] as number), 0) ?? Number.NaN;
    // Along a random direction a slope is about as large as the gradient is long, but may happen to be all but zero.
    const typical = Math.sqrt(gradient?.reduce((sum, value) => sum + value * value, 0) ?? 0);
    const error = Math.abs(own - slope) / Math.max(Math.abs(slope), typical, 1e-12);
    errors.gradients[name] = Number.isNaN(error) ? Number.POSITIVE_INFINITY : error;
  }
  return errors;
}
