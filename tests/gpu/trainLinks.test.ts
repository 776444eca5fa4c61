/** Training of links on a software device: losses fall, runs are exact, and nothing that is broken goes through. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { parseSafetensors, writeSafetensors } from "../../src/checkpoint/safetensors";
import type { Gpu } from "../../src/gpu/device";
import { openNodeGpu } from "../../src/gpu/nodeDevice";
import type { LatentModel, RecursionSystem } from "../../src/recursion/agent";
import { RecursionBatch } from "../../src/recursion/recursionBatch";
import { unroll } from "../../src/recursion/unroll";
import { crossEntropy } from "../../src/tensor/ops/losses";
import { Tape } from "../../src/tensor/tape";
import type { Tensor } from "../../src/tensor/tensor";
import { type TrainingEvent, trainingEventSchema } from "../../src/trace/trainingEvents";
import { alignOuterLinks } from "../../src/train/alignLinks";
import { LinkTrainer, type LinkTrainerOptions } from "../../src/train/linkTrainer";
import { trainingSeeds } from "../../src/train/questionSeeds";
import type { TrainingSettingsInput } from "../../src/train/settings";
import { relativeError } from "./support/gpu";
import { disposeLinks, linksOf, openTinyModels, TINY_TASK, tinySystem } from "./support/training";

let gpu: Gpu;
let tape: Tape;
let models: LatentModel[];
beforeAll(async () => {
  gpu = await openNodeGpu();
  tape = new Tape(gpu);
  models = await openTinyModels(tape);
});
afterAll(() => {
  for (const model of models) model.dispose();
  expect(tape.liveBytes).toBe(0);
  tape.dispose();
  expect(gpu.liveBytes).toBe(0);
  gpu.close();
});

let system: RecursionSystem;
const trainers: LinkTrainer[] = [];
let events: TrainingEvent[] = [];
beforeEach(async () => {
  system = await tinySystem(models);
  events = [];
});
afterEach(async () => {
  for (const trainer of trainers.splice(0)) await trainer.dispose();
  disposeLinks(system);
});

const COMMON = { steps: 8, batch: 3, learningRate: 3e-3, warmupSteps: 2, latentSteps: 3, validateEvery: 0 };
const INNER: TrainingSettingsInput = { ...COMMON, stage: "inner", rounds: 2 };
const OUTER: TrainingSettingsInput = { ...COMMON, stage: "outer", roundsMix: [1, 2, 3] };
const STAGES = [
  ["inner", INNER],
  ["outer", OUTER],
] as const;

function trainerOf(settings: TrainingSettingsInput, options: Partial<LinkTrainerOptions> = {}): LinkTrainer {
  const trainer = new LinkTrainer({
    system,
    task: () => TINY_TASK,
    settings,
    onEvent: (event) => events.push(trainingEventSchema.parse(event)),
    ...options,
  });
  trainers.push(trainer);
  return trainer;
}

const stepsOf = (all: readonly TrainingEvent[]) => all.filter((event) => event.type === "trainingStep");
const lossesOf = (all: readonly TrainingEvent[]) => stepsOf(all).map(({ loss }) => loss);
const valuesOf = async () => {
  const all = await Promise.all(linksOf(system).map((link) => link.tensors()));
  return all.flat().map(({ values }) => [...values]);
};

describe.each(STAGES)("the %s stage", (stage, settings) => {
  it("brings the loss down, and tells of every step", async () => {
    const reason = await trainerOf({ ...settings, steps: 40, learningRate: 1e-2 }).run();
    expect(reason).toBe("done");
    const losses = lossesOf(events);
    expect(losses).toHaveLength(40);
    const mean = (part: number[]) => part.reduce((a, b) => a + b) / part.length;
    expect(mean(losses.slice(-8))).toBeLessThan(0.85 * mean(losses.slice(0, 8)));
    expect(events[0]).toMatchObject({ type: "trainingStarted", stage, step: 0, steps: 40 });
    expect(events.at(-1)).toMatchObject({ type: "trainingFinished", reason: "done", step: 40 });
    for (const event of stepsOf(events)) {
      expect(event.gradientNorm).toBeCloseTo(Math.hypot(...Object.values(event.linkGradientNorms)), 5);
      if (stage === "inner") expect(event.cosine).toBeCloseTo(1 - event.loss, 5);
      else expect(event.roundGradientNorms).toHaveLength(event.rounds!);
    }
    const names =
      stage === "inner" ? ["inner/planner", "inner/solver"] : ["outer/planner/solver", "outer/solver/planner"];
    expect(Object.keys(stepsOf(events)[0]!.linkGradientNorms)).toEqual(names);
    expect(
      stepsOf(events)
        .map(({ secondsLeft }) => secondsLeft)
        .at(-1),
    ).toBe(0);
  });

  it("is a function of the seed", async () => {
    const losses: number[][] = [];
    for (const seed of [4, 4, 5]) {
      disposeLinks(system);
      system = await tinySystem(models);
      events = [];
      await trainerOf({ ...settings, seed, steps: 4 }).run();
      losses.push(lossesOf(events));
    }
    expect(losses[1]).toEqual(losses[0]);
    expect(losses[2]).not.toEqual(losses[0]);
  });

  it("goes on exactly from a saved file, on links that began otherwise", async () => {
    await trainerOf(settings).run();
    const [whole, values] = [lossesOf(events), await valuesOf()];
    disposeLinks(system);
    system = await tinySystem(models);
    events = [];
    const first = trainerOf(settings);
    for (let step = 0; step < 3; step++) await first.trainStep();
    const file = await first.save();
    await first.dispose();
    disposeLinks(system);
    system = await tinySystem(models, 77);
    // Links that the stage does not train are saved as well.
    const second = trainerOf({ ...settings, seed: 9, steps: 500 });
    await second.restore(file);
    expect(second.step).toBe(3);
    expect(await second.run()).toBe("done");
    expect(lossesOf(events)).toEqual(whole);
    expect(await valuesOf()).toEqual(values);
    expect(events.at(-1)).toMatchObject({ reason: "done", step: 8 });
  });

  it("pauses at a step boundary and goes on as if it had not", async () => {
    await trainerOf(settings).run();
    const whole = lossesOf(events);
    disposeLinks(system);
    system = await tinySystem(models);
    events = [];
    const trainer = trainerOf(settings, {
      onEvent: (event) => {
        events.push(event);
        if (event.type === "trainingStep" && event.step === 3) void trainer.pause();
      },
    });
    const run = trainer.run();
    while (!trainer.isPaused) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(trainer.step).toBe(3);
    // A paused run can be saved, and stays where it is.
    await trainer.save();
    expect(events.map(({ type }) => type).slice(-2)).toEqual(["trainingPaused", "trainingSaved"]);
    trainer.resume();
    expect(await run).toBe("done");
    expect(lossesOf(events)).toEqual(whole);
    expect(events.filter(({ type }) => type === "trainingResumed")).toHaveLength(1);
  });

  it("holds no more memory after many steps than after the first ones", async () => {
    const trainer = trainerOf({ ...settings, steps: 30 });
    const standing: number[] = [];
    for (let step = 0; step < 30; step++) {
      await trainer.trainStep();
      standing.push(tape.liveBytes);
    }
    expect(new Set(standing).size).toBe(1);
    // Of the device's memory, what is free stays in the pool; small uniforms may be added.
    const [early, late] = [stepsOf(events)[14]!.liveBytes, stepsOf(events)[29]!.liveBytes];
    expect(late - early).toBeLessThan(0.02 * early);
  });
});

describe("a run", () => {
  it("stops by signal at a step boundary, and can be taken up again", async () => {
    const controller = new AbortController();
    const trainer = trainerOf(INNER, {
      onEvent: (event) => {
        events.push(event);
        if (event.type === "trainingStep" && event.step === 2) controller.abort();
      },
    });
    expect(await trainer.run({ signal: controller.signal })).toBe("stopped");
    expect(trainer.step).toBe(2);
    expect(events.at(-1)).toMatchObject({ type: "trainingFinished", reason: "stopped", step: 2 });
    expect(await trainer.run()).toBe("done");
    expect(lossesOf(events)).toHaveLength(8);
  });

  it("stops while it is paused", async () => {
    const trainer = trainerOf(INNER);
    const run = trainer.run();
    await trainer.pause();
    trainer.stop();
    expect(await run).toBe("stopped");
    expect(events.map(({ type }) => type)).not.toContain("trainingResumed");
  });

  it("saves itself every so many steps and at its end", async () => {
    const saved: number[] = [];
    const autosave = {
      every: 3,
      save: (file: Uint8Array, step: number) => {
        expect(file.length).toBeGreaterThan(1000);
        saved.push(step);
      },
    };
    await trainerOf(INNER, { autosave }).run();
    expect(saved).toEqual([3, 6, 8]);
  });

  it("ends when a number is not finite, and keeps the links of the step before", async () => {
    const trainer = trainerOf(OUTER);
    await trainer.trainStep();
    const [link] = linksOf(system).slice(-1);
    const tensors = await link!.tensors();
    // Products with this overflow.
    link!.load(tensors.map((tensor) => ({ ...tensor, values: tensor.values.map(() => 3e38) })));
    const before = await valuesOf();
    expect(await trainer.run()).toBe("notFinite");
    expect(events.at(-1)).toMatchObject({ reason: "notFinite", step: 1 });
    expect((events.at(-1) as { message: string }).message).toMatch(
      /^step \d: .* not finite; the links are those of step/,
    );
    expect(await valuesOf()).toEqual(before);
    // With sound links the run goes on.
    link!.load(tensors);
    expect(await trainer.run()).toBe("done");
  });

  it("gives its links over to a newer one", async () => {
    const older = trainerOf(INNER);
    await older.trainStep();
    const newer = trainerOf(OUTER);
    await expect(older.trainStep()).rejects.toThrow("taken over by another trainer");
    expect((await newer.trainStep()).step).toBe(1);
  });

  it("names settings and links that do not fit", async () => {
    expect(() => trainerOf({ ...INNER, steps: 0 })).toThrow(/training settings: steps: .*1/);
    expect(() => trainerOf({ ...OUTER, roundsMix: [] } as TrainingSettingsInput)).toThrow(/roundsMix/);
    const [first, ...others] = system.agents;
    const foreign = { inputSize: 36, outputSize: 36, multiplyAdds: 0, forward: (x: never) => x, dispose() {} };
    const odd = { ...system, agents: [{ ...first!, innerLink: foreign }, ...others] };
    expect(() => trainerOf(INNER, { system: odd })).toThrow("inner/planner is no RecursiveLink and cannot be trained");
  });
});

describe("restoring", () => {
  let trainer: LinkTrainer;
  let file: Uint8Array;
  beforeEach(async () => {
    trainer = trainerOf(INNER);
    await trainer.trainStep();
    file = await trainer.save();
  });

  /** The file with other tensors or metadata. */
  const changed = (change: (parsed: ReturnType<typeof parseSafetensors>) => void) => {
    const parsed = parseSafetensors("x", file.slice());
    change(parsed);
    return writeSafetensors(parsed.tensors, parsed.metadata);
  };
  const poisoned = (name: string) =>
    changed(({ tensors }) => {
      const tensor = tensors.find((own) => own.name === name)!;
      tensor.bytes = new Uint8Array(tensor.bytes.length).fill(0xff);
    });
  const state = (change: (state: { settings: Record<string, unknown>; [key: string]: unknown }) => void) =>
    changed(({ metadata }) => {
      const own = JSON.parse(metadata["twinloop.training"]!);
      change(own);
      metadata["twinloop.training"] = JSON.stringify(own);
    });

  it.each<[string, () => Uint8Array | Promise<Uint8Array>, RegExp]>([
    ["a file that is cut off", () => file.slice(0, file.length - 9), /^run.bin: truncated: tensor/],
    ["a file of something else", () => new TextEncoder().encode("{} and more than this"), /^run.bin: .*header/],
    [
      "links without a run",
      () => changed(({ metadata }) => delete metadata["twinloop.training"]),
      /^run.bin: .*no training run, links at most/,
    ],
    [
      "a tensor that is missing",
      () =>
        changed(({ tensors }) =>
          tensors.splice(
            tensors.findIndex(({ name }) => name.startsWith("training/")),
            1,
          ),
        ),
      /^run.bin: the tensor "training\/first\/inner\/planner\/proj1.weight" is missing/,
    ],
    [
      "a link's number that is not finite",
      () => poisoned("inner/planner/proj1.weight"),
      /^run.bin: inner link of "planner": tensor "proj1.weight" has a value of NaN/,
    ],
    [
      "a moment's number that is not finite",
      () => poisoned("training/second/inner/solver/proj2.bias"),
      /^run.bin: "training\/second\/inner\/solver\/proj2.bias" holds numbers that are not finite/,
    ],
    [
      "bad settings",
      () => state(({ settings }) => Object.assign(settings, { batch: -1 })),
      /^run.bin: .*settings.batch/,
    ],
    [
      "another role",
      () => state((own) => Object.assign(own, { roles: ["planner", "critic"] })),
      /^run.bin: the role of agent solver is critic instead of solver/,
    ],
    [
      "a run of the other stage",
      async () => {
        const other = await tinySystem(models);
        const run = trainerOf(OUTER, { system: other });
        await run.trainStep();
        const bytes = await run.save();
        await run.dispose();
        disposeLinks(other);
        return bytes;
      },
      /^run.bin: it is a run of the outer stage, and this one is of the inner stage/,
    ],
    [
      "a run of other agents",
      async () => {
        const other = await tinySystem([...models].reverse());
        const run = trainerOf(INNER, { system: other });
        const bytes = await run.save();
        await run.dispose();
        disposeLinks(other);
        return bytes;
      },
      /^run.bin: the model of agent planner is random-1 instead of random-0/,
    ],
  ])("refuses %s by name and loses nothing", async (_, bad, message) => {
    const bytes = await bad();
    const before = await valuesOf();
    await expect(trainer.restore(bytes, "run.bin")).rejects.toThrow(message);
    expect(await valuesOf()).toEqual(before);
    expect(trainer.step).toBe(1);
    const next = await trainer.trainStep();
    await trainer.restore(file);
    expect((await trainer.trainStep()).loss).toBe(next.loss);
  });

  it("waits for nobody: a run that is going on must be paused first", async () => {
    const run = trainer.run();
    await expect(trainer.restore(file)).rejects.toThrow("pause or stop the run");
    await trainer.pause();
    await trainer.restore(file);
    trainer.resume();
    expect(await run).toBe("done");
  });
});

