/** Researches many questions, a few at a time, and tells each result as it comes: what a chart of a batch is drawn from. */
import { batchRequests } from "../model/batching";
import type { Ledger } from "../trace/events";
import { type ResearchOptions, type ResearchReason, research } from "./loop";

export interface BatchQuestion {
  text: string;
  /** Accepted answers, at least one. */
  gold: string[];
}

export interface BatchResult {
  /** Of the question in the batch. */
  index: number;
  question: string;
  gold: string[];
  /** Absent when the run ended without one. */
  answer?: string;
  reason: ResearchReason;
  /** Exact match after normalisation; false without an answer. */
  correct: boolean;
  /** Token F1, 0 without an answer. */
  f1: number;
  turns: number;
  ms: number;
  ledger: Ledger;
}

export interface BatchOptions extends Omit<ResearchOptions, "gold" | "onEvent" | "streamTokens" | "branch"> {
  /** Questions under way at once; the model reads them in common batches. Default 4. */
  concurrency?: number;
  onResult: (result: BatchResult) => void;
}

const DEFAULT_CONCURRENCY = 4;

/**
 * Sampled runs draw different random numbers for every question. Results come in the order in which they are finished.
 * @throws the first failure of an engine, or the signal's reason after an abort; results told before stay true
 */
export async function researchBatch(questions: readonly BatchQuestion[], options: BatchOptions): Promise<void> {
  const { concurrency = DEFAULT_CONCURRENCY, onResult, ...settings } = options;
  if (!Number.isSafeInteger(concurrency) || concurrency < 1) {
    throw new RangeError(`concurrency must be a positive integer; got ${concurrency}`);
  }
  const system2 = batchRequests(settings.system2, { maxBatch: 16 * concurrency });
  const { system1: reader = settings.system2 } = settings;
  const system1 = reader === settings.system2 ? system2 : batchRequests(reader, { maxBatch: 16 * concurrency });
  // One failure ends the others: their results would lack those that it took away.
  const failure = new AbortController();
  const signal = AbortSignal.any([failure.signal, ...(settings.signal ? [settings.signal] : [])]);
  const seed = settings.sampling?.seed ?? 0;
  let next = 0;
  let thrown: unknown;
  const work = async () => {
    while (next < questions.length && !signal.aborted) {
      const index = next++;
      const { text: question, gold } = questions[index] as BatchQuestion;
      const sampling = { ...settings.sampling, seed: seed + index };
      const result = await research(question, { ...settings, system2, system1, sampling, signal, gold });
      const { answer, reason, correct = false, f1 = 0, turns, ms, ledger } = result;
      if (reason === "error") {
        thrown ??= result.error;
        failure.abort();
      }
      if (reason === "error" || reason === "stopped") return;
      onResult({
        ...{ index, question, gold, reason, correct, f1, turns: turns.length, ms, ledger },
        ...(answer !== undefined && { answer }),
      });
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, questions.length) }, work));
  if (thrown !== undefined) throw thrown;
  settings.signal?.throwIfAborted();
}
