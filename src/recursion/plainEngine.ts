/**
 * The latent loop over plain arrays, for language models that give hidden states but do not run on the tape (another
 * engine, for instance). It keeps no cache: every latent step reads its prompt anew. Inference only.
 */

import { isResidual } from "../links/linkConfig";
import type { StoredLink } from "../links/release";
import type { LanguageModel, SequenceInput } from "../model/languageModel";
import { linkForward } from "../reference/link";
import type { LatentEngine, LatentStep, PromptView } from "./latentEngine";
import { type Pattern, planTurns } from "./pattern";
import { type CutPrompt, cutPrompt } from "./promptBatch";
import { NO_MESSAGE, type Register } from "./prompts";
import type { RecursionQuestion } from "./question";

/** What a link does to rows of vectors, [n, inputSize] to [n, outputSize]. */
export type RowsFunction = (rows: Float32Array) => Float32Array | Promise<Float32Array>;

/** A link on the CPU, in f64 and without a device. */
export function plainLink({ config, tensors }: StoredLink): RowsFunction {
  const weights = new Map(tensors.map(({ name, values }) => [name, Float64Array.from(values)]));
  const { kind, form, inputSize, outputSize } = config;
  const link = { inputSize, outputSize, addsInput: kind === "inner" && isResidual(form), weights };
  return (rows) => Float32Array.from(linkForward(link, Float64Array.from(rows)));
}

export interface PlainSystem {
  pattern: Pattern;
  /** Each model needs the capabilities `embeddingsIn` and `hiddenStates`. */
  agents: readonly { id: string; language: LanguageModel; innerLink: RowsFunction }[];
  /** One for each edge of the pattern. */
  outerLinks: readonly RowsFunction[];
}

/**
 * The engine for a batch of questions. Lens and nearest tokens are left empty: no head is at hand.
 * @throws RangeError for a model that cannot read embeddings or give hidden states
 */
export function plainEngine(
  { pattern, agents, outerLinks }: PlainSystem,
  questions: readonly RecursionQuestion[],
  register: Register = "note",
): LatentEngine {
  for (const { id, language } of agents) {
    const { embeddingsIn, hiddenStates } = language.capabilities;
    if (!embeddingsIn) throw new RangeError(`agent ${id}: ${language.id} cannot read embeddings`);
    if (!hiddenStates) throw new RangeError(`agent ${id}: ${language.id} gives no hidden states`);
  }

  /** Of each question [rows, hiddenSize]: the prompt with messages in its slots; undefined stands for no message. */
  async function promptRows(agent: number, round: number, messages: readonly (Float32Array[] | undefined)[]) {
    const { language } = agents[agent] as PlainSystem["agents"][number];
    const { tokenizer } = language;
    const cut = questions.map((question): CutPrompt => {
      const request = { agent, round, register };
      return cutPrompt(tokenizer, question.messages(request), question.template?.(request));
    });
    const nobody = await language.embed(tokenizer.encode(NO_MESSAGE));
    const rows: Float32Array[] = [];
    for (const [question, { pieces }] of cut.entries()) {
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
    async *steps({ rounds, latentSteps, order }): AsyncGenerator<LatentStep, void, void> {
      /** By edge, for each question [latentSteps, width]. */
      const sent = new Map<number, Float32Array[]>();
      for (const turn of planTurns(pattern, rounds)) {
        const { language, innerLink } = agents[turn.agent] as PlainSystem["agents"][number];
        const { hiddenSize } = language.config;
        const messages = turn.reads.map(({ edge }) => {
          const message = sent.get(edge);
          return order && message ? order.map((source) => message[source] as Float32Array) : message;
        });
        const rows = await promptRows(turn.agent, turn.round, messages);
        const prompt = viewOf(rows, hiddenSize, messages);
        yield { type: turn.isAnswer ? "answer" : "turn", turn, prompt };
        if (turn.isAnswer) return;
        const inputs = [...rows];
        const thoughts: Float32Array[][] = questions.map(() => []);
        for (let step = 0; step < latentSteps; step++) {
          const hidden = await language.forward(
            inputs.map((embeddings) => ({ embeddings })),
            { output: "hidden", lastOnly: true },
          );
          const next = split(await innerLink(joined(hidden)), hiddenSize);
          next.forEach((thought, question) => {
            thoughts[question]?.push(thought);
            inputs[question] = joined([inputs[question] as Float32Array, thought]);
          });
          yield {
            type: "thought",
            turn,
            step,
            read: async (question) => ({
              hidden: hidden[question] as Float32Array,
              thought: next[question] as Float32Array,
              lens: [],
            }),
          };
        }
        for (const edge of turn.sends) {
          const { from, to } = pattern.edges[edge] as Pattern["edges"][number];
          const width = (agents[to] as PlainSystem["agents"][number]).language.config.hiddenSize;
          const vectors = await (outerLinks[edge] as RowsFunction)(joined(thoughts.flat()));
          const message = split(vectors, latentSteps * width);
          sent.set(edge, message);
          yield {
            type: "message",
            turn,
            edge,
            from,
            to,
            read: async (question) => ({ vectors: split(message[question] as Float32Array, width), nearest: [] }),
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
