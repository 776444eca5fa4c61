/** Losses: log-probabilities of tokens, cross-entropy, cosine, mean square, the clipped policy objective. */
import { floatBits } from "../queue";
import { rowLanes } from "../rowKernels";
import { kernel } from "../shaders";
import type { Integers } from "../tape";
import { padded, type Tensor } from "../tensor";
import { productBackwardInput, productBackwardWeight, productForward } from "./linear";
import { startsOf } from "./rows";

/** Elements of logits that stand at a time: 16 MiB. */
const LOGITS_ELEMENTS = 4 * 2 ** 20;

/** Where a block of the vocabulary may begin within its part, so that buffers can be bound from there on. */
const BLOCK_STEP = 64;

interface Block {
  part: Tensor;
  /** First row within the part. */
  start: number;
  /** First row within the vocabulary. */
  first: number;
  count: number;
}

/**
 * log softmax(hidden head^T) of one token in each row, without ever holding the logits of the whole vocabulary: they
 * are computed in blocks, and once more for the gradient.
 * @param hidden [R, C]
 * @param head [V, C], or consecutive parts of it; frozen parts may be bf16 or f16
 * @param targets R token ids
 * @param blockElements logits that stand at a time, at least one block of 64 tokens
 * @returns [R, 1]
 * @throws RangeError for a target outside the vocabulary
 */
export function tokenLogProbs(
  hidden: Tensor,
  head: Tensor | readonly Tensor[],
  targets: Integers,
  blockElements = LOGITS_ELEMENTS,
): Tensor {
  const { tape, rows } = hidden;
  const { queue, gpu } = tape;
  const parts = Array.isArray(head) ? (head as readonly Tensor[]) : [head as Tensor];
  const vocabulary = parts.reduce((sum, part) => sum + part.rows, 0);
  const unknown = targets.values.find((id) => id >= vocabulary);
  if (unknown !== undefined) throw new RangeError(`tokenLogProbs: target ${unknown}, vocabulary of ${vocabulary}`);
  if (targets.length !== rows) throw new RangeError(`tokenLogProbs: ${targets.length} targets for ${rows} rows`);
  const limit = Math.min(blockElements, Math.floor(gpu.limits.maxBindingBytes / 4));
  const blocks = blocksOf(parts, Math.max(BLOCK_STEP, Math.floor(limit / rows / BLOCK_STEP) * BLOCK_STEP));
  const output = tape.empty("log-probabilities", rows, 1, tape.needsGrad(hidden, ...parts));
  const states = tape.empty("softmax of rows", rows, 4);
  const lanes = rowLanes(gpu);
  const shape = (block: Block, i: number) =>
    queue.uniform([
      rows,
      block.first,
      block.count,
      padded(block.count),
      i === 0 ? 1 : 0,
      i === blocks.length - 1 ? 1 : 0,
    ]);
  const logitsOf = (x: Tensor, { part, start, count }: Block) => {
    const logits = tape.empty("logits", rows, count);
    productForward(tape, x, { weight: part, start, count }, logits);
    return logits;
  };
  // A single block is kept for the gradient.
  let onlyLogits: Tensor | undefined;
  blocks.forEach((block, i) => {
    tape.scope(() => {
      const logits = logitsOf(hidden, block);
      queue.dispatch(
        kernel("logProb", "forward", { constants: lanes }),
        [shape(block, i), targets.buffer, logits.buffer, states.buffer, output.buffer],
        Math.ceil(rows / lanes.ROWS),
      );
      if (blocks.length > 1) return undefined;
      onlyLogits = logits;
      return logits;
    });
  });
  tape.record(
    [output],
    [hidden, targets, states, onlyLogits, ...parts],
    (savedHidden, savedTargets, savedStates, savedLogits, ...savedParts) => {
      const starts = startsOf(parts);
      const partTargets = parts.map((part) => (part.requiresGrad ? tape.partialGradTarget(part) : undefined));
      blocks.forEach((block, i) => {
        tape.scope(() => {
          const p = parts.indexOf(block.part);
          const part = savedParts[p] as Tensor;
          const logits = savedLogits ?? logitsOf(savedHidden, { ...block, part });
          queue.dispatch(
            kernel("logProb", "backward_input"),
            [shape(block, i), savedTargets.buffer, logits.buffer, savedStates.buffer, (output.grad as Tensor).buffer],
            Math.ceil((rows * padded(block.count)) / 64),
          );
          productBackwardInput(tape, logits, { ...block, weight: part }, tape.gradTarget(hidden));
          const buffer = partTargets[p];
          const start = block.first - (starts[p] as number);
          if (buffer) productBackwardWeight(tape, logits, savedHidden, { buffer, accumulates: 1 }, start);
        });
      });
    },
  );
  states.dispose();
  onlyLogits?.dispose();
  return output;
}

