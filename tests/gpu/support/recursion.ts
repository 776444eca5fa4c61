/** Small systems of random agents and links, questions for them, and the recursion as it is told, in f64. */
import type { ModelConfig } from "../../../src/checkpoint/config";
import { openCheckpoint } from "../../../src/checkpoint/load";
import { randomCheckpoint } from "../../../src/checkpoint/randomCheckpoint";
import { byteTokenizer } from "../../../src/dual/scriptedModel";
import { isResidual, linkConfig } from "../../../src/links/linkConfig";
import { RecursiveLink } from "../../../src/links/recursiveLink";
import { type LatentModel, openLatentModel, type RecursionSystem, widthOf } from "../../../src/recursion/agent";
import type { Pattern } from "../../../src/recursion/pattern";
import { NO_MESSAGE, SLOT } from "../../../src/recursion/prompts";
import type { RecursionQuestion } from "../../../src/recursion/question";
import {
  loadReferenceModel,
  type ReferenceModel,
  referenceHidden,
  referenceLogits,
} from "../../../src/reference/decoder";
import { linkForward, type ReferenceLink } from "../../../src/reference/link";
import type { Tape } from "../../../src/tensor/tape";
import type { ModelTokenizer } from "../../../src/text/tokenizer";
import { LLAMA, QWEN2, QWEN3 } from "./models";

/** Different widths, depths and architectures. */
export const AGENT_CONFIGS: ModelConfig[] = [QWEN3, QWEN2, LLAMA].map((config) => {
  return { ...config, vocabSize: 256, maxPositions: 640, eosIds: [0] };
});

/** Its tokens are the bytes of a text with their lowest bit turned over: another tokenizer with the same texts. */
const oddTokenizer: ModelTokenizer = {
  ...byteTokenizer,
  encode: (text) => byteTokenizer.encode(text).map((id) => id ^ 1),
  decode: (ids) => byteTokenizer.decode(Array.from(ids, (id) => id ^ 1)),
  detokenizer() {
    const own = byteTokenizer.detokenizer();
    return { push: (id) => own.push(id ^ 1), flush: () => own.flush() };
  },
};

export interface TestModel {
  model: LatentModel;
  reference: ReferenceModel;
}

/** Models of the configurations, the second with a tokenizer of its own. */
export async function openTestModels(tape: Tape, configs = AGENT_CONFIGS): Promise<TestModel[]> {
  const models: TestModel[] = [];
  for (const [seed, config] of configs.entries()) {
    const checkpoint = await openCheckpoint(randomCheckpoint(config, { seed }));
    const tokenizer = seed === 1 ? oddTokenizer : byteTokenizer;
    const model = await openLatentModel({ id: `random ${seed}`, tape, checkpoint, tokenizer });
    models.push({ model, reference: await loadReferenceModel(checkpoint) });
  }
  return models;
}

export interface TestSystem {
  system: RecursionSystem & { outerLinks: readonly RecursiveLink[] };
  innerLinks: RecursiveLink[];
  references: ReferenceModel[];
  tokenizers: ModelTokenizer[];
  dispose(): void;
}

/** Agents that take the models in turn, with links of random values and of the released form. */
export function makeSystem(tape: Tape, models: readonly TestModel[], pattern: Pattern): TestSystem {
  const chosen = pattern.roles.map((_, i) => models[i % models.length] as TestModel);
  const innerLinks = chosen.map(({ model }, i) => {
    const size = model.decoder.config.hiddenSize;
    const config = linkConfig({ kind: "inner", form: "released", inputSize: size, outputSize: size });
    return RecursiveLink.create({ tape, config, seed: i, outputScale: 0.5 });
  });
  const agents = pattern.roles.map((role, i) => {
    return { id: `${role} ${i}`, role, model: chosen[i]!.model, innerLink: innerLinks[i]! };
  });
  const outerLinks = pattern.edges.map(({ from, to }, edge) => {
    const [inputSize, outputSize] = [widthOf(agents[from]!), widthOf(agents[to]!)];
    const config = linkConfig({ kind: "outer", form: "released", inputSize, outputSize });
    return RecursiveLink.create({ tape, config, seed: 100 + edge, outputScale: 0.5 });
  });
  return {
    system: { pattern, agents, outerLinks },
    innerLinks,
    references: chosen.map(({ reference }) => reference),
    tokenizers: chosen.map(({ model }) => model.language.tokenizer),
    dispose() {
      for (const link of [...innerLinks, ...outerLinks]) link.dispose();
    },
  };
}

