/** The closed-form way from one model's input embeddings to another's: both give the same tokens a vector. */
import { RidgeFit } from "../links/ridge";
import type { LatentModel } from "./agent";

/** Enough tokens for any width, few enough for seconds. */
const MAX_COMMON_TOKENS = 8192;

/**
 * The matrix that takes input embeddings of `from` to those of `to` with the least square error, fitted on the tokens
 * that both know by the same text.
 * @returns [width of `to`, width of `from`]
 * @throws RangeError when they have fewer tokens in common than `from` is wide
 */
export async function embeddingMap(from: LatentModel, to: LatentModel): Promise<Float64Array> {
  const [inputSize, outputSize] = [from.decoder.config.hiddenSize, to.decoder.config.hiddenSize];
  const pairs = commonTokens(from, to);
  if (pairs.length < inputSize) {
    const names = `${from.language.id} and ${to.language.id}`;
    throw new RangeError(`${names} have ${pairs.length} tokens in common, too few for a fit of ${inputSize} inputs`);
  }
  const fit = new RidgeFit(inputSize, outputSize);
  const inputs = await from.language.embed(pairs.map(([id]) => id));
  fit.add(inputs, await to.language.embed(pairs.map(([, id]) => id)));
  return fit.solve();
}

/** Ids of the same text in both vocabularies, evenly thinned out. */
export function commonTokens(from: LatentModel, to: LatentModel): [number, number][] {
  const textOf = ({ language }: LatentModel, id: number) => language.tokenizer.decode([id]);
  const theirs = new Map<string, number>();
  // Of several ids with one text the first counts.
  for (let id = to.language.config.vocabSize - 1; id >= 0; id--) theirs.set(textOf(to, id), id);
  const pairs: [number, number][] = [];
  for (let id = 0; id < from.language.config.vocabSize; id++) {
    const text = textOf(from, id);
    const other = theirs.get(text);
    // Pieces of characters all look alike.
    if (other !== undefined && text !== "" && !text.includes("\ufffd")) pairs.push([id, other]);
  }
  const step = Math.max(1, pairs.length / MAX_COMMON_TOKENS);
  return Array.from({ length: Math.floor(pairs.length / step) }, (_, i) => {
    return pairs[Math.floor(i * step)] as [number, number];
  });
}
