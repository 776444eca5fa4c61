/** Whole runs: events, text passing, the last agent alone, tools, choices of links, evaluation, and what goes wrong. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { byteTokenizer } from "../../src/dual/scriptedModel";
import type { Tool } from "../../src/dual/tool";
import type { Gpu } from "../../src/gpu/device";
import { openNodeGpu } from "../../src/gpu/nodeDevice";
import type { GenerateRequest, LanguageModel } from "../../src/model/languageModel";
import { bodyMultiplyAdds, headMultiplyAdds } from "../../src/recursion/cost";
import { conditionOf, evaluateRecursion } from "../../src/recursion/evaluate";
import { chooseLinks, fitInnerLinks } from "../../src/recursion/linkChoice";
import { openQuestion } from "../../src/recursion/openQuestion";
import {
  deliberationPattern,
  distillationPattern,
  mixturePattern,
  type Pattern,
  sequentialPattern,
} from "../../src/recursion/pattern";
import { SLOT } from "../../src/recursion/prompts";
import { relayQuestion } from "../../src/recursion/relayTask";
import { type RecursionOptions, runRecursion } from "../../src/recursion/run";
import { Tape } from "../../src/tensor/tape";
import { LINK_CHOICES, type RecursionEvent, recursionEventSchema } from "../../src/trace/recursionEvents";
import { relativeError } from "./support/gpu";
import {
  AGENT_CONFIGS,
  makeQuestions,
  makeSystem,
  openTestModels,
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

const PATTERNS: Pattern[] = [sequentialPattern(), mixturePattern(), distillationPattern(), deliberationPattern()];
const base: RecursionOptions = { passing: "latent", rounds: 2, latentSteps: 3, maxTokens: 4 };

async function withSystem(pattern: Pattern, run: (made: TestSystem) => Promise<void>): Promise<void> {
  const made = makeSystem(tape, models, pattern);
  try {
    await run(made);
  } finally {
    made.dispose();
  }
}

/** Runs, and checks that every event fits the schema; plain data, as a recorder would keep it. */
async function record(
  made: TestSystem,
  options: Partial<RecursionOptions>,
  questions = makeQuestions(made.system.pattern, 1),
) {
  const events: RecursionEvent[] = [];
  const result = await runRecursion(made.system, questions, {
    ...base,
    onEvent: (event) => events.push(recursionEventSchema.parse(JSON.parse(JSON.stringify(event)))),
    ...options,
  });
  return { result, events };
}

const ofType = <T extends RecursionEvent["type"]>(events: readonly RecursionEvent[], type: T) =>
  events.filter((event): event is Extract<RecursionEvent, { type: T }> => event.type === type);