describe("outer links that start aligned", () => {
  it("know the words of the task better than a matrix can, and leave other links alone", async () => {
    const before = await valuesOf();
    const [ridge] = await alignOuterLinks(system, TINY_TASK, { seed: 1, edges: [0], steps: 1, noise: 0 });
    const [aligned] = await alignOuterLinks(system, TINY_TASK, { seed: 1, edges: [0], steps: 150, noise: 0 });
    expect(aligned).toBeLessThan(0.5 * ridge!);
    const after = await valuesOf();
    // Nine parameters of each inner link, then eleven of each outer one.
    const edge = after.slice(18, 29);
    expect(edge).not.toEqual(before.slice(18, 29));
    expect([...after.slice(0, 18), ...after.slice(29)]).toEqual([...before.slice(0, 18), ...before.slice(29)]);
  });

  it("are the same for the same seed, and stop by signal", async () => {
    const found: number[][] = [];
    for (let i = 0; i < 2; i++) {
      disposeLinks(system);
      system = await tinySystem(models);
      found.push(await alignOuterLinks(system, TINY_TASK, { seed: 5, steps: 5 }));
    }
    expect(found[0]).toHaveLength(2);
    expect(found[1]).toEqual(found[0]);
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(alignOuterLinks(system, TINY_TASK, { seed: 5, signal })).rejects.toThrow("enough");
  });
});

