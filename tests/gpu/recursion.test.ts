/** The latent loop against a plain reference: f64, no cache, every prompt concatenated anew. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ModelConfig } from "../../src/checkpoint/config";
import { openCheckpoint } from "../../src/checkpoint/load";
import { randomCheckpoint } from "../../src/checkpoint/randomCheckpoint";
import type { Gpu } from "../../src/gpu/device";
import { openNodeGpu } from "../../src/gpu/nodeDevice";
import type { Link } from "../../src/links/link";
import { linkConfig } from "../../src/links/linkConfig";
import { RecursiveLink } from "../../src/links/recursiveLink";
import { type LatentModel, openLatentModel, type RecursionSystem, widthOf } from "../../src/recursion/agent";
import { type Pattern, sequentialPattern } from "../../src/recursion/pattern";
import { SLOT } from "../../src/recursion/prompts";
import type { RecursionQuestion } from "../../src/recursion/question";
import { RecursionBatch } from "../../src/recursion/recursionBatch";
import { unroll } from "../../src/recursion/unroll";
import { loadReferenceModel, type ReferenceModel, referenceHidden } from "../../src/reference/decoder";
import { linkForward } from "../../src/reference/link";
import { Tape } from "../../src/tensor/tape";
import { relativeError } from "./support/gpu";
import { LLAMA, QWEN2, QWEN3, SHOW_IDS, someIds } from "./support/models";

const CONFIGS: ModelConfig[] = [QWEN3, QWEN2, LLAMA].map((config) => ({ ...config, eosIds: [3] }));
const tokenizer = { ...SHOW_IDS, encode: (text: string) => (text === " none" ? [7, 9] : SHOW_IDS.encode(text)) };

let gpu: Gpu;
let tape: Tape;
let models: LatentModel[];
let references: ReferenceModel[];
beforeAll(async () => {
  gpu = await openNodeGpu();
  tape = new Tape(gpu);
  models = [];
  references = [];
  for (const [seed, config] of CONFIGS.entries()) {
    const checkpoint = await openCheckpoint(randomCheckpoint(config, { seed }));
    models.push(await openLatentModel({ id: `random ${seed}`, tape, checkpoint, tokenizer }));
    references.push(await loadReferenceModel(checkpoint));
  }
});
afterAll(() => {
  for (const model of models) model.dispose();
  expect(tape.liveBytes).toBe(0);
  tape.dispose();
  expect(gpu.liveBytes).toBe(0);
  gpu.close();
});

const text = (ids: readonly number[]) => ids.map((id) => `<${id}>`).join("");

function makeSystem(pattern: Pattern): { system: RecursionSystem; dispose(): void } {
  const agents = pattern.roles.map((role, i) => {
    const model = models[i % models.length]!;
    const size = model.decoder.config.hiddenSize;
    const config = linkConfig({ kind: "inner", form: "released", inputSize: size, outputSize: size });
    const innerLink = RecursiveLink.create({ tape, config, seed: i, outputScale: 0.5 });
    return { id: `agent ${i}`, role, model, innerLink };
  });
  const outerLinks = pattern.edges.map(({ from, to }, edge) => {
    const [inputSize, outputSize] = [widthOf(agents[from]!), widthOf(agents[to]!)];
    const config = linkConfig({ kind: "outer", form: "released", inputSize, outputSize });
    return RecursiveLink.create({ tape, config, seed: 100 + edge, outputScale: 0.5 });
  });
  return {
    system: { pattern, agents, outerLinks },
    dispose() {
      for (const link of [...agents.map(({ innerLink }) => innerLink), ...outerLinks]) link.dispose();
    },
  };
}

const slotsOf = ({ edges }: Pattern, agent: number) => edges.filter(({ to }) => to === agent).length;

/** Prompts of ragged lengths, other ones for every agent and question, with one piece before each slot and one after. */
function makeQuestions(pattern: Pattern, count: number): RecursionQuestion[] {
  return Array.from({ length: count }, (_, question) => ({
    text: `question ${question}`,
    messages: ({ agent }) => {
      const piece = (length: number, seed: number) => text(someIds(length, 60, seed + 7 * agent + 31 * question));
      const pieces = Array.from({ length: slotsOf(pattern, agent) }, (_, slot) => piece(question + 2 * slot, slot + 1));
      return [{ role: "user", content: [piece(3 + 4 * question, 0), ...pieces].join(SLOT) + piece(2, 9) }];
    },
    target: ({ agent, round }) => text(someIds(1 + question, 60, agent + round)),
  }));
}

