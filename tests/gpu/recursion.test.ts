/** The latent loop and its gradients against a plain reference: f64, no cache, every prompt concatenated anew. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Gpu } from "../../src/gpu/device";
import { openNodeGpu } from "../../src/gpu/nodeDevice";
import { plainLink } from "../../src/links/plainLinks";
import type { RecursiveLink } from "../../src/links/recursiveLink";
import { Random } from "../../src/random/random";
import { distillationPattern, mixturePattern, type Pattern, sequentialPattern } from "../../src/recursion/pattern";
import { plainBatch, plainEngine } from "../../src/recursion/plainEngine";
import type { PlainSystem } from "../../src/recursion/plainSystem";
import { RecursionBatch } from "../../src/recursion/recursionBatch";
import { type UnrollOptions, unroll, unrollSteps } from "../../src/recursion/unroll";
import { crossEntropy } from "../../src/tensor/ops/losses";
import { Tape } from "../../src/tensor/tape";
import { relativeError } from "./support/gpu";
import {
  makeQuestions,
  makeSystem,
  openTestModels,
  type ReferenceOptions,
  referenceLink,
  referenceLoop,
  referenceLoss,
  type TestModel,
  type TestSystem,
} from "./support/recursion";

let gpu: Gpu;
let tape: Tape;
let models: TestModel[];
beforeAll(async () => {
  gpu = await openNodeGpu();
  tape = new Tape(gpu);
  models = await openTestModels(tape);
});
afterAll(() => {
  for (const { model } of models) model.dispose();
  expect(tape.liveBytes).toBe(0);
  tape.dispose();
  expect(gpu.liveBytes).toBe(0);
  gpu.close();
});

/** Runs with a system that is given back afterwards, whatever happens. */
async function withSystem(pattern: Pattern, run: (made: TestSystem) => Promise<void>): Promise<void> {
  const made = makeSystem(tape, models, pattern);
  try {
    await run(made);
  } finally {
    made.dispose();
  }
}

async function referenceOf(
  { system, references, tokenizers, innerLinks }: TestSystem,
  options: Pick<ReferenceOptions, "questions" | "rounds" | "latentSteps">,
): Promise<ReferenceOptions> {
  const inner = await Promise.all(innerLinks.map(referenceLink));
  const outer = await Promise.all(system.outerLinks.map(referenceLink));
  return { pattern: system.pattern, references, tokenizers, inner, outer, ...options };
}

/** [question][step][width] as the tape has it: by step, then by question. */
const byStep = (message: readonly (readonly (readonly number[])[])[]) =>
  message[0]!.flatMap((_, step) => message.flatMap((own) => own[step]!));