describe("the outer stage's settings", () => {
  const stepWith = async (settings: object) => {
    disposeLinks(system);
    system = await tinySystem(models);
    const trainer = trainerOf({ ...OUTER, roundsMix: [3], ...settings } as TrainingSettingsInput);
    return trainer.trainStep();
  };

  it("let gradients flow through the last rounds only", async () => {
    const whole = await stepWith({});
    const cut = await stepWith({ truncateRounds: 2 });
    expect(cut.loss).toBe(whole.loss);
    expect(whole.roundGradientNorms!.every((norm) => norm > 0)).toBe(true);
    expect(cut.roundGradientNorms![0]).toBe(0);
    expect(cut.roundGradientNorms!.slice(1).every((norm) => norm > 0)).toBe(true);
    // The last round's messages are changed by the same amount, whatever happens before.
    expect(cut.roundGradientNorms![2]).toBeCloseTo(whole.roundGradientNorms![2]!, 5);
    expect(cut.gradientNorm).not.toBe(whole.gradientNorm);
  });

  it("take messages from rollouts or from targets", async () => {
    const [own, forced] = [await stepWith({}), await stepWith({ feedback: "teacherForced" })];
    expect(forced.loss).not.toBeCloseTo(own.loss, 4);
  });

  it("train inner links along", async () => {
    const along = await stepWith({ trainInner: true });
    expect(Object.keys(along.linkGradientNorms)).toEqual([
      "inner/planner",
      "inner/solver",
      "outer/planner/solver",
      "outer/solver/planner",
    ]);
    expect(Object.values(along.linkGradientNorms).every((norm) => norm > 0)).toBe(true);
  });

  it("count earlier answers", async () => {
    const [last, all] = [await stepWith({}), await stepWith({ earlierRoundsWeight: 0.5 })];
    expect(all.loss).toBeGreaterThan(1.2 * last.loss);
  });

  it("compare messages with what should have been said, each link answering for its own if asked to", async () => {
    const words = { answerWeight: 0, messageWeight: 1 };
    const [joint, own] = [await stepWith(words), await stepWith({ ...words, detachMessages: true })];
    expect(own.loss).toBe(joint.loss);
    expect(own.loss).toBeGreaterThan(0);
    expect(own.loss).toBeLessThan(2);
    // What reads a message changes the message's gradient only where gradients flow through reading.
    expect(own.roundGradientNorms![2]).not.toBe(0);
    expect(own.roundGradientNorms![0]).toBeLessThan(0.999 * joint.roundGradientNorms![0]!);
    const both = await stepWith({ messageWeight: 1 });
    const answer = await stepWith({});
    expect(both.loss).toBeCloseTo(answer.loss + joint.loss, 4);
  });

  it("must train something", () => {
    expect(() => trainerOf({ ...OUTER, answerWeight: 0 } as TrainingSettingsInput)).toThrow(/answerWeight: .*nothing/);
  });

  it("tell the norms that the messages' gradients have", async () => {
    const event = await stepWith({ seed: 3 });
    disposeLinks(system);
    system = await tinySystem(models);
    const questions = trainingSeeds(3, 1, COMMON.batch).map((seed) => TINY_TASK.question(seed));
    const batch = new RecursionBatch(system, questions);
    const gradients: { round: number; grad: Tensor }[] = [];
    tape.scope(() => {
      const { messages, fills } = unroll(batch, { rounds: 3, latentSteps: COMMON.latentSteps });
      for (const { vectors } of messages) vectors.retainGrad = true;
      const { hidden, targets } = batch.answerRows(fills, { rounds: 3 });
      tape.backward(crossEntropy(hidden, batch.head, targets));
      for (const { round, vectors } of messages) {
        gradients.push({ round, grad: tape.outsideScopes(() => vectors.grad!.share()) });
      }
    });
    batch.dispose();
    const squares = [0, 0, 0];
    for (const { round, grad } of gradients) {
      for (const value of await grad.read()) squares[round - 1]! += value ** 2;
      grad.dispose();
    }
    expect(relativeError(event.roundGradientNorms!, squares.map(Math.sqrt))).toBeLessThan(1e-5);
  });
});
