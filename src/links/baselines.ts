/**
 * What can stand in for a trained link without training by gradients: norm-matched identity, a ridge fit, soft and hard
 * tokens, noise and nothing. (The shuffled baseline concerns batches of messages: shuffle.ts.)
 * Sources: the norm-matched identity is what LatentMAS hands on; soft embeddings are those of Soft Thinking.
 */
import { Random } from "../random/random";
import { scale } from "../tensor/ops/elementwise";
import { linear, weightedRows } from "../tensor/ops/linear";
import { rmsNorm } from "../tensor/ops/norm";
import { gatherRows } from "../tensor/ops/rows";
import { softmax } from "../tensor/ops/softmax";
import type { Tape } from "../tensor/tape";
import type { Tensor } from "../tensor/tensor";
import { checkWidth, type Link } from "./link";
import { LinkError } from "./linkConfig";
import { NOISE_STREAM, noiseRows } from "./noise";
import { orthonormalProjection, paddingProjection } from "./ridge";

interface Sizes {
  tape: Tape;
  inputSize: number;
  outputSize: number;
}

/** Far below the mean square of any hidden state, and a row of zeros stays one. */
const NORM_EPSILON = 1e-12;

/** A link out of a function of tensors that it owns. */
function linkOf(
  label: string,
  { tape, inputSize, outputSize }: Sizes,
  owned: readonly Tensor[],
  forward: (hidden: Tensor) => Tensor,
  multiplyAdds = 0,
): Link {
  return {
    inputSize,
    outputSize,
    multiplyAdds,
    forward(hidden) {
      checkWidth(label, this, hidden);
      return tape.scope(() => forward(hidden));
    },
    dispose() {
      for (const tensor of owned) tensor.dispose();
    },
  };
}

function checkNorm(label: string, norm: number): void {
  if (!(norm > 0 && Number.isFinite(norm))) throw new LinkError(`${label}: embeddingNorm is ${norm}`);
}

/** Scales of rmsNorm that give every row the length `norm`. */
function lengthWeights(tape: Tape, size: number, norm: number): Tensor {
  const values = new Float32Array(size).fill(norm / Math.sqrt(size));
  return tape.outsideScopes(() => tape.tensor(values, 1, size, { label: "length of embeddings" }));
}

export interface IdentityOptions extends Sizes {
  /** Mean length of the receiver's embeddings: see `meanRowNorm`. */
  embeddingNorm: number;
  /**
   * How vectors get from one width to another: by a seeded random matrix that keeps angles as well as can be, or by
   * leaving out the last elements or adding zeros. Needed exactly where the widths differ.
   */
  projection?: "orthonormal" | "padding";
  /** Of the orthonormal projection. Default 0. */
  seed?: number;
}

/**
 * h * embeddingNorm / |h|: the direction of the hidden state at the length of an embedding. Gradients flow through.
 * @throws LinkError when the widths differ and no projection is named
 */
export function normMatchedIdentity(options: IdentityOptions): Link {
  const { tape, inputSize, outputSize, embeddingNorm, projection, seed = 0 } = options;
  checkNorm("identity", embeddingNorm);
  if (inputSize === outputSize) {
    const weights = lengthWeights(tape, outputSize, embeddingNorm);
    return linkOf("identity", options, [weights], (hidden) => rmsNorm(hidden, weights, NORM_EPSILON));
  }
  if (!projection) {
    throw new LinkError(`identity: none leads from ${inputSize} to ${outputSize}: name a projection, or fit a matrix`);
  }
  const matrix =
    projection === "orthonormal"
      ? orthonormalProjection(inputSize, outputSize, seed)
      : paddingProjection(inputSize, outputSize);
  return matrixLink({ ...options, matrix });
}

export interface MatrixOptions extends Sizes {
  /** [outputSize, inputSize], from `RidgeFit.solve` for instance. */
  matrix: ArrayLike<number>;
  /** Gives every row this length; a ridge fit alone shortens what it cannot tell. Default: the length stays. */
  embeddingNorm?: number;
}

/** A frozen matrix, as a ridge fit gives it. Gradients flow through. */
export function matrixLink(options: MatrixOptions): Link {
  const { tape, inputSize, outputSize, matrix, embeddingNorm } = options;
  if (embeddingNorm !== undefined) checkNorm("matrix", embeddingNorm);
  if (matrix.length !== outputSize * inputSize) {
    throw new LinkError(`matrix: ${matrix.length} values instead of [${outputSize}, ${inputSize}]`);
  }
  const weight = tape.outsideScopes(() => tape.tensor(matrix, outputSize, inputSize, { label: "matrix of a link" }));
  const weights = embeddingNorm === undefined ? undefined : lengthWeights(tape, outputSize, embeddingNorm);
  const forward = (hidden: Tensor) => {
    const output = linear(hidden, weight);
    return weights ? rmsNorm(output, weights, NORM_EPSILON) : output;
  };
  return linkOf("matrix", options, weights ? [weight, weights] : [weight], forward, inputSize * outputSize);
}