describe("latent runs", () => {
  it.each(PATTERNS)("$name: tell every step", async (pattern) => {
    await withSystem(pattern, async (made) => {
      const { result, events } = await record(made, { peeks: true });
      expect(result).toMatchObject({ reason: "answer" });
      expect(events[0]).toMatchObject({
        type: "recursionStarted",
        pattern: pattern.name,
        passing: "latent",
        edges: pattern.edges,
        innerLink: "trained",
        settings: { rounds: 2, latentSteps: 3, temperature: 0, seed: 0 },
      });
      const agents = pattern.roles.length;
      const started = ofType(events, "agentStarted");
      expect(started).toHaveLength(2 * agents);
      const slotsOf = (agent: number) => pattern.edges.filter(({ to }) => to === agent).length;
      for (const { prompt, agent, promptTokens, messagesFrom } of started) {
        expect(prompt.split(SLOT)).toHaveLength(slotsOf(agent) + 1);
        // Latent messages count as many tokens as they have vectors, " none" five.
        const text = byteTokenizer.countTokens(prompt.replaceAll(SLOT, ""));
        expect(promptTokens).toBe(text + slotsOf(agent) * (messagesFrom.length > 0 ? 3 : 5));
      }
      const thoughts = ofType(events, "latentThought");
      expect(thoughts).toHaveLength((2 * agents - 1) * 3);
      const width = (agent: number) => made.system.agents[agent]!.model.decoder.config.hiddenSize;
      for (const { agent, hidden, thought, lens } of thoughts) {
        expect([hidden.length, thought.length]).toEqual([width(agent), width(agent)]);
        expect(lens).toHaveLength(5);
        const probabilities = lens.map(({ probability }) => probability);
        expect(probabilities).toEqual([...probabilities].sort((a, b) => b - a));
        expect(probabilities.every((p) => p > 0 && p < 1)).toBe(true);
      }
      for (const { to, vectors, nearest } of ofType(events, "latentMessage")) {
        expect(vectors.map((vector) => vector.length)).toEqual([width(to), width(to), width(to)]);
        expect(nearest.map((own) => own.length)).toEqual([5, 5, 5]);
        for (const { probability } of nearest.flat()) expect(Math.abs(probability)).toBeLessThanOrEqual(1 + 1e-5);
      }
      // Each edge carries a message a round, but the last agent's of the last round.
      const last = agents - 1;
      const silent = pattern.edges.filter(({ from }) => from === last).length;
      expect(ofType(events, "latentMessage")).toHaveLength(2 * pattern.edges.length - silent);
      expect(ofType(events, "answerPeek").map(({ round }) => round)).toEqual([1]);
      const answer = ofType(events, "recursionAnswer");
      expect(answer).toHaveLength(1);
      expect(
        ofType(events, "answerToken")
          .map(({ text }) => text)
          .join(""),
      ).toBe(answer[0]!.text);
      expect(result.rounds.map(({ round }) => round)).toEqual([1, 2]);
      expect(events.at(-1)).toMatchObject({ type: "recursionFinished", reason: "answer", ledger: result.ledger });
      expect(result.ledger.latentSteps).toBe((2 * agents - 1) * 3);
      const times = events.map(({ at }) => at);
      expect(times).toEqual([...times].sort((a, b) => a - b));
    });
  });

  it("read with the agent's own head, and find the nearest tokens", async () => {
    await withSystem(distillationPattern(), async (made) => {
      const { events } = await record(made, { rounds: 1 });
      const [{ hidden, lens }] = ofType(events, "latentThought") as [
        Extract<RecursionEvent, { type: "latentThought" }>,
      ];
      const { weights, config } = made.references[0]!;
      const table = weights.get("model.embed_tokens.weight")!;
      const dot = (vector: readonly number[], rows: Float64Array, id: number) =>
        vector.reduce((sum, value, i) => sum + value * rows[id * vector.length + i]!, 0);
      const logits = Array.from({ length: config.vocabSize }, (_, id) => dot(hidden, table, id));
      const total = logits.reduce((sum, logit) => sum + Math.exp(logit), 0);
      const expected = logits.map((logit, id) => ({ id, probability: Math.exp(logit) / total }));
      expected.sort((a, b) => b.probability - a.probability);
      expect(lens.map(({ id }) => id)).toEqual(expected.slice(0, 5).map(({ id }) => id));
      for (const [i, { probability }] of lens.entries()) {
        expect(probability).toBeCloseTo(expected[i]!.probability, 4);
      }
      const [{ vectors, nearest }] = ofType(events, "latentMessage") as [
        Extract<RecursionEvent, { type: "latentMessage" }>,
      ];
      const theirs = made.references[1]!.weights.get("model.embed_tokens.weight")!;
      const size = vectors[0]!.length;
      const cosines = Array.from({ length: config.vocabSize }, (_, id) => {
        const row = theirs.slice(id * size, (id + 1) * size);
        return { id, cosine: dot(vectors[2]!, theirs, id) / Math.hypot(...row) / Math.hypot(...vectors[2]!) };
      }).sort((a, b) => b.cosine - a.cosine);
      expect(nearest[2]!.map(({ id }) => id)).toEqual(cosines.slice(0, 5).map(({ id }) => id));
      expect(nearest[2]![0]!.probability).toBeCloseTo(cosines[0]!.cosine, 4);
    });
  });

  it("answer after each round as a run of so many rounds does, and cost as much", async () => {
    await withSystem(sequentialPattern(), async (made) => {
      const questions = makeQuestions(made.system.pattern, 3);
      const run = (rounds: number, peeks: boolean) => runRecursion(made.system, questions, { ...base, rounds, peeks });
      const whole = await run(3, true);
      expect(whole.rounds.map(({ round }) => round)).toEqual([1, 2, 3]);
      for (const rounds of [1, 2, 3]) {
        const single = await run(rounds, false);
        expect(single.rounds).toHaveLength(1);
        const { answers, ledger } = whole.rounds[rounds - 1]!;
        expect(answers).toEqual(single.rounds[0]!.answers);
        const { ms: _, ...cost } = ledger;
        const { ms: __, ...expected } = single.ledger;
        expect(cost).toEqual(expected);
      }
    });
  });

  it("count what they spend", async () => {
    await withSystem(distillationPattern(), async (made) => {
      const { result, events } = await record(made, { rounds: 1 });
      const [expert, learner] = [AGENT_CONFIGS[0]!, AGENT_CONFIGS[1]!];
      const [p0, p1] = ofType(events, "agentStarted").map(({ promptTokens }) => promptTokens) as [number, number];
      const { tokens } = ofType(events, "recursionAnswer")[0]!;
      const { innerLinks, system } = made;
      expect(result.ledger).toMatchObject({
        promptTokens: p0 + p1,
        textTokens: tokens,
        latentSteps: 3,
        multiplyAdds: {
          // The third thought is the message's last vector and not read again by its agent.
          body: bodyMultiplyAdds(expert, 0, p0 + 2) + bodyMultiplyAdds(learner, 0, p1 + tokens - 1),
          head: tokens * headMultiplyAdds(learner),
          link: 3 * (innerLinks[0]!.multiplyAdds + system.outerLinks[0]!.multiplyAdds),
        },
      });
      expect(result.ledger.ms).toBeGreaterThan(0);
    });
  });

  it("end where they are told to, and give everything back", async () => {
    await withSystem(sequentialPattern(), async (made) => {
      await record(made, {});
      const before = { tape: tape.liveBytes, gpu: gpu.liveBytes };
      for (const last of ["recursionStarted", "latentThought", "latentMessage", "answerToken"] as const) {
        const controller = new AbortController();
        const events: string[] = [];
        const result = await runRecursion(made.system, makeQuestions(made.system.pattern, 1), {
          ...base,
          signal: controller.signal,
          onEvent: ({ type }) => {
            events.push(type);
            if (type === last) controller.abort();
          },
        });
        expect(result.reason).toBe("stopped");
        expect(events.at(-1)).toBe("recursionFinished");
        expect(events).not.toContain("recursionAnswer");
        expect(tape.liveBytes).toBe(before.tape);
      }
      await record(made, {});
      expect(tape.liveBytes).toBe(before.tape);
    });
  });

  it("end with the error of an engine or a link, and name what does not fit", async () => {
    await withSystem(distillationPattern(), async (made) => {
      const { system } = made;
      const broken = {
        ...system.outerLinks[0]!,
        inputSize: 36,
        outputSize: 42,
        multiplyAdds: 0,
        dispose() {},
        forward: () => {
          throw new Error("the link is broken");
        },
      };
      const run = (change: Partial<RecursionOptions>, outerLinks = system.outerLinks) =>
        runRecursion({ ...system, outerLinks }, makeQuestions(system.pattern, 1), { ...base, ...change });
      const before = tape.liveBytes;
      const result = await run({}, [broken as never, system.outerLinks[1]!]);
      expect(result).toMatchObject({ reason: "error", error: new Error("the link is broken") });
      expect(tape.liveBytes).toBe(before);
      const crowded = await run({ latentSteps: 639 });
      expect(String(crowded.error)).toContain("expert 0: a prompt of");
      expect(String(crowded.error)).toContain("exceed the model's 640 positions");
      await expect(run({ rounds: 0 })).rejects.toThrow("rounds must be a positive integer; got 0");
      await expect(run({ latentSteps: 0.5 })).rejects.toThrow("latentSteps must be a positive integer");
      await expect(run({ maxTokens: -1 })).rejects.toThrow("maxTokens must be a positive integer");
      await expect(runRecursion(system, [], base)).rejects.toThrow("there are no questions");
    });
  });
});

