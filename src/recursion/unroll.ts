/**
 * The latent loop, once for inference and for training: agents think in latents, hand on what their links make of the
 * thoughts, and in the last turn of the last round the last agent is ready to write. Whether gradients flow is the
 * tape's matter: under `Tape.noGrad` nothing is recorded, otherwise they reach the links of every round.
 * Source: RecursiveMAS (arXiv 2604.25917, section 3) and its released code: m forward passes give m hidden states; the
 * inner link makes each the next input; message = outer(inner(hidden states)), vector by vector.
 *
 *     const batch = new RecursionBatch(system, questions);
 *     tape.scope(() => {
 *       const { messages, fills } = unroll(batch, { rounds: 3, latentSteps: 4 });
 *       for (const { vectors } of messages) vectors.retainGrad = true;
 *       const { hidden, targets } = batch.answerRows(fills, { rounds: 3 });
 *       tape.backward(crossEntropy(hidden, batch.head, targets));
 *     });
 */
import type { Link } from "../links/link";
import type { KeyCache } from "../tensor/keyCache";
import { concatRows, gatherRows } from "../tensor/ops/rows";
import type { Tensor } from "../tensor/tensor";
import { type RecursionAgent, tapeOf } from "./agent";
import { planTurns, type Turn } from "./pattern";
import type { PromptBatch } from "./promptBatch";
import type { RecursionBatch } from "./recursionBatch";
import type { SlotFill } from "./slottedPrompts";

export interface UnrollOptions {
  rounds: number;
  /** m: vectors of a message. */
  latentSteps: number;
  /** Gradients flow through this many of the last rounds; what comes before is computed without. Default: all. */
  gradientRounds?: number;
  /**
   * Where messages come from.
   * - rollout: from the agent's own latent thoughts, as at inference. Default.
   * - teacherForced: from the hidden states that predict the tokens of the agent's target (RecursionQuestion.target),
   *   padded with end tokens to m. As in the released trainer; it leaks: the last agent's feedback is taken on the
   *   right answer, which inference does not have.
   */
  feedback?: "rollout" | "teacherForced";
  /** Agents read messages without gradients: those of a message reach the links that made it and no others. */
  detachMessages?: boolean;
  /** Question i reads the messages that were meant for question `order[i]`. Default: its own. */
  order?: readonly number[];
}

/** A message of a turn along one edge. Rows are ordered by step, then by question: step * questions + question. */
export interface LatentMessage {
  round: number;
  edge: number;
  from: number;
  to: number;
  /** What the outer link made of the sender's thoughts, [latentSteps * questions, width of the receiver]. */
  vectors: Tensor;
}

export type UnrollStep =
  /** An agent is about to read its prompt; `fills` stand for its slots. */
  | { type: "turn"; turn: Turn; fills: readonly SlotFill[] }
  /**
   * One latent step. `hidden` is after the final norm, `thought` what the inner link made of it; each has a row for each
   * question.
   */
  | { type: "thought"; turn: Turn; step: number; hidden: Tensor; thought: Tensor }
  | { type: "message"; turn: Turn; message: LatentMessage }
  /** The last turn: the last agent may write, with these fillings of its slots. */
  | { type: "answer"; turn: Turn; fills: readonly SlotFill[] };

export interface Unrolled {
  /** All messages, in the order in which they were sent. */
  messages: LatentMessage[];
  /** What stands in the slots of the last agent when it writes. */
  fills: readonly SlotFill[];
}

/**
 * The steps of the loop one by one, so that a consumer may read values, show them or stop between them. Tensors that a
 * step yields belong to the scope that was current when it was asked for, and must live until the loop has ended.
 * @throws RangeError for a bad option; LinkError and others from links and agents
 */