describe("the latent loop", () => {
  it.each([
    ["sequential", sequentialPattern(), 3],
    ["mixture", mixturePattern(["a", "b"], "c"), 2],
  ] as const)(
    "%s: batched, cached, with shared beginnings, it is that of the reference",
    async (_, pattern, rounds) => {
      await withSystem(pattern, async (made) => {
        const { system } = made;
        const questions = makeQuestions(pattern, 3);
        const latentSteps = 3;
        const expected = referenceLoop(await referenceOf(made, { questions, rounds, latentSteps }));
        let before = 0;
        for (const run of ["first", "second"]) {
          const batch = new RecursionBatch(system, questions);
          const keys: string[] = [];
          const [whole, ...vectors] = tape.scope(() =>
            tape.noGrad(() => {
              const { messages, fills } = unroll(batch, { rounds, latentSteps });
              keys.push(...messages.map(({ round, edge }) => `${round} ${edge}`));
              const prompts = batch.prompts(pattern.roles.length - 1, rounds);
              return [prompts.whole(fills), ...messages.map((message) => message.vectors)];
            }),
          );
          expect(keys).toEqual([...expected.messages.keys()]);
          for (const [i, key] of keys.entries()) {
            const want = byStep(expected.messages.get(key)!);
            expect(relativeError(await vectors[i]!.read(), want), `${run}: ${key}`).toBeLessThan(1e-4);
          }
          expect(relativeError(await whole!.read(), expected.prompts.flat())).toBeLessThan(1e-4);
          for (const tensor of [whole!, ...vectors]) tensor.dispose();
          batch.dispose();
          // Decoders keep their rotary tables.
          if (run === "second") expect(tape.liveBytes).toBe(before);
          before = tape.liveBytes;
        }
      });
    },
  );

  it("is the same on plain arrays over a language model, with links in f64", async () => {
    const pattern = sequentialPattern();
    await withSystem(pattern, async (made) => {
      const questions = makeQuestions(pattern, 2);
      const options = { rounds: 2, latentSteps: 2 };
      const expected = referenceLoop(await referenceOf(made, { questions, ...options }));
      const functions = async (links: readonly RecursiveLink[]) =>
        Promise.all(links.map(async (link) => plainLink({ config: link.config, tensors: await link.tensors() })));
      const inner = await functions(made.innerLinks);
      const plain: PlainSystem = {
        pattern,
        agents: made.system.agents.map((agent, i) => ({ ...agent, innerLink: inner[i]! })),
        outerLinks: await functions(made.system.outerLinks),
      };
      const found: string[] = [];
      for await (const step of plainEngine(plainBatch(plain, questions)).steps(options)) {
        if (step.type === "message") {
          const key = `${step.turn.round} ${step.edge}`;
          found.push(key);
          for (const question of [0, 1]) {
            const { vectors } = await step.read(question);
            const want = expected.messages.get(key)![question]!;
            expect(
              relativeError(
                vectors.flatMap((own) => [...own]),
                want.flat(),
              ),
              key,
            ).toBeLessThan(1e-4);
          }
        } else if (step.type === "answer") {
          const inputs = await step.prompt.inputs();
          inputs.forEach((input, question) => {
            const rows = "embeddings" in input ? input.embeddings : [];
            expect(relativeError(rows, expected.prompts[question]!)).toBeLessThan(1e-4);
          });
        }
      }
      expect(found).toEqual([...expected.messages.keys()]);
    });
  });

  it("gives a question another one's messages where it is told to", async () => {
    const pattern = distillationPattern();
    await withSystem(pattern, async ({ system }) => {
      // The same length everywhere, so that only the messages' place decides.
      const questions = makeQuestions(pattern, 3);
      const wholeOf = async (order?: readonly number[]) => {
        const batch = new RecursionBatch(system, questions);
        const lengths: number[] = [];
        const [whole, vectors] = tape.scope(() =>
          tape.noGrad(() => {
            const { messages, fills } = unroll(batch, { rounds: 1, latentSteps: 2, ...(order && { order }) });
            lengths.push(...batch.prompts(1, 1).lengths(fills));
            return [batch.prompts(1, 1).whole(fills), messages[0]!.vectors];
          }),
        );
        const read = [await whole!.read(), await vectors!.read()] as const;
        for (const tensor of [whole!, vectors!]) tensor.dispose();
        batch.dispose();
        return { whole: read[0], vectors: read[1], lengths };
      };
      const order = [2, 0, 1];
      const [own, others] = [await wholeOf(), await wholeOf(order)];
      expect(others.vectors).toEqual(own.vectors);
      expect(others.lengths).toEqual(own.lengths);
      const width = models[1]!.model.decoder.config.hiddenSize;
      const { tokenizer } = models[1]!.model.language;
      const [before] = tokenizer
        .renderChat(questions[0]!.messages({ agent: 1, round: 1, register: "note" }), {
          enableThinking: false,
        })
        .split("<|slot|>");
      const slot = tokenizer.encode(before!).length;
      // Question 0 reads the two vectors of question 2: rows 2 and 5 of [2 steps * 3 questions].
      for (const step of [0, 1]) {
        const read = others.whole.slice((slot + step) * width, (slot + step + 1) * width);
        expect([...read]).toEqual([...own.vectors.slice((3 * step + 2) * width, (3 * step + 3) * width)]);
      }
    });
  });

  it("takes teacher-forced messages from the places that predict the target, the answer's own included", async () => {
    const pattern = distillationPattern();
    await withSystem(pattern, async ({ system }) => {
      const questions = makeQuestions(pattern, 2);
      const batch = new RecursionBatch(system, questions);
      const [first, direct] = tape.scope(() =>
        tape.noGrad(() => {
          const thoughts = [...unrollSteps(batch, { rounds: 2, latentSteps: 4, feedback: "teacherForced" })].flatMap(
            (step) => (step.type === "thought" && step.turn.agent === 0 && step.turn.round === 1 ? [step.hidden] : []),
          );
          // "01" and "01!", then end tokens: the last hidden state has read "01", "!" or an end, and an end.
          const ids = batch.targetIds({ agent: 0, round: 1 }, 4);
          expect(ids).toEqual([
            [48, 49, 0, 0],
            [48, 49, 33, 0],
          ]);
          const prompts = batch.prompts(0, 1);
          const tails = ids.map((own) => own.slice(0, -1));
          const { rows, lengths } = prompts.rest([batch.noMessage(0)], tails);
          const cache = prompts.begin(0);
          const hidden = models[0]!.model.decoder.forward(rows, cache.next(lengths), { cache });
          cache.dispose();
          return [thoughts[3]!, hidden];
        }),
      );
      const { hiddenSize } = models[0]!.model.decoder.config;
      const all = await direct!.read();
      const forced = await first!.read();
      // The last row of the batch belongs to the last question.
      expect(relativeError(forced.slice(hiddenSize), all.slice(-hiddenSize))).toBeLessThan(1e-6);
      for (const tensor of [first!, direct!]) tensor.dispose();
      batch.dispose();
    });
  });
});

