/**
 * Recursions without the tape: the same runs, step by step, as on it, with every kind of link that both know; and the
 * shipped agents with the shipped links on onnxruntime-web.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { shippedLinkSet } from "../../src/cli/linkFolder";
import { nodeModels } from "../../src/cli/nodeModels";
import type { Gpu } from "../../src/gpu/device";
import { openNodeGpu } from "../../src/gpu/nodeDevice";
import type { LinkSet } from "../../src/links/linkSet";
import { plainLink } from "../../src/links/plainLinks";
import type { RecursiveLink } from "../../src/links/recursiveLink";
import { type ThinkingModel, thinkingModel } from "../../src/recursion/agent";
import { chooseLinks } from "../../src/recursion/linkChoice";
import { linkSystem } from "../../src/recursion/linkSetSystem";
import { mixturePattern, sequentialPattern } from "../../src/recursion/pattern";
import { choosePlainLinks, type PlainSystem, plainLinkSystem } from "../../src/recursion/plainSystem";
import { relayEvaluationQuestions } from "../../src/recursion/relayEvaluation";
import { type RecursionOptions, runPlainRecursion, runRecursion } from "../../src/recursion/run";
import { Tape } from "../../src/tensor/tape";
import { type LinkChoice, type RecursionEvent, recursionEventSchema } from "../../src/trace/recursionEvents";
import { relativeError } from "./support/gpu";
import { makeQuestions, makeSystem, openTestModels, type TestModel, type TestSystem } from "./support/recursion";

/** What a run tells, without what no two engines share. */
async function eventsOf(run: (onEvent: (event: RecursionEvent) => void) => Promise<{ reason: string }>) {
  const events: RecursionEvent[] = [];
  const { reason } = await run((event) => events.push(recursionEventSchema.parse(JSON.parse(JSON.stringify(event)))));
  expect(reason).toBe("answer");
  return events;
}

/** The same steps with the same numbers. */
function expectSame(found: readonly RecursionEvent[], wanted: readonly RecursionEvent[]): void {
  expect(found.map(({ type }) => type)).toEqual(wanted.map(({ type }) => type));
  const firstOf = (entries: readonly { id: number }[]) => entries[0]?.id;
  wanted.forEach((want, i) => {
    const own = found[i] as typeof want;
    if (want.type === "latentThought" && own.type === "latentThought") {
      expect(relativeError(own.hidden, want.hidden)).toBeLessThan(1e-3);
      expect(relativeError(own.thought, want.thought)).toBeLessThan(1e-3);
      expect(firstOf(own.lens)).toBe(firstOf(want.lens));
      expect(own.lens[0]?.probability).toBeCloseTo(want.lens[0]?.probability as number, 3);
    } else if (want.type === "latentMessage" && own.type === "latentMessage") {
      expect(relativeError(own.vectors.flat(), want.vectors.flat())).toBeLessThan(1e-3);
      expect(own.nearest.map(firstOf)).toEqual(want.nearest.map(firstOf));
    } else if (want.type === "recursionFinished" && own.type === "recursionFinished") {
      const { ms: _, ...ledger } = want.ledger;
      expect(own.ledger).toMatchObject(ledger);
    } else if (want.type === "recursionAnswer" && own.type === "recursionAnswer") {
      expect(own.text).toBe(want.text);
    } else if (want.type === "agentStarted" || want.type === "recursionStarted") {
      const { at: _, ...same } = want;
      expect(own).toMatchObject("embeddingNorms" in same ? { ...same, embeddingNorms: expect.anything() } : same);
    }
  });
}

