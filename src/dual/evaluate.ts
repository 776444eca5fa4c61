/** Runs the dual-system loop over many questions at once and sums up how well it did. */
import type { Ledger } from "../trace/events";
import { wilson95 } from "../world/stats";
import type { WorldQuestion } from "../world/types";
import { type ResearchOptions, type ResearchResult, research } from "./loop";

export interface Accuracy {
  /** Correct over all, 0 to 1; 0 without questions. */
  accuracy: number;
  /** Wilson's 95% interval. */
  ci95: [number, number];
}

export type GroupAccuracy = Accuracy & { n: number };

export interface DualEvaluation {
  n: number;
  overall: Accuracy;
  /** By the number of hops, as text. */
  byHops: Record<string, GroupAccuracy>;
  byKind: Record<string, GroupAccuracy>;
  /** Ledgers of all questions, summed. */
  tokens: Ledger;
}

/**
 * Researches all questions at the same time, so that a model behind `batchRequests` reads many of them in every call.
 * Sampled runs draw different random numbers for every question. Events of all runs come mixed.
 * @throws the first failure of an engine, after all runs have ended
 */
export async function evaluateDual(
  questions: readonly WorldQuestion[],
  options: Omit<ResearchOptions, "gold">,
  onFinished?: (index: number, result: ResearchResult) => void,
): Promise<DualEvaluation> {
  const seed = options.sampling?.seed ?? 0;
  const results = await Promise.all(
    questions.map(async (question, i) => {
      const sampling = { ...options.sampling, seed: seed + i };
      const result = await research(question.text, { ...options, sampling, gold: question.gold });
      onFinished?.(i, result);
      return result;
    }),
  );
  for (const { reason, error } of results) {
    // A question that the engine failed was not answered wrongly: the figures would lie.
    if (reason === "error") throw error;
  }
  options.signal?.throwIfAborted();
  return summarize(
    questions,
    results.map(({ correct }) => correct === true),
    results.map(({ ledger }) => ledger),
  );
}

export function summarize(
  questions: readonly WorldQuestion[],
  correct: readonly boolean[],
  ledgers: readonly Ledger[],
): DualEvaluation {
  const { n, ...overall } = accuracyOf(correct);
  const groups = (key: (question: WorldQuestion) => string) => {
    const names = [...new Set(questions.map(key))].sort();
    const members = (name: string) => correct.filter((_, i) => key(questions[i] as WorldQuestion) === name);
    return Object.fromEntries(names.map((name) => [name, accuracyOf(members(name))]));
  };
  return {
    n,
    overall,
    byHops: groups(({ hops }) => String(hops)),
    byKind: groups(({ kind }) => kind),
    tokens: sumLedgers(ledgers),
  };
}

function accuracyOf(correct: readonly boolean[]): GroupAccuracy {
  const n = correct.length;
  const right = correct.filter(Boolean).length;
  return { n, accuracy: n === 0 ? 0 : right / n, ci95: wilson95(right, n) };
}

function sumLedgers(ledgers: readonly Ledger[]): Ledger {
  const sum = (key: keyof Ledger) => ledgers.reduce((total, ledger) => total + ledger[key], 0);
  return {
    rawTokens: sum("rawTokens"),
    system1PromptTokens: sum("system1PromptTokens"),
    system1OutputTokens: sum("system1OutputTokens"),
    system1Calls: sum("system1Calls"),
    system2ContextTokens: sum("system2ContextTokens"),
    system2OutputTokens: sum("system2OutputTokens"),
    system2ContextWithoutSystem1: sum("system2ContextWithoutSystem1"),
  };
}