describe("gradients of the answer's loss", () => {
  /** Loss and the gradient of every parameter of every link, in the order of the links. */
  async function lossAndGradients(made: TestSystem, batch: RecursionBatch, options: UnrollOptions) {
    const links = [...made.innerLinks, ...made.system.outerLinks];
    const messageNorms: number[] = [];
    const [loss, ...vectors] = tape.scope(() => {
      const { messages, fills } = unroll(batch, options);
      for (const message of messages) message.vectors.retainGrad = true;
      const { hidden, targets } = batch.answerRows(fills, options);
      const result = crossEntropy(hidden, batch.head, targets);
      tape.backward(result);
      return [result, ...messages.map((message) => message.vectors)];
    });
    const value = await loss!.item();
    for (const { grad } of vectors) messageNorms.push(grad ? Math.hypot(...(await grad.read())) : 0);
    for (const tensor of [loss!, ...vectors]) tensor.dispose();
    const gradients: Map<string, Float32Array>[] = [];
    for (const link of links) {
      const own = new Map<string, Float32Array>();
      for (const { name, tensor } of link.parameters) {
        if (tensor.grad) own.set(name, await tensor.grad.read());
        tensor.clearGrad();
      }
      gradients.push(own);
    }
    return { value, gradients, messageNorms };
  }

  // Directions are taken over all parameters of some links at once; inner links come first.
  it.each([
    ["sequential, 3 rounds", sequentialPattern(), 3, [[0, 1, 2, 3, 4, 5], [0], [5]]],
    ["mixture, 2 rounds", mixturePattern(["a", "b"], "c"), 2, [[0, 1, 2, 3, 4, 5, 6]]],
    ["distillation, 2 rounds", distillationPattern(), 2, [[0], [1], [2], [3]]],
  ] as const)(
    "%s: through all rounds they are the differences of the reference",
    async (_, pattern, rounds, groups) => {
      await withSystem(pattern, async (made) => {
        const questions = makeQuestions(pattern, 2);
        const batch = new RecursionBatch(made.system, questions);
        const options = { rounds, latentSteps: 2 };
        const { value, gradients, messageNorms } = await lossAndGradients(made, batch, options);
        const reference = await referenceOf(made, { questions, ...options });
        const links = [...reference.inner, ...reference.outer];
        expect(value / referenceLoss(reference)).toBeCloseTo(1, 5);
        expect(messageNorms.every((norm) => norm > 0)).toBe(true);
        expect(gradients.map((own) => [...own.keys()].sort())).toEqual(
          links.map(({ weights }) => [...weights.keys()].sort()),
        );
        for (const group of groups) {
          const directions = new Map<number, Map<string, Float64Array>>();
          let slope = 0;
          for (const i of group) {
            const random = new Random(i, 3);
            const direction = new Map<string, Float64Array>();
            for (const [name, own] of links[i]!.weights)
              direction.set(
                name,
                own.map(() => random.normal()),
              );
            directions.set(i, direction);
            for (const [name, own] of gradients[i]!) {
              for (const [k, d] of own.entries()) slope += d * direction.get(name)![k]!;
            }
          }
          const step = 1e-5;
          const lossAt = (sign: number) => {
            const moved = links.map((link, i) => {
              const direction = directions.get(i);
              if (!direction) return link;
              const weights = new Map<string, Float64Array>();
              for (const [name, own] of link.weights) {
                weights.set(
                  name,
                  own.map((weight, k) => weight + sign * step * direction.get(name)![k]!),
                );
              }
              return { ...link, weights };
            });
            const inner = moved.slice(0, reference.inner.length);
            return referenceLoss({ ...reference, inner, outer: moved.slice(reference.inner.length) });
          };
          const difference = (lossAt(1) - lossAt(-1)) / (2 * step);
          expect(Math.abs(slope - difference) / Math.abs(difference), `links ${group}`).toBeLessThan(2e-3);
        }
        batch.dispose();
      });
    },
  );

  it("end at the round where the unroll is cut", async () => {
    const pattern = distillationPattern();
    await withSystem(pattern, async (made) => {
      const batch = new RecursionBatch(made.system, makeQuestions(pattern, 2));
      const whole = await lossAndGradients(made, batch, { rounds: 3, latentSteps: 2 });
      const cut = await lossAndGradients(made, batch, { rounds: 3, latentSteps: 2, gradientRounds: 1 });
      expect(cut.value).toBe(whole.value);
      // Expert and learner send in rounds 1 and 2, the expert alone in round 3.
      expect(whole.messageNorms.map((norm) => norm > 0)).toEqual([true, true, true, true, true]);
      expect(cut.messageNorms.map((norm) => norm > 0)).toEqual([false, false, false, false, true]);
      // The learner's thoughts of earlier rounds are not in the graph, so that its links have no gradient.
      expect(cut.gradients.map((own) => own.size > 0)).toEqual([true, false, true, false]);
      batch.dispose();
    });
  });

  it("leave nothing behind", async () => {
    const pattern = distillationPattern();
    await withSystem(pattern, async (made) => {
      const batch = new RecursionBatch(made.system, makeQuestions(pattern, 2));
      const run = () =>
        tape.scope(() => {
          const { fills } = unroll(batch, { rounds: 2, latentSteps: 2 });
          const { hidden, targets } = batch.answerRows(fills, { rounds: 2 });
          tape.backward(crossEntropy(hidden, batch.head, targets));
        });
      run();
      const before = tape.liveBytes;
      run();
      expect(tape.liveBytes).toBe(before);
      await tape.flush();
      batch.dispose();
      for (const link of [...made.innerLinks, ...made.system.outerLinks]) {
        for (const { tensor } of link.parameters) tensor.clearGrad();
      }
    });
  });
});