describe("random agents", () => {
  let gpu: Gpu;
  let tape: Tape;
  let models: TestModel[];
  let thinking: ThinkingModel[];
  beforeAll(async () => {
    gpu = await openNodeGpu();
    tape = new Tape(gpu);
    models = await openTestModels(tape);
    thinking = await Promise.all(models.map(({ model }) => thinkingModel(model.language)));
  });
  afterAll(() => {
    for (const { model } of models) model.dispose();
    tape.dispose();
    gpu.close();
  });

  async function plainOf({ system }: TestSystem): Promise<PlainSystem> {
    const plain = async (link: RecursiveLink) => plainLink({ config: link.config, tensors: await link.tensors() });
    return {
      pattern: system.pattern,
      agents: await Promise.all(
        system.agents.map(async (agent) => ({
          ...agent,
          model: thinking[models.findIndex(({ model }) => model === agent.model)] as ThinkingModel,
          innerLink: await plain(agent.innerLink as RecursiveLink),
        })),
      ),
      outerLinks: await Promise.all(system.outerLinks.map(plain)),
    };
  }

  it("know the lengths of their embeddings on any engine", () => {
    models.forEach(({ model }, i) => {
      expect(relativeError(thinking[i]!.embeddingLengths, model.embeddingLengths)).toBeLessThan(1e-6);
    });
  });

  const CHOICES: readonly (readonly [LinkChoice, LinkChoice])[] = [
    ["trained", "trained"],
    ["swapped", "shuffled"],
    ["identity", "identity"],
    ["noise", "noise"],
    ["zero", "trained"],
  ];
  it.each(CHOICES)("think and tell the same, inner %s, outer %s", async (inner, outer) => {
    // Six agents, two of each width: without a second of its width no link can change places.
    const pattern = sequentialPattern(["a", "b", "c", "d", "e", "f"]);
    const made = makeSystem(tape, models, pattern);
    const options = (isShuffled: boolean, onEvent: (event: RecursionEvent) => void): RecursionOptions => ({
      ...{ passing: "latent", rounds: 2, latentSteps: 3, maxTokens: 4, peeks: true, onEvent },
      ...(isShuffled && { order: [1, 0] }),
    });
    try {
      const questions = makeQuestions(pattern, 2);
      const plain = await plainOf(made);
      const onTape = await chooseLinks(made.system, { inner, outer, trained: made.system, seed: 5 });
      const onPlain = choosePlainLinks(plain, { inner, outer, trained: plain, seed: 5 });
      expect(onPlain.isShuffled).toBe(outer === "shuffled");
      const wanted = await eventsOf((onEvent) =>
        runRecursion(onTape.system, questions, options(onTape.isShuffled, onEvent)),
      );
      const found = await eventsOf((onEvent) =>
        runPlainRecursion(onPlain.system, questions, options(onPlain.isShuffled, onEvent)),
      );
      expectSame(found, wanted);
      onTape.dispose();
    } finally {
      made.dispose();
    }
  });

  it("pass texts, and answer alone, as on the tape", async () => {
    const made = makeSystem(tape, models, mixturePattern());
    try {
      const questions = makeQuestions(made.system.pattern, 2);
      const plain = await plainOf(made);
      for (const passing of ["text", "alone"] as const) {
        const options = { passing, rounds: 2, latentSteps: 2, maxTokens: 3 };
        const wanted = await eventsOf((onEvent) => runRecursion(made.system, questions, { ...options, onEvent }));
        const found = await eventsOf((onEvent) => runPlainRecursion(plain, questions, { ...options, onEvent }));
        expectSame(found, wanted);
      }
    } finally {
      made.dispose();
    }
  });

  it("stop in the middle of a prompt, and give back what they had read", async () => {
    const made = makeSystem(tape, models, sequentialPattern());
    try {
      const plain = await plainOf(made);
      const questions = makeQuestions(made.system.pattern, 2);
      const options: RecursionOptions = { passing: "latent", rounds: 2, latentSteps: 3 };
      // What every run needs stays with the models.
      await runPlainRecursion(plain, questions, options);
      const liveBytes = () => plain.agents.map(({ model }) => model.language.liveBytes);
      const before = liveBytes();
      const controller = new AbortController();
      const signals: unknown[] = [];
      const agents = plain.agents.map((agent) => {
        const real = agent.model.language;
        const language: typeof real = Object.assign(Object.create(real) as typeof real, {
          read: (...[inputs, options]: Parameters<typeof real.read>) => {
            signals.push(options.signal);
            // The second agent's prompt is not read to its end.
            if (signals.length === 2) controller.abort();
            return real.read(inputs, options);
          },
        });
        return { ...agent, model: { ...agent.model, language } };
      });
      const { signal } = controller;
      const result = await runPlainRecursion({ ...plain, agents }, questions, { ...options, signal });
      expect(result.reason).toBe("stopped");
      expect(signals).toEqual([signal, signal]);
      expect(liveBytes()).toEqual(before);
    } finally {
      made.dispose();
    }
  });

  it("refuse links that need the tape, by name", async () => {
    const made = makeSystem(tape, models, sequentialPattern());
    try {
      const plain = await plainOf(made);
      for (const inner of ["ridge", "softEmbedding"] as const) {
        expect(() => choosePlainLinks(plain, { inner, outer: "zero" })).toThrow(
          `links: ${inner} is computed on the tape`,
        );
      }
      expect(() => choosePlainLinks(plain, { inner: "trained", outer: "zero" })).toThrow("takes trained links");
    } finally {
      made.dispose();
    }
  });
});

describe("the shipped ring on onnxruntime-web", () => {
  const found = nodeModels();
  const RING = [
    { id: "planner", role: "planner", model: "twinloop-relay-s" },
    { id: "critic", role: "critic", model: "twinloop-relay-m" },
    { id: "solver", role: "solver", model: "twinloop-relay-s" },
  ];
  afterAll(() => found.close());

  it("answers with the shipped links what it answers on our engine", async () => {
    const pattern = sequentialPattern(RING.map(({ role }) => role));
    const set = (await shippedLinkSet("relay", 3)) as LinkSet;
    const questions = relayEvaluationQuestions(11, 8, { pattern });
    const options: RecursionOptions = { passing: "latent", rounds: 3, latentSteps: 4, task: "relay" };
    const ids = [...new Set(RING.map(({ model }) => model))];
    const onTape = new Map(
      await Promise.all(ids.map(async (id) => [id, await (await found.find(id)).loadLatent()] as const)),
    );
    const onOnnx = new Map<string, ThinkingModel>();
    for (const id of ids) {
      onOnnx.set(id, await thinkingModel(await (await found.find(id, { engine: "onnx-wasm" })).load()));
    }
    const agents = <M>(models: ReadonlyMap<string, M>) =>
      RING.map((own) => ({ ...own, model: models.get(own.model) as M }));
    const linked = linkSystem({ pattern, agents: agents(onTape) }, set);
    const wanted = await runRecursion(linked.system, questions, options);
    linked.dispose();
    const plain = plainLinkSystem({ pattern, agents: agents(onOnnx) }, set);
    const result = await runPlainRecursion(plain, questions, options);
    const answers = ({ rounds }: typeof result) => rounds.at(-1)!.answers.map(({ text }) => text);
    expect(answers(result)).toEqual(answers(wanted));
    // The links are good for something.
    expect(result.rounds.at(-1)!.answers.filter(({ correct }) => correct).length).toBeGreaterThanOrEqual(5);
  });
});
