/** The next token from logits in plain memory: the reference's own filters and draw, with a short way for greedy ones. */
import type { SamplingOptions } from "../model/languageModel";
import { randomUniform } from "../random/random";
import { drawToken, nextTokenProbabilities } from "../reference/sampling";

/**
 * @param logits [vocabSize]
 * @param seen ids of the prompt and of what was written; only a repetition penalty looks at them
 * @param drawn how many tokens were drawn before
 * @returns `undefined` when the logits are not finite
 */
export function sampleToken(
  logits: Float32Array,
  { temperature = 0, topK = 0, topP = 1, minP = 0, repetitionPenalty = 1, seed = 0 }: SamplingOptions,
  seen: ReadonlySet<number>,
  drawn: number,
): number | undefined {
  let best = 0;
  let sum = 0;
  for (let id = 0; id < logits.length; id++) {
    const logit = logits[id]!;
    // 0 for finite numbers, NaN for all others.
    sum += logit * 0;
    if (logit > logits[best]!) best = id;
  }
  if (Number.isNaN(sum)) return undefined;
  if (temperature === 0 && repetitionPenalty === 1) return best;
  const filters = { temperature, topK, topP, minP, repetitionPenalty };
  const probabilities = nextTokenProbabilities(Float64Array.from(logits), filters, seen);
  return drawToken(probabilities, randomUniform(seed, 0, drawn));
}