/** The loop as it is told: everything concatenated, nothing kept. Messages by "round edge", [question][step][width]. */
async function referenceLoop(
  system: RecursionSystem,
  questions: readonly RecursionQuestion[],
  rounds: number,
  m: number,
) {
  const { pattern, agents, outerLinks } = system;
  const link = async (own: Link, addsInput: boolean) => {
    const { config } = own as RecursiveLink;
    const tensors = await (own as RecursiveLink).tensors();
    const weights = new Map(tensors.map(({ name, values }) => [name, Float64Array.from(values)]));
    return { inputSize: config.inputSize, outputSize: config.outputSize, addsInput, weights };
  };
  const inners = await Promise.all(agents.map(({ innerLink }) => link(innerLink, true)));
  const outers = await Promise.all(outerLinks.map((own) => link(own, false)));
  const found = new Map<string, number[][][]>();
  const inbox = new Map<number, number[][][]>();
  const answers: number[][] = [];
  const prompt = (agent: number, round: number, question: number) => {
    const { content } = questions[question]!.messages({ agent, round, register: "note" })[0]!;
    const table = references[agent % references.length]!;
    const { hiddenSize } = table.config;
    const embeddings = table.weights.get("model.embed_tokens.weight")!;
    const embed = (ids: readonly number[]) =>
      ids.flatMap((id) => Array.from(embeddings.slice(id * hiddenSize, (id + 1) * hiddenSize)));
    const incoming = pattern.edges.flatMap(({ to }, edge) => (to === agent ? [edge] : []));
    return content.split(SLOT).flatMap((piece, i) => {
      const message = i > 0 ? inbox.get(incoming[i - 1]!)?.[question]?.flat() : [];
      return [...(message ?? embed([7, 9])), ...embed(tokenizer.encode(piece))];
    });
  };
  const lastHidden = (agent: number, embeddings: readonly number[]) => {
    const model = references[agent % references.length]!;
    return Array.from(referenceHidden(model, { embeddings }).slice(-model.config.hiddenSize));
  };
  for (let round = 1; round <= rounds; round++) {
    for (const agent of pattern.groups.flat()) {
      const isAnswer = round === rounds && agent === agents.length - 1;
      const thoughts = questions.map((_, question) => {
        const rows = prompt(agent, round, question);
        if (isAnswer) {
          answers.push(rows);
          return [];
        }
        return Array.from({ length: m }, () => {
          const thought = Array.from(linkForward(inners[agent]!, Float64Array.from(lastHidden(agent, rows))));
          rows.push(...thought);
          return thought;
        });
      });
      if (isAnswer) break;
      pattern.edges.forEach(({ from }, edge) => {
        if (from !== agent) return;
        const message = thoughts.map((own) =>
          own.map((thought) => Array.from(linkForward(outers[edge]!, Float64Array.from(thought)))),
        );
        inbox.set(edge, message);
        found.set(`${round} ${edge}`, message);
      });
    }
  }
  return { messages: found, answers };
}

/** [question][step][width] as the tape has it: by step, then by question. */
const byStep = (message: readonly (readonly (readonly number[])[])[]) =>
  message[0]!.flatMap((_, step) => message.flatMap((own) => own[step]!));

describe("the latent loop", () => {
  it("batched, cached and with shared beginnings, is that of the plain reference", async () => {
    const pattern = sequentialPattern();
    const { system, dispose } = makeSystem(pattern);
    const questions = makeQuestions(pattern, 4);
    const [rounds, latentSteps] = [3, 3];
    const expected = await referenceLoop(system, questions, rounds, latentSteps);
    let before = 0;
    for (const run of ["first", "second"]) {
      const batch = new RecursionBatch(system, questions);
      const keys: string[] = [];
      const [whole, ...vectors] = tape.scope(() =>
        tape.noGrad(() => {
          const { messages, fills } = unroll(batch, { rounds, latentSteps });
          keys.push(...messages.map(({ round, edge }) => `${round} ${edge}`));
          return [batch.prompts(2, rounds).whole(fills), ...messages.map((message) => message.vectors)];
        }),
      );
      expect(keys).toEqual([...expected.messages.keys()]);
      for (const [i, key] of keys.entries()) {
        const want = byStep(expected.messages.get(key)!);
        expect(relativeError(await vectors[i]!.read(), want), `${run}: ${key}`).toBeLessThan(1e-4);
      }
      expect(relativeError(await whole!.read(), expected.answers.flat())).toBeLessThan(1e-4);
      for (const tensor of [whole!, ...vectors]) tensor.dispose();
      batch.dispose();
      // Decoders keep their rotary tables.
      if (run === "second") expect(tape.liveBytes).toBe(before);
      before = tape.liveBytes;
    }
    dispose();
  });
});