describe("text passing", () => {
  it("is the agents' own generation, message by message", async () => {
    const pattern = sequentialPattern();
    await withSystem(pattern, async (made) => {
      const questions = makeQuestions(pattern, 2);
      const { result, events } = await record(made, { passing: "text", register: "note" }, questions);
      const inbox = new Map<number, string[]>();
      const texts: string[][] = [];
      for (const round of [1, 2]) {
        for (const agent of [0, 1, 2]) {
          const { language } = made.system.agents[agent]!.model;
          const { tokenizer } = language;
          const results = await language.generate(
            questions.map((question, i): GenerateRequest => {
              const request = { agent, round, register: "note" as const };
              const prompt = tokenizer.renderChat(question.messages(request), { enableThinking: false });
              const ids = tokenizer.encode(prompt.replace(SLOT, inbox.get(agent)?.[i] ?? " none"));
              return { input: { ids }, maxTokens: 4 };
            }),
          );
          const written = results.map(({ text }) => text);
          texts.push(written);
          inbox.set((agent + 1) % 3, written);
        }
      }
      const messages = ofType(events, "textMessage");
      expect(messages.map(({ text }) => text)).toEqual(texts.slice(0, -1).map(([first]) => first));
      expect(messages.map(({ to }) => to)).toEqual([[1], [2], [0], [1], [2]]);
      expect(result.rounds.map(({ answers }) => answers.map(({ text }) => text))).toEqual([texts[2], texts[5]]);
      expect(result.ledger.latentSteps).toBe(0);
      expect(result.ledger.multiplyAdds.link).toBe(0);
      expect(ofType(events, "latentThought")).toEqual([]);
    });
  });

  it("may be as long as latent messages: cut, or padded with end tokens", async () => {
    await withSystem(distillationPattern(), async (made) => {
      const promptTokens = async (messageTokens?: number) => {
        const { events } = await record(made, { passing: "text", rounds: 1, ...(messageTokens && { messageTokens }) });
        return ofType(events, "agentStarted")[1]!.promptTokens;
      };
      const bare = (await promptTokens(1)) - 1;
      expect(await promptTokens(2)).toBe(bare + 2);
      expect(await promptTokens(30)).toBe(bare + 30);
    });
  });

  it("alone is the last agent without a message", async () => {
    const pattern = sequentialPattern();
    await withSystem(pattern, async (made) => {
      const { result, events } = await record(made, { passing: "alone" });
      expect(ofType(events, "agentStarted")).toMatchObject([{ agent: 2, messagesFrom: [] }]);
      const [question] = makeQuestions(pattern, 1);
      const messages = question!.messages({ agent: 2, round: 2, register: "note" });
      const prompt = byteTokenizer.renderChat(messages, { enableThinking: false }).replace(SLOT, " none");
      const { language } = made.system.agents[2]!.model;
      const [written] = await language.generate([{ input: { ids: byteTokenizer.encode(prompt) }, maxTokens: 4 }]);
      expect(result.rounds[0]!.answers[0]!.text).toBe(written!.text);
    });
  });
});

