/**
 * The latent loop at inference, as whatever runs or shows a recursion sees it: steps, one after the other, whose values
 * are read only by those who want them. Two engines: the tape (this file), and plain arrays over any language model
 * that gives hidden states (plainEngine.ts).
 */
import type { SequenceInput } from "../model/languageModel";
import type { Tensor } from "../tensor/tensor";
import type { LensEntry } from "../trace/recursionEvents";
import { type RecursionAgent, tapeOf } from "./agent";
import { nearestTokens, tokenLens } from "./lens";
import type { Turn } from "./pattern";
import type { RecursionBatch } from "./recursionBatch";
import type { SlotFill } from "./slottedPrompts";
import { type UnrollOptions, unrollSteps } from "./unroll";

/** What an agent is about to read, for all questions of the batch. */
export interface PromptView {
  /** Tokens and vectors of each whole prompt. */
  lengths: number[];
  /** Each whole prompt, for `LanguageModel.generate`. */
  inputs(): Promise<SequenceInput[]>;
  /** What fills the slots of one question's prompt: vectors, [latentSteps, hiddenSize], or token ids. */
  contents(question: number): Promise<(Float32Array | readonly number[])[]>;
}

export type LatentStep =
  | { type: "turn" | "answer"; turn: Turn; prompt: PromptView }
  | {
      type: "thought";
      turn: Turn;
      step: number;
      /** Of one question. `lens`: the agent's head on the hidden state, empty where the engine cannot tell. */
      read(question: number): Promise<{ hidden: Float32Array; thought: Float32Array; lens: LensEntry[] }>;
    }
  | {
      type: "message";
      turn: Turn;
      edge: number;
      from: number;
      to: number;
      /** Of one question: its vectors, and for each the reader's tokens that are nearest. */
      read(question: number): Promise<{ vectors: Float32Array[]; nearest: LensEntry[][] }>;
    };

/** As `UnrollOptions`, without what concerns training. */
export interface LatentLoopOptions extends Pick<UnrollOptions, "rounds" | "latentSteps" | "order"> {
  /** May end a step that takes long, which then throws the signal's reason. */
  signal?: AbortSignal;
}

export interface LatentEngine {
  /** The loop; ending it early gives everything back. */
  steps(options: LatentLoopOptions): AsyncGenerator<LatentStep, void, void>;
  /** Resolves when the device has done all that was asked for. */
  settle(): Promise<void>;
}

/** The engine of `unroll`, without gradients. */
export function tapeEngine(batch: RecursionBatch): LatentEngine {
  const { system } = batch;
  const tape = tapeOf(system);
  const agentOf = (index: number) => system.agents[index] as RecursionAgent;

  const viewOf = (agent: number, round: number, fills: readonly SlotFill[]): PromptView => {
    const prompts = batch.prompts(agent, round);
    const lengths = prompts.lengths(fills);
    return {
      lengths,
      async inputs() {
        const rows = tape.noGrad(() => prompts.whole(fills));
        const { columns } = rows;
        const values = await readAway(rows);
        let end = 0;
        return lengths.map((length) => {
          end += length;
          return { embeddings: values.subarray((end - length) * columns, end * columns) };
        });
      },
      async contents(question) {
        const found: (Float32Array | readonly number[])[] = [];
        for (const fill of fills) {
          if (fill.kind === "ids") found.push(fill.ids[question] as readonly number[]);
          else found.push(ownRows(await fill.vectors.read(), fill, question, batch.size));
        }
        return found;
      },
    };
  };

  return {
    async *steps(options) {
      const owned: Tensor[] = [];
      const loop = unrollSteps(batch, options);
      try {
        for (;;) {
          const { value: step, done } = tape.noGrad(() => loop.next());
          if (done || !step) return;
          const { turn } = step;
          if (step.type === "turn" || step.type === "answer") {
            yield { type: step.type, turn, prompt: viewOf(turn.agent, turn.round, step.fills) };
          } else if (step.type === "thought") {
            const { hidden, thought } = step;
            owned.push(hidden, thought);
            yield {
              type: "thought",
              turn,
              step: step.step,
              async read(question) {
                const rowOf = (values: Float32Array, { columns }: Tensor) =>
                  values.slice(question * columns, (question + 1) * columns);
                const own = rowOf(await hidden.read(), hidden);
                const lens = await tokenLens(agentOf(turn.agent).model, own);
                return { hidden: own, thought: rowOf(await thought.read(), thought), lens };
              },
            };
          } else {
            const { vectors, edge, from, to } = step.message;
            owned.push(vectors);
            yield {
              type: "message",
              turn,
              edge,
              from,
              to,
              async read(question) {
                const fill = { vectors, count: options.latentSteps };
                const rows = ownRows(await vectors.read(), fill, question, batch.size);
                const nearest = await nearestTokens(agentOf(to).model, rows);
                const { columns } = vectors;
                return {
                  nearest,
                  vectors: nearest.map((_, row) => rows.slice(row * columns, (row + 1) * columns)),
                };
              },
            };
          }
        }
      } finally {
        loop.return();
        for (const tensor of owned) tensor.dispose();
      }
    },
    async settle() {
      await tape.flush();
      await tape.gpu.finish();
    },
  };
}

async function readAway(tensor: Tensor): Promise<Float32Array> {
  try {
    return await tensor.read();
  } finally {
    tensor.dispose();
  }
}

/** The rows of one question out of rows ordered by step, then by question. */
function ownRows(
  values: Float32Array,
  { vectors, count, order }: { vectors: Tensor; count: number; order?: readonly number[] },
  question: number,
  questions: number,
): Float32Array {
  const { columns } = vectors;
  const source = order ? (order[question] as number) : question;
  const rows = new Float32Array(count * columns);
  for (let step = 0; step < count; step++) {
    const start = (step * questions + source) * columns;
    rows.set(values.subarray(start, start + columns), step * columns);
  }
  return rows;
}
