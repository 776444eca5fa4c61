/** Readings of latent vectors as tokens: what an agent's head makes of a state, and which embeddings are nearest. */
import type { LanguageModel } from "../model/languageModel";
import { linear } from "../tensor/ops/linear";
import type { Tensor } from "../tensor/tensor";
import type { LensEntry } from "../trace/recursionEvents";
import type { LatentModel, ThinkingModel } from "./agent";
import { embeddingProducts } from "./embeddingProducts";

const TOP = 5;
/** Elements of products that are read back at a time: 16 MiB. */
const READ_ELEMENTS = 4 * 2 ** 20;

/** The most probable next tokens at a hidden state, most probable first (the logit lens at the last layer). */
export async function tokenLens(model: LatentModel, hidden: Float32Array, top = TOP): Promise<LensEntry[]> {
  const [logits] = (await products(model, hidden, model.decoder.tensors.head)) as [Float32Array];
  return lensOf(model.language, logits, top);
}

/** The most probable tokens of one row of logits. */
export function lensOf(language: LanguageModel, logits: Float32Array, top = TOP): LensEntry[] {
  const largest = logits.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const total = logits.reduce((sum, logit) => sum + Math.exp(logit - largest), 0);
  return topEntries(language, logits, top, (logit) => Math.exp(logit - largest) / total);
}

/**
 * For each vector the rows of the model's embedding with the largest cosines.
 * @param vectors [n, hiddenSize]
 */
export async function nearestTokens(model: LatentModel, vectors: Float32Array, top = TOP): Promise<LensEntry[][]> {
  return nearestOf(model, vectors, await products(model, vectors, model.decoder.tensors.embedding), top);
}

/** As `nearestTokens`, for a model of any engine. */
export async function plainNearestTokens(
  model: ThinkingModel,
  vectors: Float32Array,
  top = TOP,
): Promise<LensEntry[][]> {
  return nearestOf(model, vectors, await embeddingProducts(model.language, vectors), top);
}

/** @param products of each vector with all embeddings */
function nearestOf(
  { embeddingLengths, language }: ThinkingModel,
  vectors: Float32Array,
  products: readonly Float32Array[],
  top: number,
): LensEntry[][] {
  const { hiddenSize } = language.config;
  return products.map((dots, row) => {
    const length = Math.hypot(...vectors.subarray(row * hiddenSize, (row + 1) * hiddenSize));
    // A vector or an embedding of zeros points nowhere.
    const cosines = dots.map((dot, id) => dot / Math.max(length * (embeddingLengths[id] as number), 1e-30));
    return topEntries(language, cosines, top, (cosine) => cosine);
  });
}

/** Each vector times all rows of a table. */
async function products(
  { decoder }: LatentModel,
  vectors: Float32Array,
  parts: readonly Tensor[],
): Promise<Float32Array[]> {
  const { tape, config } = decoder;
  const { hiddenSize } = config;
  const size = parts.reduce((sum, { rows }) => sum + rows, 0);
  const perRead = Math.max(1, Math.floor(READ_ELEMENTS / size));
  const rows = vectors.length / hiddenSize;
  const found: Float32Array[] = [];
  for (let start = 0; start < rows; start += perRead) {
    const count = Math.min(perRead, rows - start);
    const block = Array.from({ length: count }, () => new Float32Array(size));
    let first = 0;
    for (const part of parts) {
      const output = tape.noGrad(() =>
        tape.scope(() => {
          const values = vectors.subarray(start * hiddenSize, (start + count) * hiddenSize);
          return linear(tape.tensor(values, count, hiddenSize, { label: "latent vectors" }), part);
        }),
      );
      try {
        const values = await output.read();
        block.forEach((row, i) => {
          row.set(values.subarray(i * part.rows, (i + 1) * part.rows), first);
        });
      } finally {
        output.dispose();
      }
      first += part.rows;
    }
    found.push(...block);
  }
  return found;
}

function topEntries(
  language: LanguageModel,
  scores: Float32Array,
  top: number,
  probabilityOf: (score: number) => number,
): LensEntry[] {
  const ids: number[] = [];
  for (let id = 0; id < scores.length; id++) {
    const score = scores[id] as number;
    if (ids.length === top && score <= (scores[ids[top - 1] as number] as number)) continue;
    const place = ids.findIndex((other) => (scores[other] as number) < score);
    ids.splice(place < 0 ? ids.length : place, 0, id);
    if (ids.length > top) ids.pop();
  }
  return ids.map((id) => ({
    id,
    text: language.tokenizer.decode([id]),
    probability: probabilityOf(scores[id] as number),
  }));
}