export interface SoftEmbeddingOptions {
  tape: Tape;
  /** The sender's head [V, inputSize]; stays the caller's, as do the embeddings. */
  head: Tensor | readonly Tensor[];
  /** The receiver's embeddings [V, outputSize], of the same tokenizer. */
  embedding: Tensor | readonly Tensor[];
  /** Default 1. */
  temperature?: number;
  /** Only the most likely tokens; 1 is what greedy decoding would pass on, and lets no gradient through. Default all. */
  topK?: number;
}

/**
 * E^T softmax(head h / temperature): the mean of the next token's embeddings. Gradients flow through; over the whole
 * vocabulary at temperature 1 this is the text channel of the paper's theorem 4.1.
 * @throws LinkError when the vocabularies differ or are split into several buffers
 */
export function softEmbedding({ tape, head, embedding, temperature = 1, topK }: SoftEmbeddingOptions): Link {
  const [weight, table] = [wholeTable("soft embedding", head), wholeTable("soft embedding", embedding)];
  if (weight.rows !== table.rows) {
    throw new LinkError(`soft embedding: the head has ${weight.rows} tokens, the embeddings ${table.rows}`);
  }
  if (!(temperature > 0 && Number.isFinite(temperature))) {
    throw new LinkError(`soft embedding: temperature is ${temperature}`);
  }
  const sizes = { tape, inputSize: weight.columns, outputSize: table.columns };
  const forward = (hidden: Tensor) => {
    const logits = linear(hidden, weight);
    return weightedRows(softmax(temperature === 1 ? logits : scale(logits, 1 / temperature), topK), table);
  };
  return linkOf("soft embedding", sizes, [], forward, table.rows * (weight.columns + table.columns));
}

/**
 * The embedding with the largest cosine to the hidden state, as it is. No gradient flows: it would be zero.
 * @param embedding [V, size]; stays the caller's
 * @throws LinkError when the table is split into several buffers
 */
export function nearestToken({ tape, embedding }: { tape: Tape; embedding: Tensor | readonly Tensor[] }): Link {
  const table = wholeTable("nearest token", embedding);
  const directions = tape.outsideScopes(() =>
    tape.noGrad(() => {
      const ids = tape.integers(Array.from({ length: table.rows }, (_, i) => i));
      const rows = gatherRows(table, ids);
      const weights = lengthWeights(tape, table.columns, 1);
      const normed = rmsNorm(rows, weights, NORM_EPSILON);
      for (const resource of [ids, rows, weights]) resource.dispose();
      return normed;
    }),
  );
  const sizes = { tape, inputSize: table.columns, outputSize: table.columns };
  const forward = (hidden: Tensor) => tape.noGrad(() => weightedRows(softmax(linear(hidden, directions), 1), table));
  return linkOf("nearest token", sizes, [directions], forward, 2 * table.rows * table.columns);
}

function wholeTable(label: string, table: Tensor | readonly Tensor[]): Tensor {
  const parts = Array.isArray(table) ? (table as readonly Tensor[]) : [table as Tensor];
  if (parts.length !== 1) {
    throw new LinkError(`${label}: a vocabulary in ${parts.length} buffers is not supported: it must fit into one`);
  }
  return parts[0] as Tensor;
}

/** Zeros: the message says nothing, not even how long it is. No gradient flows. */
export function zeroLink(sizes: Sizes): Link {
  return linkOf("zero", sizes, [], (hidden) => sizes.tape.zeros("no message", hidden.rows, sizes.outputSize));
}

/**
 * Random directions at the length of an embedding, new ones in each call: the same seed and the same calls give the same
 * noise (so do not put it into `Tape.checkpoint`, which calls twice). No gradient flows.
 */
export function noiseLink(options: Sizes & { embeddingNorm: number; seed: number }): Link {
  const { tape, outputSize, embeddingNorm, seed } = options;
  checkNorm("noise", embeddingNorm);
  const random = new Random(seed, NOISE_STREAM);
  return linkOf("noise", options, [], ({ rows }) =>
    tape.tensor(noiseRows(random, rows, outputSize, embeddingNorm), rows, outputSize, { label: "noise" }),
  );
}

/** Rows of a table that are read back at a time. */
const READ_ROWS = 4096;

/**
 * Mean length of a table's rows: of an agent's embeddings, what links should emit.
 * @param table [V, C] or consecutive parts of it, in any number format
 */
export async function meanRowNorm(table: Tensor | readonly Tensor[]): Promise<number> {
  const parts = Array.isArray(table) ? (table as readonly Tensor[]) : [table as Tensor];
  let total = 0;
  let count = 0;
  for (const part of parts) {
    const { tape, rows, columns } = part;
    for (let start = 0; start < rows; start += READ_ROWS) {
      const length = Math.min(READ_ROWS, rows - start);
      const block = tape.noGrad(() =>
        tape.scope(() => gatherRows(part, tape.integers(Array.from({ length }, (_, i) => start + i)))),
      );
      const values = await block.read();
      block.dispose();
      for (let row = 0; row < length; row++) {
        let square = 0;
        for (let i = row * columns; i < (row + 1) * columns; i++) square += (values[i] as number) ** 2;
        total += Math.sqrt(square);
      }
      count += length;
    }
  }
  return total / count;
}
