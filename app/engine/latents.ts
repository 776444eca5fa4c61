/**
 * The vectors of a recursion in the space in which each is read. Agents that share a model share a space; between models
 * even cosines mean nothing, so that every picture shows one space at a time.
 */
import type { LensEntry } from "../../src/index";
import type { RecursionEventOf, RecursionView } from "./recursionView";

/** The space of a model's input embeddings. */
export interface LatentSpace {
  model: string;
  hiddenSize: number;
  /** Agents that read in it. */
  agents: number[];
  /** Lengths of the embeddings. */
  norms: { mean: number; low: number; high: number };
}

export interface LatentVector {
  /** The same vector has the same key in every picture. */
  key: string;
  kind: "thought" | "message";
  round: number;
  /** Who thought it. */
  agent: number;
  /** Who reads it: the agent itself, or the receiver of the message. */
  reader: number;
  step: number;
  vector: readonly number[];
  /** A thought: what the agent would write. A message: the nearest tokens of the reader. */
  lens: readonly LensEntry[];
}

export const thoughtKey = (round: number, agent: number, step: number) => `${round}.${agent}.${step}`;
export const messageKey = (round: number, from: number, to: number, step: number) => `${round}.${from}-${to}.${step}`;

export function spacesOf({ agents, embeddingNorms }: RecursionEventOf<"recursionStarted">): LatentSpace[] {
  const spaces = new Map<string, LatentSpace>();
  for (const [agent, { model, hiddenSize }] of agents.entries()) {
    const norms = embeddingNorms[agent] ?? { mean: 1, low: 1, high: 1 };
    const space = spaces.get(model) ?? { model, hiddenSize, agents: [], norms };
    space.agents.push(agent);
    spaces.set(model, space);
  }
  return [...spaces.values()];
}

/** All vectors of a run in the order in which they came, or those that are read in one space. */
export function vectorsOf({ turns }: Pick<RecursionView, "turns">, space?: LatentSpace): LatentVector[] {
  return turns
    .flatMap(({ round, agent, thoughts, messages }): LatentVector[] => [
      ...thoughts.map(({ step, thought, lens }): LatentVector => {
        const key = thoughtKey(round, agent, step);
        return { key, kind: "thought", round, agent, reader: agent, step, vector: thought, lens };
      }),
      ...messages.flatMap(({ to, vectors, nearest }) =>
        vectors.map((vector, step): LatentVector => {
          const key = messageKey(round, agent, to, step);
          return { key, kind: "message", round, agent, reader: to, step, vector, lens: nearest[step] ?? [] };
        }),
      ),
    ])
    .filter(({ reader }) => !space || space.agents.includes(reader));
}

export function normOf(vector: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < vector.length; i++) sum += (vector[i] as number) ** 2;
  return Math.sqrt(sum);
}

/**
 * Cosines of all pairs, row by row.
 * @param shown vectors from there on are not known yet: NaN
 * @returns [vectors.length ** 2]; a vector of zeros points nowhere: NaN
 */
export function cosinesOf(vectors: readonly ArrayLike<number>[], shown = vectors.length): Float32Array {
  const count = vectors.length;
  const lengths = vectors.map(normOf);
  const cosines = new Float32Array(count * count).fill(Number.NaN);
  for (let row = 0; row < shown; row++) {
    for (let column = row; column < shown; column++) {
      const [a, b] = [vectors[row], vectors[column]] as [ArrayLike<number>, ArrayLike<number>];
      let dot = 0;
      for (let i = 0; i < a.length; i++) dot += (a[i] as number) * (b[i] as number);
      const cosine = dot / ((lengths[row] as number) * (lengths[column] as number));
      cosines[row * count + column] = cosine;
      cosines[column * count + row] = cosine;
    }
  }
  return cosines;
}

/** Embeddings that are nearer than this to another one are as good as the same. */
const SAME_COSINE = 0.95;

/**
 * Embeddings that differ: tokens that never occurred in training all have the same one, and would be most of the
 * spread. Of such a heap the first stays.
 */
export function distinctTokens<T extends { vector: ArrayLike<number> }>(tokens: readonly T[]): T[] {
  const kept: { token: T; length: number }[] = [];
  for (const token of tokens) {
    const length = normOf(token.vector);
    const isKnown = kept.some((other) => {
      let dot = 0;
      for (let i = 0; i < token.vector.length; i++) {
        dot += (token.vector[i] as number) * (other.token.vector[i] as number);
      }
      return dot > SAME_COSINE * length * other.length;
    });
    if (!isKnown) kept.push({ token, length });
  }
  return kept.map(({ token }) => token);
}