describe("deliberation", () => {
  it("answers in the dual-system loop, with tools, latent messages in the prompt of every turn", async () => {
    const pattern = deliberationPattern();
    await withSystem(pattern, async (made) => {
      const asked: GenerateRequest[] = [];
      const calls: unknown[] = [];
      const search: Tool = {
        cost: { requests: 0 },
        function: {
          name: "look",
          description: "looks something up",
          parameters: { type: "object", properties: { query: { type: "string" }, purpose: { type: "string" } } },
        },
        async run(args) {
          calls.push(args.query);
          return [{ id: "1", title: "Oder", text: "The Oder is 840 km long." }];
        },
      };
      // The tool-caller's words are a script; everything else is as it is.
      const real = made.system.agents[1]!.model;
      const script = [
        '<tool_call>{"name": "look", "arguments": {"query": "Oder", "purpose": "its length"}}</tool_call>',
        "840 km",
      ];
      const language: LanguageModel = Object.assign(Object.create(real.language) as LanguageModel, {
        generate: async (requests: readonly GenerateRequest[]) => {
          asked.push(...requests);
          const text = script[asked.length - 1]!;
          return requests.map(() => ({
            ids: byteTokenizer.encode(text),
            text,
            finishReason: "stop",
            promptTokens: 1,
          }));
        },
      });
      const caller = {
        ...made.system.agents[1]!,
        model: Object.assign(Object.create(real) as typeof real, { language }),
      };
      const system = { ...made.system, agents: [made.system.agents[0]!, caller] };
      const question = openQuestion("How long is the Oder?", { pattern, gold: ["840 km"], tools: [search.function] });
      const { result, events } = await record(
        { ...made, system },
        { tools: { tools: [search], corpus: "test", useSystem1: false } },
        [question],
      );
      expect(result.error).toBeUndefined();
      expect(calls).toEqual(["Oder"]);
      expect(result.rounds.at(-1)!.answers[0]).toMatchObject({ text: "840 km", correct: true });
      expect(ofType(events, "toolStep").map(({ event }) => event.type)).toEqual(
        expect.arrayContaining(["runStarted", "toolCall", "toolResult", "answer", "runFinished"]),
      );
      // Both turns read the reflector's three thoughts, as the last event of a message tells them.
      const message = ofType(events, "latentMessage").at(-1)!;
      const size = message.vectors[0]!.length;
      for (const { input } of asked) {
        const rows = "embeddings" in input ? input.embeddings : new Float32Array();
        const first = message.vectors[0]!;
        const place = Array.from({ length: rows.length / size }, (_, row) => row).find((row) =>
          first.every((value, i) => rows[row * size + i] === Math.fround(value)),
        );
        expect(place).toBeGreaterThan(0);
        const own = rows.slice(place! * size, (place! + 3) * size);
        expect(relativeError(own, message.vectors.flat())).toBeLessThan(1e-6);
      }
      expect(result.ledger.textTokens).toBe(script.join("").length);
    });
  });
});

