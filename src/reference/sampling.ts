/**
 * From logits to the next token, in the order of transformers: repetition penalty, temperature, top-k, top-p, min-p,
 * each on what the one before left over. Cuts are thresholds: tokens as probable as the last one kept stay too.
 */
import { softmax } from "./softmax";

export interface SamplingFilters {
  /** 0 means greedy. */
  temperature: number;
  /** 0 keeps all. */
  topK: number;
  topP: number;
  minP: number;
  repetitionPenalty: number;
}

/** CTRL's penalty (Keskar et al. 2019): logits of tokens seen before, once each: divided if positive, else multiplied. */
export function applyRepetitionPenalty(logits: Float64Array, seenIds: Iterable<number>, penalty: number): Float64Array {
  const penalized = logits.slice();
  for (const id of new Set(seenIds)) {
    const logit = logits[id]!;
    penalized[id] = logit > 0 ? logit / penalty : logit * penalty;
  }
  return penalized;
}

/** Keeps the k largest values (and their equals); others become -Infinity. k of 0 keeps all. */
export function topK(logits: Float64Array, k: number): Float64Array {
  if (k === 0 || k >= logits.length) {
    return logits.slice();
  }
  // Without a function of comparison, typed arrays sort many times faster.
  const threshold = logits.toSorted()[logits.length - k]!;
  return logits.map((logit) => (logit >= threshold ? logit : Number.NEGATIVE_INFINITY));
}

/** Keeps the smallest set of most probable tokens whose probability reaches p, and their equals (Holtzman et al. 2020). */
export function topP(logits: Float64Array, p: number): Float64Array {
  if (p >= 1) {
    return logits.slice();
  }
  const probabilities = softmax(logits, logits.length);
  let threshold = 0;
  let sum = 0;
  for (const probability of probabilities.toSorted().reverse()) {
    threshold = probability;
    sum += probability;
    if (sum >= p) {
      break;
    }
  }
  return logits.map((logit, i) => (probabilities[i]! >= threshold ? logit : Number.NEGATIVE_INFINITY));
}

/** Keeps tokens at least p times as probable as the most probable one (Nguyen et al. 2024). */
export function minP(logits: Float64Array, p: number): Float64Array {
  const probabilities = softmax(logits, logits.length);
  const threshold = p * probabilities.reduce((a, b) => Math.max(a, b));
  return logits.map((logit, i) => (probabilities[i]! >= threshold ? logit : Number.NEGATIVE_INFINITY));
}

/** The largest value's index; of equals the first. */
export function argmax(values: Float64Array): number {
  let best = 0;
  for (let i = 1; i < values.length; i++) {
    if (values[i]! > values[best]!) {
      best = i;
    }
  }
  return best;
}

/** Probabilities of the next token after all filters; for temperature 0, all on the argmax. @param logits [vocabSize] */
export function nextTokenProbabilities(
  logits: Float64Array,
  filters: SamplingFilters,
  seenIds: Iterable<number> = [],
): Float64Array {
  const penalized = applyRepetitionPenalty(logits, seenIds, filters.repetitionPenalty);
  if (filters.temperature === 0) {
    const certain = new Float64Array(logits.length);
    certain[argmax(penalized)] = 1;
    return certain;
  }
  const scaled = penalized.map((logit) => logit / filters.temperature);
  return softmax(minP(topP(topK(scaled, filters.topK), filters.topP), filters.minP), logits.length);
}

/** The first token, in order of ids, at which the summed probability exceeds `uniform`, a number in [0, 1). */
export function drawToken(probabilities: Float64Array, uniform: number): number {
  let sum = 0;
  let last = 0;
  for (let id = 0; id < probabilities.length; id++) {
    if (probabilities[id]! > 0) {
      sum += probabilities[id]!;
      last = id;
      if (sum > uniform) {
        return id;
      }
    }
  }
  // Rounding can leave the sum a little under 1.
  return last;
}
