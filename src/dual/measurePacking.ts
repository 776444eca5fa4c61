/** What a packing costs System 1 in calls and time, by really reading the bins with its model. */
import type { LanguageModel } from "../model/languageModel";
import type { PackingAlgorithm } from "../packing/pack";
import { formatDocument } from "./prompts";
import { binCapacity, type FormattedDocument, refine, truncateDocument } from "./system1";

export interface MeasureOptions {
  model: LanguageModel;
  /** Tokens of every document. */
  lengths: readonly number[];
  /** Tokens of one bin. */
  capacity: number;
  algorithms: readonly PackingAlgorithm[];
  /** Bins read at once. Default: all. */
  parallel?: number;
  /** Timed readings of each packing. */
  repetitions: number;
  purpose: string;
  /** Sentences that the documents are filled with. */
  sentences: readonly string[];
  signal?: AbortSignal;
  /** Readings done, of all. */
  onProgress?: (done: number, total: number) => void;
  /** Milliseconds of any origin. Default performance.now. */
  now?: () => number;
}

export interface PackingMeasurement {
  algorithm: PackingAlgorithm;
  /** Prompts that System 1 answers. */
  calls: number;
  /** Batches one after the other. */
  batches: number;
  promptTokens: number;
  outputTokens: number;
  /** Milliseconds of each timed reading. */
  ms: number[];
}

/** New tokens of one bin: enough for a quote, so that no talkative bin decides the time. */
const OUTPUT_TOKENS = 32;

/** The largest bin that System 1's context holds for a purpose. */
export function largestCapacity(model: LanguageModel, purpose: string): number {
  return binCapacity(purpose, { model, capacity: Number.MAX_SAFE_INTEGER, maxTokens: OUTPUT_TOKENS });
}

/**
 * Measures every algorithm, in turns so that a machine that warms up or slows down favours none; a first reading of
 * each, in which shaders are compiled, does not count.
 * @throws RangeError when a bin is larger than System 1's context holds; the signal's reason after an abort
 */
export async function measurePacking(options: MeasureOptions): Promise<PackingMeasurement[]> {
  const { model, capacity, algorithms, parallel, repetitions, purpose, signal, onProgress } = options;
  const now = options.now ?? (() => performance.now());
  const most = largestCapacity(model, purpose);
  if (capacity > most) throw new RangeError(`System 1 reads bins of at most ${most} tokens; got ${capacity}`);
  const documents = fill(options);
  const rows = algorithms.map(
    (algorithm): PackingMeasurement => ({
      ...{ algorithm, calls: 0, batches: 0, promptTokens: 0, outputTokens: 0, ms: [] },
    }),
  );
  const total = (repetitions + 1) * rows.length;
  let done = 0;
  for (let repetition = 0; repetition <= repetitions; repetition++) {
    for (let i = 0; i < rows.length; i++) {
      const row = rows[(i + repetition) % rows.length] as PackingMeasurement;
      signal?.throwIfAborted();
      const start = now();
      const { bins } = await refine(
        documents,
        purpose,
        {
          ...{ model, capacity, maxTokens: OUTPUT_TOKENS, packing: row.algorithm },
          ...(parallel !== undefined && { parallel }),
        },
        { turn: 1, now, ...(signal && { signal }) },
      );
      const ms = now() - start;
      signal?.throwIfAborted();
      if (repetition > 0) row.ms.push(ms);
      row.calls = bins.length;
      row.batches = Math.ceil(bins.length / (parallel ?? Math.max(1, bins.length)));
      row.promptTokens = bins.reduce((sum, { promptTokens }) => sum + promptTokens, 0);
      row.outputTokens = bins.reduce((sum, { outputTokens }) => sum + outputTokens, 0);
      onProgress?.(++done, total);
    }
  }
  return rows;
}

/** Documents of the given lengths, to a token or two, each beginning at another sentence. */
function fill({ lengths, sentences, model }: MeasureOptions): FormattedDocument[] {
  const { tokenizer } = model;
  return lengths.map((tokens, i) => {
    let text = "";
    let counted = 0;
    for (let at = i; counted < tokens; at++) {
      text += `${text === "" ? "" : " "}${sentences[at % sentences.length]}`;
      counted = tokenizer.countTokens(formatDocument(i + 1, { title: "", text }));
    }
    return { text: truncateDocument(formatDocument(i + 1, { title: "", text }), tokens, tokenizer), tokens };
  });
}
