/**
 * The latent loop over plain arrays, for language models that give hidden states but do not run on the tape (another
 * engine, for instance). Each turn reads its prompts once and then on, vector by vector. Inference only.
 */
import type { PlainLink } from "../links/plainLinks";
import type { SequenceInput } from "../model/languageModel";
import { widthOf } from "./agent";
import type { LatentEngine, LatentStep, PromptView } from "./latentEngine";
import { lensOf, plainNearestTokens } from "./lens";
import { type Pattern, planTurns } from "./pattern";
import type { PlainSystem } from "./plainSystem";
import { NO_MESSAGE, type Register } from "./prompts";
import type { RecursionQuestion } from "./question";
import { QuestionBatch } from "./questionBatch";
import { SlottedPrompts } from "./slottedPrompts";

/** What it runs on: questions before a system of any engine. */
export type PlainBatch = QuestionBatch<PlainSystem>;

export function plainBatch(system: PlainSystem, questions: readonly RecursionQuestion[], register: Register = "note") {
  return new QuestionBatch(system, questions, register, (_, cut) => new SlottedPrompts(cut));
}

/** The engine for a batch of questions. */
export function plainEngine(batch: PlainBatch): LatentEngine {
  const { questions, system } = batch;
  const { pattern, agents, outerLinks } = system;
  const agentOf = (index: number) => agents[index] as PlainSystem["agents"][number];

  /** Of each question [rows, hiddenSize]: the prompt with messages in its slots; undefined stands for no message. */
  async function promptRows(agent: number, round: number, messages: readonly (Float32Array[] | undefined)[]) {
    const { language } = agentOf(agent).model;
    const nobody = await language.embed(language.tokenizer.encode(NO_MESSAGE));
    const rows: Float32Array[] = [];
    for (const [question, { pieces }] of batch.prompts(agent, round).prompts.entries()) {
      const parts: Float32Array[] = [];
      for (const [i, piece] of pieces.entries()) {
        if (i > 0) parts.push(messages[i - 1]?.[question] ?? nobody);
        if (piece.length > 0) parts.push(await language.embed(piece));
      }
      rows.push(joined(parts));
    }
    return rows;
  }

  const viewOf = (rows: readonly Float32Array[], width: number, messages: readonly (Float32Array[] | undefined)[]) => {
    const view: PromptView = {
      lengths: rows.map(({ length }) => length / width),
      inputs: async () => rows.map((embeddings): SequenceInput => ({ embeddings })),
      contents: async (question) => messages.map((message) => message?.[question] ?? []),
    };
    return view;
  };

  return {
    async *steps({ rounds, latentSteps, order, signal }): AsyncGenerator<LatentStep, void, void> {
      /** By edge, for each question [latentSteps, width]. */
      const sent = new Map<number, Float32Array[]>();
      for (const turn of planTurns(pattern, rounds)) {
        const { model, innerLink } = agentOf(turn.agent);
        const { language } = model;
        const { hiddenSize } = language.config;
        const messages = turn.reads.map(({ edge }) => {
          const message = sent.get(edge);
          return order && message ? order.map((source) => message[source] as Float32Array) : message;
        });
        const rows = await promptRows(turn.agent, turn.round, messages);
        const prompt = viewOf(rows, hiddenSize, messages);
        yield { type: turn.isAnswer ? "answer" : "turn", turn, prompt };
        if (turn.isAnswer) return;
        const thoughts: Float32Array[][] = questions.map(() => []);
        // The last thought is sent, not read.
        const reading = await language.read(
          rows.map((embeddings) => ({ embeddings })),
          { room: latentSteps - 1, ...(signal && { signal }) },
        );
        try {
          for (let step = 0, { newest } = reading; step < latentSteps; step++) {
            if (step > 0)
              newest = await reading.append(
                thoughts.map((own) => own[step - 1] as Float32Array),
                signal,
              );
            const { hidden, logits } = newest;
            const next = split(innerLink.apply(joined(hidden)), hiddenSize);
            next.forEach((thought, question) => {
              thoughts[question]?.push(thought);
            });
            yield {
              type: "thought",
              turn,
              step,
              read: async (question) => ({
                hidden: hidden[question] as Float32Array,
                thought: next[question] as Float32Array,
                lens: lensOf(language, logits[question] as Float32Array),
              }),
            };
          }
        } finally {
          reading.dispose();
        }
        for (const edge of turn.sends) {
          const { from, to } = pattern.edges[edge] as Pattern["edges"][number];
          const reader = agentOf(to);
          const width = widthOf(reader);
          // Step by step, as on the tape: what draws random numbers draws the same ones.
          const inOrder = Array.from({ length: latentSteps }, (_, step) => thoughts.map((own) => own[step]));
          const vectors = split((outerLinks[edge] as PlainLink).apply(joined(inOrder.flat() as Float32Array[])), width);
          const message = questions.map((_, question) =>
            joined(vectors.filter((_, row) => row % questions.length === question)),
          );
          sent.set(edge, message);
          yield {
            type: "message",
            turn,
            edge,
            from,
            to,
            async read(question) {
              const rows = message[question] as Float32Array;
              return { vectors: split(rows, width), nearest: await plainNearestTokens(reader.model, rows) };
            },
          };
        }
      }
    },
    settle: async () => {},
  };
}

function joined(parts: readonly Float32Array[]): Float32Array {
  const result = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    result.set(part, at);
    at += part.length;
  }
  return result;
}

function split(values: Float32Array, length: number): Float32Array[] {
  return Array.from({ length: values.length / length }, (_, i) => values.slice(i * length, (i + 1) * length));
}
