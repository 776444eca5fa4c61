/**
 * How well a model predicts texts, and how often it agrees with another one: what a coarser number format costs. Only
 * one of the two needs to be loaded at a time.
 */
import type { LanguageModel } from "./languageModel";

export interface TextMeasure {
  /** Tokens that were predicted. */
  tokens: number;
  /** exp of the mean negative log-likelihood of a token, given those before it in its window. */
  perplexity: number;
  /** The most probable token at each of these places, in their order. */
  best: Uint32Array;
}

/** Logits of a window: 128 rows of a vocabulary of 150,000 take 77 MB. */
const DEFAULT_WINDOW = 128;

export interface MeasureOptions {
  /** Tokens of a window; texts are cut into windows, each read without what came before. Default 128. */
  window?: number;
  signal?: AbortSignal;
}

/**
 * @param texts token ids; windows of a single token predict nothing
 * @throws RangeError when no token can be predicted; as `LanguageModel.forward`
 */
export async function measureTexts(
  model: Pick<LanguageModel, "config" | "forward">,
  texts: readonly ArrayLike<number>[],
  { window = DEFAULT_WINDOW, signal }: MeasureOptions = {},
): Promise<TextMeasure> {
  const { vocabSize, maxPositions } = model.config;
  const length = Math.min(window, maxPositions);
  const windows = texts.flatMap((text) => {
    const ids = Array.from(text);
    const cut: number[][] = [];
    for (let start = 0; start + 1 < ids.length; start += length) cut.push(ids.slice(start, start + length));
    return cut.filter(({ length: tokens }) => tokens > 1);
  });
  const tokens = windows.reduce((sum, ids) => sum + ids.length - 1, 0);
  if (tokens === 0) throw new RangeError("measureTexts: the texts hold no two tokens in a row");
  const best = new Uint32Array(tokens);
  let logLikelihood = 0;
  let place = 0;
  for (const ids of windows) {
    signal?.throwIfAborted();
    const [logits] = await model.forward([{ ids: ids.slice(0, -1) }], { output: "logits", ...(signal && { signal }) });
    for (let row = 0; row + 1 < ids.length; row++) {
      const own = (logits as Float32Array).subarray(row * vocabSize, (row + 1) * vocabSize);
      let highest = 0;
      for (let id = 1; id < vocabSize; id++) if (own[id]! > own[highest]!) highest = id;
      let sum = 0;
      for (let id = 0; id < vocabSize; id++) sum += Math.exp(own[id]! - own[highest]!);
      logLikelihood += own[ids[row + 1]!]! - own[highest]! - Math.log(sum);
      best[place++] = highest;
    }
  }
  return { tokens, perplexity: Math.exp(-logLikelihood / tokens), best };
}

/** The share of places at which two models find the same token most probable. @throws RangeError for other texts */
export function agreement(a: TextMeasure, b: TextMeasure): number {
  if (a.tokens !== b.tokens) throw new RangeError(`agreement: ${a.tokens} tokens of one text, ${b.tokens} of another`);
  return a.best.reduce((same, id, i) => same + (id === b.best[i] ? 1 : 0), 0) / a.tokens;
}
