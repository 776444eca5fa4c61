/** What a batch comes to: accuracy with its interval, costs, and accuracy against the context that was used. Pure. */
import { type BatchResult, wilson95 } from "../../../src/index";

export interface BatchFigures {
  n: number;
  /** Exact match, 0 to 1. */
  accuracy: number;
  /** Wilson's 95% interval. */
  ci95: [number, number];
  /** Mean token F1. */
  f1: number;
  /** Means of a question. */
  context: number;
  withoutSystem1: number;
  system1Calls: number;
  ms: number;
}

export function figuresOfBatch(results: readonly BatchResult[]): BatchFigures {
  const n = results.length;
  const mean = (of: (result: BatchResult) => number) =>
    n === 0 ? 0 : results.reduce((sum, result) => sum + of(result), 0) / n;
  const right = results.filter(({ correct }) => correct).length;
  return {
    n,
    accuracy: n === 0 ? 0 : right / n,
    ci95: wilson95(right, n),
    f1: mean(({ f1 }) => f1),
    context: mean(({ ledger }) => ledger.system2ContextTokens),
    withoutSystem1: mean(({ ledger }) => ledger.system2ContextWithoutSystem1),
    system1Calls: mean(({ ledger }) => ledger.system1Calls),
    ms: mean(({ ms }) => ms),
  };
}

export interface ContextGroup {
  n: number;
  /** Mean tokens of System 2's context. */
  context: number;
  accuracy: number;
}

/** Questions of a group, at least: fewer would draw noise. */
const LEAST = 4;
const MOST_GROUPS = 5;

/** The questions by the context that they took, in groups of equal size. */
export function byContext(results: readonly BatchResult[]): ContextGroup[] {
  if (results.length === 0) return [];
  const sorted = [...results].sort((a, b) => a.ledger.system2ContextTokens - b.ledger.system2ContextTokens);
  const groups = Math.max(1, Math.min(MOST_GROUPS, Math.floor(sorted.length / LEAST)));
  return Array.from({ length: groups }, (_, i) => {
    const from = Math.round((i * sorted.length) / groups);
    const to = Math.round(((i + 1) * sorted.length) / groups);
    const { n, context, accuracy } = figuresOfBatch(sorted.slice(from, to));
    return { n, context, accuracy };
  });
}