describe("choices of links", () => {
  it("give systems that run, in every choice", async () => {
    const pattern = sequentialPattern();
    await withSystem(pattern, async (made) => {
      const questions = makeQuestions(pattern, 3);
      const before = tape.liveBytes;
      const innerFits = await fitInnerLinks(made.system, questions, { latentSteps: 3, rounds: 2 });
      expect(innerFits.map(({ length }) => length)).toEqual([36 * 36, 42 * 42, 33 * 33]);
      expect(tape.liveBytes).toBe(before);
      const first = new Map<string, number[][]>();
      for (const choice of LINK_CHOICES.filter((own) => own !== "swapped" && own !== "softEmbedding")) {
        const inner = choice === "shuffled" ? "trained" : choice;
        const links = await chooseLinks(made.system, {
          inner,
          outer: choice,
          trained: made.system,
          innerFits,
          seed: 3,
        });
        const order = links.isShuffled ? [1, 2, 0] : undefined;
        expect(links.isShuffled).toBe(choice === "shuffled");
        const { result, events } = await record(
          { ...made, system: links.system as never },
          { ...(order && { order }) },
          questions,
        );
        expect(result.reason, `${choice}: ${result.error}`).toBe("answer");
        first.set(choice, ofType(events, "latentMessage")[0]!.vectors);
        links.dispose();
        expect(tape.liveBytes, choice).toBe(before);
      }
      const lengths = (choice: string) => first.get(choice)!.map((vector) => Math.hypot(...vector));
      const { mean } = models[1]!.model.embeddingNorms;
      expect(lengths("zero")).toEqual([0, 0, 0]);
      for (const choice of ["identity", "noise"]) {
        for (const length of lengths(choice)) expect(length / mean, choice).toBeCloseTo(1, choice === "noise" ? 4 : 0);
      }
      expect(first.get("shuffled")).toEqual(first.get("trained"));
      const all = [...first].flatMap(([choice, vectors]) => (choice === "shuffled" ? [] : [JSON.stringify(vectors)]));
      expect(new Set(all).size).toBe(all.length);
    });
  });

  it("mix embeddings of one vocabulary only", async () => {
    const choice = { inner: "softEmbedding", outer: "softEmbedding" } as const;
    const pattern = distillationPattern();
    await withSystem(pattern, async ({ system }) => {
      await expect(chooseLinks(system, choice)).rejects.toThrow(
        "outer link from expert 0 to learner 1: softEmbedding needs one tokenizer for both",
      );
    });
    const made = makeSystem(tape, [models[0]!, models[2]!], pattern);
    const links = await chooseLinks(made.system, choice);
    const result = await runRecursion(links.system, makeQuestions(pattern, 1), base);
    expect(result.reason, String(result.error)).toBe("answer");
    links.dispose();
    made.dispose();
  });

  it("exchange links of the same widths", async () => {
    const pattern = sequentialPattern();
    const made = makeSystem(tape, [models[0]!, models[1]!, models[0]!], pattern);
    const { system, innerLinks } = made;
    const choose = (inner: "swapped" | "trained", outer: "swapped" | "trained") =>
      chooseLinks(system, { inner, outer, trained: system });
    const swapped = await choose("swapped", "trained");
    expect(swapped.system.agents.map(({ innerLink }) => innerLinks.indexOf(innerLink as never))).toEqual([2, 1, 0]);
    await expect(choose("trained", "swapped")).rejects.toThrow("swapped needs two links of the same widths");
    made.dispose();
  });

  it("say what they lack", async () => {
    await withSystem(distillationPattern(), async ({ system }) => {
      const choose = (inner: never, outer: never) => chooseLinks(system, { inner, outer });
      await expect(choose("trained" as never, "zero" as never)).rejects.toThrow("trained takes trained links");
      await expect(choose("shuffled" as never, "zero" as never)).rejects.toThrow("choose it as the outer link");
      await expect(choose("ridge" as never, "zero" as never)).rejects.toThrow(
        "inner link of expert 0: ridge needs a fit",
      );
    });
  });
});