function blocksOf(parts: readonly Tensor[], size: number): Block[] {
  const starts = startsOf(parts);
  return parts.flatMap((part, p) =>
    Array.from({ length: Math.ceil(part.rows / size) }, (_, i) => {
      const start = i * size;
      return { part, start, first: (starts[p] as number) + start, count: Math.min(size, part.rows - start) };
    }),
  );
}

/**
 * Sum over rows of weight times value, for masked means: weights of 1 / count where a row counts, else 0.
 * @param values [R, 1]
 * @param weights [R, 1], constant
 * @returns [1, 1]
 */
export function weightedSum(values: Tensor, weights: Tensor): Tensor {
  const { tape, rows } = values;
  const { queue, gpu } = tape;
  if (values.columns !== 1 || weights.columns !== 1 || weights.rows !== rows) {
    throw new RangeError(
      `weightedSum: [${rows}, ${values.columns}] values, [${weights.rows}, ${weights.columns}] weights`,
    );
  }
  const output = tape.empty("loss", 1, 1, tape.needsGrad(values));
  const shape = (accumulates: number) => queue.uniform([rows, 1, 1, accumulates]);
  queue.dispatch(
    kernel("rowLoss", "weighted_sum", { constants: { SUM_LANES: gpu.isSoftware ? 8 : 64 } }),
    [shape(0), values.buffer, weights.buffer, output.buffer],
    1,
  );
  tape.record([output], [weights], (savedWeights) => {
    const target = tape.gradTarget(values);
    if (!target) return;
    queue.dispatch(
      kernel("rowLoss", "backward_sum"),
      [shape(target.accumulates), savedWeights.buffer, (output.grad as Tensor).buffer, target.buffer],
      Math.ceil(rows / 64),
    );
  });
  return output;
}

/**
 * Masked mean: values weighted by `mask` over the sum of the mask.
 * @param values [R, 1]
 * @param mask R weights of at least 0, not all 0. Default: all rows count alike
 * @returns [1, 1]
 */
export function maskedMean(values: Tensor, mask?: ArrayLike<number>, factor = 1): Tensor {
  const { tape, rows } = values;
  const weights = mask ? Float64Array.from(mask) : new Float64Array(rows).fill(1);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  if (weights.length !== rows) throw new RangeError(`maskedMean: a mask of ${weights.length} for ${rows} rows`);
  if (!(total > 0) || weights.some((weight) => weight < 0)) {
    throw new RangeError("maskedMean: the mask must have no negative weight and not be all zero");
  }
  const scaled = weights.map((weight) => (factor * weight) / total);
  const rowWeights = tape.tensor(scaled, rows, 1, { label: "weights of rows" });
  const mean = weightedSum(values, rowWeights);
  rowWeights.dispose();
  return mean;
}

/**
 * Mean over the masked rows of -log softmax(hidden head^T)[target].
 * @param hidden [R, C]; rows that do not count are not put through the head only if the caller leaves them out
 * @param mask as in `maskedMean`
 * @returns [1, 1]
 */
export function crossEntropy(
  hidden: Tensor,
  head: Tensor | readonly Tensor[],
  targets: Integers,
  mask?: ArrayLike<number>,
  blockElements?: number,
): Tensor {
  return hidden.tape.scope(() => maskedMean(tokenLogProbs(hidden, head, targets, blockElements), mask, -1));
}

/** 1 - cos of each row's angle between a and b, both [R, C]. @returns [R, 1] */
export function cosineDistance(a: Tensor, b: Tensor): Tensor {
  return rowLoss("cosine", a, b);
}

/** Masked mean of `cosineDistance`, [1, 1]. */
export function cosineLoss(a: Tensor, b: Tensor, mask?: ArrayLike<number>): Tensor {
  return a.tape.scope(() => maskedMean(cosineDistance(a, b), mask));
}