/** Prompts of ragged lengths, other ones for every agent and question; targets and a grader that likes short answers. */
export function makeQuestions({ edges, roles }: Pattern, count: number): RecursionQuestion[] {
  return Array.from({ length: count }, (_, question) => ({
    text: `question ${question}`,
    gold: "a",
    messages: ({ agent }) => {
      const slots = edges.flatMap(({ from, to }) => (to === agent ? [`${roles[from]}:${SLOT}`] : []));
      return [{ role: "user", content: `${roles[agent]} ${"?".repeat(1 + 3 * question)}\n${slots.join(" ")}` }];
    },
    target: ({ agent, round }) => `${agent}${round}${"!".repeat(question)}`,
    grade: (text) => ({ answer: text.slice(0, 1), correct: text.startsWith("a") }),
  }));
}

export async function referenceLink(link: RecursiveLink): Promise<ReferenceLink> {
  const { inputSize, outputSize, kind, form } = link.config;
  const tensors = await link.tensors();
  const weights = new Map(tensors.map(({ name, values }) => [name, Float64Array.from(values)]));
  return { inputSize, outputSize, addsInput: kind === "inner" && isResidual(form), weights };
}

export interface ReferenceRun {
  /** By "round edge", for each question [latentSteps][width]. */
  messages: Map<string, number[][][]>;
  /** What the last agent reads at last, for each question [rows * hiddenSize]. */
  prompts: number[][];
}

export interface ReferenceOptions {
  pattern: Pattern;
  references: readonly ReferenceModel[];
  tokenizers: readonly ModelTokenizer[];
  inner: readonly ReferenceLink[];
  outer: readonly ReferenceLink[];
  questions: readonly RecursionQuestion[];
  rounds: number;
  latentSteps: number;
}

/** The loop as it is told: everything concatenated, nothing kept, one question at a time. */
export function referenceLoop(options: ReferenceOptions): ReferenceRun {
  const { pattern, references, tokenizers, inner, outer, questions, rounds, latentSteps } = options;
  const messages = new Map<string, number[][][]>();
  const inbox = new Map<number, number[][][]>();
  const promptOf = (agent: number, round: number, question: number) => {
    const text = byteTokenizer.renderChat(questions[question]!.messages({ agent, round, register: "note" }), {
      enableThinking: false,
    });
    const incoming = pattern.edges.flatMap(({ to }, edge) => (to === agent ? [edge] : []));
    return text.split(SLOT).flatMap((piece, i) => {
      const message = i > 0 ? (inbox.get(incoming[i - 1]!)?.[question]?.flat() ?? embed(NO_MESSAGE, agent)) : [];
      return [...message, ...embed(piece, agent)];
    });
  };
  const embed = (text: string, agent: number) => embedIds(references[agent]!, tokenizers[agent]!.encode(text));
  for (let round = 1; round <= rounds; round++) {
    for (const agent of pattern.groups.flat()) {
      if (round === rounds && agent === references.length - 1) break;
      const model = references[agent]!;
      const thoughts = questions.map((_, question) => {
        const rows = promptOf(agent, round, question);
        return Array.from({ length: latentSteps }, () => {
          const hidden = referenceHidden(model, { embeddings: rows }).slice(-model.config.hiddenSize);
          const thought = Array.from(linkForward(inner[agent]!, hidden));
          rows.push(...thought);
          return thought;
        });
      });
      pattern.edges.forEach(({ from }, edge) => {
        if (from !== agent) return;
        const message = thoughts.map((own) =>
          own.map((thought) => Array.from(linkForward(outer[edge]!, Float64Array.from(thought)))),
        );
        inbox.set(edge, message);
        messages.set(`${round} ${edge}`, message);
      });
    }
  }
  return { messages, prompts: questions.map((_, question) => promptOf(references.length - 1, rounds, question)) };
}

export function embedIds(model: ReferenceModel, ids: readonly number[]): number[] {
  const { hiddenSize } = model.config;
  const table = model.weights.get("model.embed_tokens.weight")!;
  return ids.flatMap((id) => Array.from(table.slice(id * hiddenSize, (id + 1) * hiddenSize)));
}

/** Mean over all tokens of the answers, end tokens included, of their negative log-probabilities. */
export function referenceLoss(options: ReferenceOptions): number {
  const { references, tokenizers, questions, rounds } = options;
  const agent = references.length - 1;
  const model = references[agent]!;
  const { vocabSize, hiddenSize, eosIds } = model.config;
  let [total, count] = [0, 0];
  referenceLoop(options).prompts.forEach((prompt, question) => {
    const ids = tokenizers[agent]!.encode(questions[question]!.target!({ agent, round: rounds, register: "note" }));
    const rows = [...prompt, ...embedIds(model, ids)];
    const logits = referenceLogits(model, { embeddings: rows });
    [...ids, eosIds[0]!].forEach((id, i) => {
      const row = prompt.length / hiddenSize - 1 + i;
      const own = logits.slice(row * vocabSize, (row + 1) * vocabSize);
      const largest = own.reduce((a, b) => Math.max(a, b));
      total += Math.log(own.reduce((sum, logit) => sum + Math.exp(logit - largest), 0)) + largest - own[id]!;
      count++;
    });
  });
  return total / count;
}