export function* unrollSteps(batch: RecursionBatch, options: UnrollOptions): Generator<UnrollStep, void, void> {
  const { rounds, latentSteps, gradientRounds = rounds, feedback = "rollout", detachMessages, order } = options;
  for (const [name, value] of Object.entries({ rounds, latentSteps, gradientRounds })) {
    if (!Number.isInteger(value) || value < 1) throw new RangeError(`${name} is ${value}, and must be at least 1`);
  }
  if (order && order.length !== batch.size) {
    throw new RangeError(`order has ${order.length} places for ${batch.size} questions`);
  }
  const { system } = batch;
  const tape = tapeOf(system);
  const sent = new Map<number, LatentMessage>();
  for (const turn of planTurns(system.pattern, rounds)) {
    const fills = turn.reads.map(({ edge }): SlotFill => {
      const message = sent.get(edge);
      if (!message) return batch.noMessage(turn.agent);
      const vectors = detachMessages ? message.vectors.detach() : message.vectors;
      const common = { kind: "vectors", vectors, count: latentSteps } as const;
      return order ? { ...common, order } : common;
    });
    if (turn.isAnswer) {
      yield { type: "answer", turn, fills };
      return;
    }
    yield { type: "turn", turn, fills };
    const isRecorded = turn.round > rounds - gradientRounds;
    const run = <T>(fn: () => T): T => (isRecorded ? fn() : tape.noGrad(fn));
    const agent = system.agents[turn.agent] as RecursionAgent;
    const prompts = batch.prompts(turn.agent, turn.round);
    const thoughts: Tensor[] = [];
    const steps =
      feedback === "rollout"
        ? rollout(agent, prompts, fills, latentSteps, run)
        : teacherForced(agent, prompts, fills, batch.targetIds(turn, latentSteps), run);
    for (const { hidden, thought } of steps) {
      yield { type: "thought", turn, step: thoughts.length, hidden, thought };
      thoughts.push(thought);
    }
    for (const edge of turn.sends) {
      const { from, to } = system.pattern.edges[edge] as { from: number; to: number };
      const link = system.outerLinks[edge] as Link;
      const vectors = run(() => tape.scope(() => link.forward(concatRows(thoughts))));
      const message = { round: turn.round, edge, from, to, vectors };
      sent.set(edge, message);
      yield { type: "message", turn, message };
    }
  }
}

/** All steps at once, within the caller's scope; see the top of this file. */
export function unroll(batch: RecursionBatch, options: UnrollOptions): Unrolled {
  const messages: LatentMessage[] = [];
  for (const step of unrollSteps(batch, options)) {
    if (step.type === "message") messages.push(step.message);
    if (step.type === "answer") return { messages, fills: step.fills };
  }
  throw new Error("unroll: the plan has no answer");
}

interface Thought {
  hidden: Tensor;
  thought: Tensor;
}

/**
 * The agent's own thoughts: its last hidden state, through the inner link, is its next input.
 * @param run computes; with or without gradients
 */
export function* rollout(
  { model, innerLink }: RecursionAgent,
  prompts: PromptBatch,
  fills: readonly SlotFill[],
  latentSteps: number,
  run: <T>(fn: () => T) => T,
): Generator<Thought, void, void> {
  const { decoder } = model;
  const { tape } = decoder;
  const ones = prompts.prompts.map(() => 1);
  const cache = prompts.begin(latentSteps - 1);
  try {
    let thought: Tensor | undefined;
    for (let step = 0; step < latentSteps; step++) {
      const input = thought;
      const [hidden, next] = run(() =>
        tape.scope(() => {
          const last = input ? decoder.forward(input, cache.next(ones), { cache }) : lastRows(prompts, fills, cache);
          return [last, innerLink.forward(last)];
        }),
      ) as [Tensor, Tensor];
      thought = next;
      yield { hidden, thought: next };
    }
  } finally {
    cache.dispose();
  }
}

/** The last hidden state of each prompt. */
function lastRows(prompts: PromptBatch, fills: readonly SlotFill[], cache: KeyCache): Tensor {
  const { rows, lengths } = prompts.rest(fills);
  return prompts.decoder.forward(rows, cache.next(lengths), { cache, last: lengths.map(() => 1) });
}

/** Hidden states at the places that predict the target's tokens, in one pass. */
function* teacherForced(
  { model, innerLink }: RecursionAgent,
  prompts: PromptBatch,
  fills: readonly SlotFill[],
  targets: readonly (readonly number[])[],
  run: <T>(fn: () => T) => T,
): Generator<Thought, void, void> {
  const { tape } = model.decoder;
  const latentSteps = (targets[0] as readonly number[]).length;
  const pairs = run(() =>
    tape.scope(() => {
      const all = prompts.predicting(fills, targets);
      return Array.from({ length: latentSteps }, (_, step) => {
        const hidden = gatherRows(all, tape.integers(targets.map((_, question) => question * latentSteps + step)));
        return [hidden, innerLink.forward(hidden)];
      }).flat();
    }),
  );
  for (let step = 0; step < latentSteps; step++) {
    yield { hidden: pairs[2 * step] as Tensor, thought: pairs[2 * step + 1] as Tensor };
  }
}