/** Masked mean over rows of the mean square of a - b over columns, [1, 1]. */
export function meanSquareError(a: Tensor, b: Tensor, mask?: ArrayLike<number>): Tensor {
  return a.tape.scope(() => maskedMean(rowLoss("square", a, b), mask));
}

function rowLoss(kind: "cosine" | "square", a: Tensor, b: Tensor): Tensor {
  const { tape, rows, columns } = a;
  const { queue, gpu } = tape;
  if (b.rows !== rows || b.columns !== columns) {
    throw new RangeError(`${kind} loss: ${a.label} is [${rows}, ${columns}], ${b.label} [${b.rows}, ${b.columns}]`);
  }
  const output = tape.empty(`${kind} losses`, rows, 1, tape.needsGrad(a, b));
  const lanes = rowLanes(gpu);
  const workgroups = Math.ceil(rows / lanes.ROWS);
  const shape = (accumulates: number) => queue.uniform([rows, columns, a.pitch / 4, accumulates]);
  queue.dispatch(
    kernel("rowLoss", kind, { constants: lanes }),
    [shape(0), a.buffer, b.buffer, output.buffer],
    workgroups,
  );
  tape.record([output], [a, b], (savedA, savedB) => {
    const dOutput = output.grad as Tensor;
    for (const [input, own, other] of [
      [a, savedA, savedB],
      [b, savedB, savedA],
    ] as const) {
      const target = tape.gradTarget(input);
      if (!target) continue;
      queue.dispatch(
        kernel("rowLoss", `backward_${kind}`, { constants: lanes }),
        [shape(target.accumulates), own.buffer, other.buffer, dOutput.buffer, target.buffer],
        workgroups,
      );
    }
  });
  return output;
}

export interface ClippedPolicyOptions {
  /** Log-probabilities when the tokens were drawn, one a row. */
  old: ArrayLike<number>;
  advantages: ArrayLike<number>;
  /** The ratio is clipped to [1 - clipLow, 1 + clipHigh]. Default 0.2 both. */
  clipLow?: number;
  clipHigh?: number;
  /** Log-probabilities of a reference policy, and the weight of the divergence from it. Default: none. */
  reference?: ArrayLike<number>;
  klCoefficient?: number;
}

/**
 * PPO's clipped objective of each token, as a loss (Schulman et al. 2017), with GRPO's divergence term.
 * @param logProbs [R, 1]
 * @returns [R, 1], to be averaged with `maskedMean`
 */
export function clippedPolicyLoss(logProbs: Tensor, options: ClippedPolicyOptions): Tensor {
  const { tape, rows } = logProbs;
  const { queue } = tape;
  const { old, advantages, reference, clipLow = 0.2, clipHigh = 0.2, klCoefficient = 0 } = options;
  if (klCoefficient !== 0 && !reference) throw new RangeError("clippedPolicyLoss: a klCoefficient needs a reference");
  for (const [name, values] of Object.entries({ old, advantages, reference })) {
    if (values && values.length !== rows) {
      throw new RangeError(`clippedPolicyLoss: ${values.length} ${name} for ${rows} rows`);
    }
  }
  const known = Float32Array.from({ length: rows * 4 }, (_, i) => {
    const row = i >> 2;
    const column = i & 3;
    return (column === 0 ? old[row] : column === 1 ? advantages[row] : column === 2 ? (reference ?? old)[row] : 0) ?? 0;
  });
  const constants = tape.tensor(known, rows, 4, { label: "what is known of tokens" });
  const output = tape.empty("policy losses", rows, 1, tape.needsGrad(logProbs));
  const shape = (accumulates: number) =>
    queue.uniform([rows, floatBits(clipLow), floatBits(clipHigh), floatBits(klCoefficient), accumulates]);
  queue.dispatch(
    kernel("clippedPolicy", "forward"),
    [shape(0), logProbs.buffer, constants.buffer, output.buffer],
    Math.ceil(rows / 64),
  );
  tape.record([output], [logProbs, constants], (saved, savedConstants) => {
    const target = tape.gradTarget(logProbs);
    if (!target) return;
    queue.dispatch(
      kernel("clippedPolicy", "backward_input"),
      [shape(target.accumulates), saved.buffer, savedConstants.buffer, (output.grad as Tensor).buffer, target.buffer],
      Math.ceil(rows / 64),
    );
  });
  constants.dispose();
  return output;
}
