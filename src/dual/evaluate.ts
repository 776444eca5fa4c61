/** Runs the dual-system loop over many questions at once and sums up how well it did. */
import type { Ledger } from "../trace/events";
import { purposeOf } from "../world/questions";
import { wilson95 } from "../world/stats";
import type { WorldQuestion } from "../world/types";
import { type ResearchOptions, type ResearchResult, type ResearchTurn, research } from "./loop";
import { NOTHING_RELEVANT } from "./prompts";

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
  /** How often System 1 was right, bin by bin, where System 2 asked for a step of the question. */
  system1: {
    /** Bins that hold the fact: it says the object, and does not deny. */
    found: GroupAccuracy;
    /** Bins that do not hold it: it says that there is nothing relevant, and nothing else. */
    denied: GroupAccuracy;
  };
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
    results.map(({ turns }) => turns),
  );
}

function summarize(
  questions: readonly WorldQuestion[],
  correct: readonly boolean[],
  ledgers: readonly Ledger[],
  turns: readonly (readonly ResearchTurn[])[],
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
    system1: system1Accuracy(questions, turns),
    tokens: sumLedgers(ledgers),
  };
}

function system1Accuracy(
  questions: readonly WorldQuestion[],
  turns: readonly (readonly ResearchTurn[])[],
): DualEvaluation["system1"] {
  const found: boolean[] = [];
  const denied: boolean[] = [];
  for (const [i, { chain }] of questions.entries()) {
    for (const { call, documents = [], bins = [] } of turns[i] ?? []) {
      const step = chain.find(({ relation, subject }) => purposeOf(relation, subject) === call?.purpose);
      if (!step) continue;
      for (const { items, text } of bins) {
        const holds = items.some((item) => {
          const document = documents[item];
          return document?.title === step.subject && document.text.includes(step.object);
        });
        const denies = text.includes(NOTHING_RELEVANT);
        if (holds) found.push(text.includes(step.object) && !denies);
        else denied.push(denies && !text.trim().includes("\n"));
      }
    }
  }
  return { found: accuracyOf(found), denied: accuracyOf(denied) };
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
