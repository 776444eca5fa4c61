/**
 * What 8 or 4 bits cost a model: it and the same files as stored predict a shipped text. The stored one is on the device
 * beside it for as long as that takes.
 */
import type { LanguageModel } from "../model/languageModel";
import { agreement, measureTexts, type TextMeasure } from "../model/textMeasure";
import { makeWorld } from "../world/world";

/** Tokens of the text: some seconds on a processor for models of some million parameters. */
const TOKENS = 512;
/** Of the encyclopedia; `lab eval weights` begins with the same articles. */
const SEED = 1;

export interface WeightError {
  /** Tokens that were predicted. */
  tokens: number;
  perplexity: number;
  /** With weights as stored, in f32 arithmetic. */
  storedPerplexity: number;
  /** Share of tokens at which both find the same one most probable, 0 to 1. */
  agreement: number;
}

export interface WeightErrorHooks {
  signal: AbortSignal;
  /** Share of the work that is done, 0 to 1. */
  onProgress(share: number): void;
}

/**
 * @param beside lends the same model as stored; `onLoad` is told how far its loading is, 0 to 1
 * @throws the signal's reason; what loading and computing throw
 */
export async function measureWeightError(
  model: LanguageModel,
  beside: <T>(onLoad: (share: number) => void, work: (stored: LanguageModel) => Promise<T>) => Promise<T>,
  { signal, onProgress }: WeightErrorHooks,
): Promise<WeightError> {
  const texts = shippedText(model);
  const measure = (own: LanguageModel, from: number) =>
    measured(own, texts, signal, (share) => onProgress(from + share / 3));
  const coarse = await measure(model, 0);
  const stored = await beside(
    (share) => onProgress((1 + share) / 3),
    (own) => measure(own, 2 / 3),
  );
  return {
    tokens: stored.tokens,
    perplexity: coarse.perplexity,
    storedPerplexity: stored.perplexity,
    agreement: agreement(coarse, stored),
  };
}

function shippedText({ tokenizer }: LanguageModel): number[][] {
  const texts: number[][] = [];
  let left = TOKENS;
  for (const { text } of makeWorld(SEED, { questions: 0 }).documents) {
    const ids = tokenizer.encode(text).slice(0, left);
    left -= ids.length;
    if (ids.length > 1) texts.push(ids);
    if (left < 2) break;
  }
  return texts;
}

/** Text by text, so that progress is told and an abort is heard. */
async function measured(
  model: LanguageModel,
  texts: readonly number[][],
  signal: AbortSignal,
  onProgress: (share: number) => void,
): Promise<TextMeasure> {
  const parts: TextMeasure[] = [];
  for (const [i, text] of texts.entries()) {
    parts.push(await measureTexts(model, [text], { signal }));
    onProgress((i + 1) / texts.length);
  }
  const tokens = parts.reduce((sum, part) => sum + part.tokens, 0);
  const logLoss = parts.reduce((sum, part) => sum + part.tokens * Math.log(part.perplexity), 0);
  return {
    tokens,
    perplexity: Math.exp(logLoss / tokens),
    best: Uint32Array.from(parts.flatMap(({ best }) => [...best])),
  };
}