describe("what does not fit", () => {
  it("is named", async () => {
    const pattern = distillationPattern();
    await withSystem(pattern, async ({ system }) => {
      const questions = makeQuestions(pattern, 2);
      const batchOf = (...args: Partial<ConstructorParameters<typeof RecursionBatch>>) =>
        new RecursionBatch(args[0] ?? system, args[1] ?? questions);
      expect(() => batchOf(system, [])).toThrow("there are no questions");
      expect(() => batchOf({ ...system, agents: system.agents.slice(1) })).toThrow("has 2 agents, not 1");
      expect(() => batchOf({ ...system, outerLinks: [] })).toThrow("has 2 outer links, not 0");
      const [expert, learner] = system.agents as [(typeof system.agents)[number], (typeof system.agents)[number]];
      expect(() => batchOf({ ...system, agents: [expert, { ...learner, id: expert.id }] })).toThrow(
        "agent expert 0 is there twice",
      );
      expect(() => batchOf({ ...system, agents: [{ ...expert, innerLink: learner.innerLink }, learner] })).toThrow(
        "inner link of expert 0 leads from 42 to 42 instead of from 36 to 36",
      );
      const swapped = [system.outerLinks[1]!, system.outerLinks[0]!];
      expect(() => batchOf({ ...system, outerLinks: swapped })).toThrow(
        "outer link from expert 0 to learner 1 leads from 42 to 36 instead of from 36 to 42",
      );

      const batch = new RecursionBatch(system, questions);
      const unrolled = (options: Partial<UnrollOptions>) => () =>
        tape.scope(() => tape.noGrad(() => void unroll(batch, { rounds: 1, latentSteps: 1, ...options })));
      expect(unrolled({ rounds: 0 })).toThrow("rounds is 0");
      expect(unrolled({ latentSteps: 1.5 })).toThrow("latentSteps is 1.5");
      expect(unrolled({ gradientRounds: 0 })).toThrow("gradientRounds is 0");
      expect(unrolled({ order: [0] })).toThrow("order has 1 places for 2 questions");
      expect(unrolled({ latentSteps: 700 })).toThrow("the model has 640");
      batch.dispose();

      const slotless = questions.map((question) => ({ ...question, messages: () => [] }));
      const wrong = new RecursionBatch(system, slotless);
      expect(() => wrong.prompts(1, 1)).toThrow("prompt of learner 1, question 0: 0 slots for 1 messages");
      const aimless = new RecursionBatch(
        system,
        questions.map(({ messages, text }) => ({ messages, text })),
      );
      expect(() => aimless.targetIds({ agent: 0, round: 2 }, 3)).toThrow(
        "question 0 has no target for expert 0 in round 2",
      );
    });
  });
});