describe("evaluation", () => {
  it("measures all conditions on the same questions, by rounds, hops and rounds needed", async () => {
    const pattern = sequentialPattern();
    await withSystem(pattern, async (made) => {
      const questions = Array.from({ length: 5 }, (_, seed) => relayQuestion(seed, { pattern, factsPerAgent: 2 }));
      const fitQuestions = Array.from({ length: 2 }, (_, seed) =>
        relayQuestion(90 + seed, { pattern, factsPerAgent: 2 }),
      );
      // The longest prompts first: decoders keep their rotary tables.
      await runRecursion(made.system, questions, { ...base, latentSteps: 4 });
      const before = tape.liveBytes;
      const names = ["trained", "ridge", "shuffled", "identity+zero", "text", "textPadded", "solver"];
      const told: string[] = [];
      const { n, results } = await evaluateRecursion({
        system: made.system,
        trained: made.system,
        questions,
        fitQuestions,
        conditions: names.map(conditionOf),
        rounds: [2, 1],
        latentSteps: 2,
        task: "relay",
        batchSize: 3,
        maxTokens: 3,
        onProgress: ({ links, done }) => told.push(`${links} ${done}`),
      });
      expect(n).toBe(5);
      expect(results.map(({ links, rounds }) => `${links} ${rounds}`)).toEqual(
        names.flatMap((name) => [`${name} 1`, `${name} 2`]),
      );
      expect(told.slice(0, 2)).toEqual(["trained 3", "trained 5"]);
      for (const result of results) {
        expect(result.ci95[0]).toBeLessThanOrEqual(result.accuracy);
        const total = (groups: typeof result.byHops) => Object.values(groups).reduce((sum, { n: own }) => sum + own, 0);
        expect([total(result.byHops), total(result.byRoundsNeeded)]).toEqual([5, 5]);
        // A rollout each for planner and critic, and one round more for all three.
        const steps = result.passing === "latent" ? 2 * (3 * result.rounds - 1) : 0;
        expect(result.latentSteps).toBe(steps);
        expect(result.ms).toBeGreaterThan(0);
      }
      const tokens = (links: string) =>
        results.filter((own) => own.links === links).map(({ textTokens }) => textTokens);
      expect(tokens("text")).toEqual([9, 18]);
      expect(tokens("trained")).toEqual([3, 3]);
      expect(tokens("solver")).toEqual([3, 3]);
      expect(tape.liveBytes).toBe(before);
    });
  });

  it("throws what an engine throws, and the reason of an abort", async () => {
    const pattern = distillationPattern();
    await withSystem(pattern, async ({ system }) => {
      const options = {
        system,
        trained: system,
        questions: makeQuestions(pattern, 2),
        conditions: [conditionOf("trained")],
        rounds: [1],
        latentSteps: 2,
        task: "test",
      };
      await expect(evaluateRecursion({ ...options, latentSteps: 639 })).rejects.toThrow("exceed the model's 640");
      await expect(evaluateRecursion({ ...options, signal: AbortSignal.abort(new Error("enough")) })).rejects.toThrow(
        "enough",
      );
      await expect(evaluateRecursion({ ...options, rounds: [] })).rejects.toThrow("there are no rounds");
      await expect(evaluateRecursion({ ...options, questions: [] })).rejects.toThrow("there are no questions");
      const ungraded = options.questions.map(({ text, messages }) => ({ text, messages }));
      await expect(evaluateRecursion({ ...options, questions: ungraded })).rejects.toThrow("question 0 has no grader");
      await expect(evaluateRecursion({ ...options, conditions: [conditionOf("ridge")] })).rejects.toThrow(
        "ridge links need fitQuestions",
      );
    });
  });
});
