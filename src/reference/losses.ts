/** Losses of rows, each with its gradient: log-probabilities, cosine distance, mean square, the clipped policy loss. */
import { softmax } from "./softmax";

/**
 * log softmax(logits)[target] of each row.
 * @param logits [rows, size]
 * @returns [rows]
 */
export function logProbs(logits: Float64Array, targets: ArrayLike<number>, size: number): Float64Array {
  return Float64Array.from({ length: targets.length }, (_, row) => {
    const own = logits.subarray(row * size, (row + 1) * size);
    const max = own.reduce((a, b) => Math.max(a, b));
    return own[targets[row]!]! - max - Math.log(own.reduce((sum, logit) => sum + Math.exp(logit - max), 0));
  });
}

/** Gradient of `logProbs`, [rows, size]. @param dOut [rows] */
export function logProbsBackward(
  dOut: Float64Array,
  logits: Float64Array,
  targets: ArrayLike<number>,
  size: number,
): Float64Array {
  return softmax(logits, size).map((probability, i) => {
    const row = Math.floor(i / size);
    return dOut[row]! * ((i % size === targets[row] ? 1 : 0) - probability);
  });
}

/** 1 - cos of each row's angle between a and b [rows, size]. @returns [rows] */
export function cosineDistance(a: Float64Array, b: Float64Array, size: number): Float64Array {
  return rowsOf(a, size, (row) => {
    const { aa, bb, ab } = products(a, b, size, row);
    return 1 - ab / Math.sqrt(aa * bb);
  });
}

/** Gradient of `cosineDistance` by a; that by b with the two exchanged. @param dOut [rows] */
export function cosineDistanceBackward(
  dOut: Float64Array,
  a: Float64Array,
  b: Float64Array,
  size: number,
): Float64Array {
  return a.map((value, i) => {
    const row = Math.floor(i / size);
    const { aa, bb, ab } = products(a, b, size, row);
    return (-dOut[row]! / Math.sqrt(aa * bb)) * (b[i]! - (value * ab) / aa);
  });
}

/** Mean of (a - b)^2 over each row. @returns [rows] */
export function meanSquare(a: Float64Array, b: Float64Array, size: number): Float64Array {
  return rowsOf(a, size, (row) => {
    let sum = 0;
    for (let i = row * size; i < (row + 1) * size; i++) sum += (a[i]! - b[i]!) ** 2;
    return sum / size;
  });
}

/** Gradient of `meanSquare` by a. @param dOut [rows] */
export function meanSquareBackward(dOut: Float64Array, a: Float64Array, b: Float64Array, size: number): Float64Array {
  return a.map((value, i) => (dOut[Math.floor(i / size)]! * 2 * (value - b[i]!)) / size);
}

export interface PolicySettings {
  old: ArrayLike<number>;
  advantages: ArrayLike<number>;
  reference: ArrayLike<number>;
  clipLow: number;
  clipHigh: number;
  klCoefficient: number;
}

/**
 * -min(ratio A, clip(ratio) A) + kl (exp(d) - d - 1) of each token: ratio = exp(logProb - old), d = reference - logProb.
 * Source: Schulman et al. 2017; for the divergence Schulman 2020 (k3), as in GRPO.
 */
export function clippedPolicy(logProbabilities: Float64Array, settings: PolicySettings): Float64Array {
  const { old, advantages, reference, clipLow, clipHigh, klCoefficient } = settings;
  return logProbabilities.map((value, i) => {
    const ratio = Math.exp(value - old[i]!);
    const clipped = Math.min(Math.max(ratio, 1 - clipLow), 1 + clipHigh);
    const d = reference[i]! - value;
    return klCoefficient * (Math.exp(d) - d - 1) - Math.min(ratio * advantages[i]!, clipped * advantages[i]!);
  });
}

/** Gradient of `clippedPolicy`. @param dOut [rows] */
export function clippedPolicyBackward(
  dOut: Float64Array,
  logProbabilities: Float64Array,
  settings: PolicySettings,
): Float64Array {
  const { old, advantages, reference, clipLow, clipHigh, klCoefficient } = settings;
  return logProbabilities.map((value, i) => {
    const ratio = Math.exp(value - old[i]!);
    const clipped = Math.min(Math.max(ratio, 1 - clipLow), 1 + clipHigh);
    const gain = ratio * advantages[i]! <= clipped * advantages[i]! ? ratio * advantages[i]! : 0;
    return dOut[i]! * (klCoefficient * (1 - Math.exp(reference[i]! - value)) - gain);
  });
}

function rowsOf(values: Float64Array, size: number, of: (row: number) => number): Float64Array {
  return Float64Array.from({ length: values.length / size }, (_, row) => of(row));
}

function products(a: Float64Array, b: Float64Array, size: number, row: number) {
  let [aa, bb, ab] = [0, 0, 0];
  for (let i = row * size; i < (row + 1) * size; i++) {
    aa += a[i]! ** 2;
    bb += b[i]! ** 2;
    ab += a[i]! * b[i]!;
  }
  return { aa, bb, ab };
}
