/** The engine's promises to a page: outcomes instead of exceptions, one run at a time, cancel, stop, a lost device. */
import { describe, expect, it } from "vitest";
import { CheckpointError, DeliveryError, StorageError } from "../checkpoint/errors";
import { SYSTEM1_INSTRUCTION } from "../dual/prompts";
import { type Script, scriptedModel } from "../dual/scriptedModel";
import { DeviceLostError, GpuOutOfMemoryError, GpuUnavailableError } from "../gpu/errors";
import type { LanguageModel } from "../model/languageModel";
import { RequestError } from "../model/requests";
import { ChatTemplateError } from "../text/chatTemplate";
import { makeWorld } from "../world/world";
import { Engine } from "./engine";
import type { LoadRequest, ModelInfo } from "./loadProtocol";
import type { DeviceOpener, OpenDevice } from "./modelDesk";
import { EngineError, problemOf } from "./problems";
import type { EngineMessage, EngineProblem, ResearchRequest } from "./protocol";
import type { TrainingArchive } from "./trainingArchive";

const SEED = 3;
const world = makeWorld(SEED);
const [first] = world.documents;
const request: ResearchRequest = {
  model: "a",
  run: 1,
  world: SEED,
  question: world.questions[0]!.text,
  gold: world.questions[0]!.gold,
  useSystem1: true,
  searchResults: 3,
  maxTurns: 4,
  temperature: 0,
  seed: 0,
};

const python = { run: async () => "1" };
const archive: TrainingArchive = { read: async () => undefined, write: async () => {}, clear: async () => {} };
const call = JSON.stringify({ name: "search", arguments: { query: first!.title, purpose: "what it is" } });
const sizes = { parameters: 1, layers: 1, hiddenSize: 2, vocabSize: 3, maxPositions: 8, liveBytes: 4 };
const infoOf = (id: string, engine: ModelInfo["engine"] = "wgsl"): ModelInfo => {
  return { id, engine, weights: "stored", ...sizes, isExport: false, latent: false, gradients: false };
};
const origin = { kind: "url", url: "u" } as const;
const load = (...ids: string[]): LoadRequest => ({ models: ids.map((id) => ({ id, origin })) });
const TEST_DEVICE = { engine: "wgsl", name: "test", software: true } as const;
/** A promise, and what resolves it. */
function signalled() {
  let give = () => {};
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { given, give: () => give() };
}

/** One search, then the gold answer. */
const honest: Script = (prompt) => {
  if (prompt.includes(SYSTEM1_INSTRUCTION)) return "[1] a quote";
  return prompt.includes("[1] a quote") ? request.gold![0]! : `I look.\n<tool_call>\n${call}\n</tool_call>`;
};

function setUp(model: LanguageModel = scriptedModel(honest, { maxPositions: 100_000 })) {
  const messages: EngineMessage[] = [];
  let lose: (problem: EngineProblem) => void = () => {};
  const closed: string[] = [];
  const opener: DeviceOpener = async (): Promise<OpenDevice> => {
    const lost = new Promise<EngineProblem>((resolve) => {
      lose = resolve;
    });
    return {
      info: TEST_DEVICE,
      lost,
      survivesFailures: false,
      load: async ({ id }, { signal }) => {
        await Promise.resolve();
        signal.throwIfAborted();
        return { model, info: infoOf(id), dispose: () => closed.push(id) };
      },
      close: () => closed.push("device"),
    };
  };
  const engine = new Engine(opener, python, archive);
  engine.connect({ postMessage: (message) => messages.push(message) });
  return {
    engine,
    messages,
    closed,
    lose: (problem: EngineProblem) => lose(problem),
    events: () => messages.flatMap((message) => (message.type === "events" ? message.events : [])),
  };
}

describe("loading", () => {
  it("tells of the device, and keeps models that are there", async () => {
    const { engine, messages, closed } = setUp();
    const ready = await engine.load(load("a", "b"));
    expect(ready).toEqual({
      status: "ready",
      devices: [TEST_DEVICE],
      auto: { engine: "wgsl" },
      models: [infoOf("a"), infoOf("b")],
    });
    expect(messages).toEqual([
      { type: "models", models: [infoOf("a")] },
      { type: "models", models: [infoOf("a"), infoOf("b")] },
    ]);
    expect(await engine.load(load("b"))).toMatchObject({ status: "ready", models: [{ id: "b" }] });
    expect(await engine.load(load("c"))).toMatchObject({ status: "ready", models: [{ id: "c" }] });
    expect(messages).toHaveLength(3);
    expect(closed).toEqual([]);
  });

  it("can be cancelled and tried again, on the same device", async () => {
    let [opened, attempts] = [0, 0];
    const engine = new Engine(
      async () => {
        opened++;
        return {
          info: TEST_DEVICE,
          lost: new Promise(() => {}),
          survivesFailures: false,
          load: async (_, { signal }) => {
            attempts++;
            await new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
            throw new Error("not reached");
          },
          close: () => {},
        };
      },
      python,
      archive,
    );
    for (let attempt = 1; attempt <= 2; attempt++) {
      const loading = engine.load(load("a"));
      await new Promise((resolve) => setTimeout(resolve));
      engine.cancelLoad();
      expect(await loading).toEqual({ status: "cancelled" });
      expect(attempts).toBe(attempt);
    }
    expect(opened).toBe(1);
  });

  it("a later call ends an earlier one", async () => {
    const { engine } = setUp();
    const first = engine.load(load("a"));
    const second = engine.load(load("b"));
    expect(await first).toEqual({ status: "cancelled" });
    expect(await second).toMatchObject({ status: "ready" });
    expect(await engine.research({ ...request, model: "a" })).toMatchObject({ status: "failed" });
  });

  it("disposes of a model that came after the cancel", async () => {
    const closed: string[] = [];
    const begun = signalled();
    const arrived = signalled();
    const engine = new Engine(
      async () => ({
        info: TEST_DEVICE,
        lost: new Promise(() => {}),
        survivesFailures: false,
        load: async ({ id }) => {
          begun.give();
          await arrived.given;
          return { model: scriptedModel(honest), info: infoOf(id), dispose: () => closed.push(id) };
        },
        close: () => {},
      }),
      python,
      archive,
    );
    const loading = engine.load(load("a"));
    await begun.given;
    engine.cancelLoad();
    arrived.give();
    expect(await loading).toEqual({ status: "cancelled" });
    expect(closed).toEqual(["a"]);
    expect(await engine.research(request)).toMatchObject({ status: "failed" });
  });

  it("gives up a device on which nothing could be loaded", async () => {
    let opened = 0;
    const closed: number[] = [];
    const engine = new Engine(
      async () => {
        const number = ++opened;
        return {
          info: TEST_DEVICE,
          lost: new Promise(() => {}),
          survivesFailures: false,
          load: async () => {
            throw new CheckpointError("a: model.safetensors is missing");
          },
          close: () => closed.push(number),
        };
      },
      python,
      archive,
    );
    const problem = { kind: "modelFilesMissing" };
    expect(await engine.load(load("a"))).toMatchObject({ status: "failed", problem });
    expect(await engine.load(load("a"))).toMatchObject({ status: "failed", problem });
    expect(closed).toEqual([1, 2]);
  });
});

describe("worlds", () => {
  it("come from their seeds", () => {
    const { engine } = setUp();
    const summary = engine.world(SEED);
    expect(summary.articles).toBe(world.documents.length);
    expect(summary.questions[0]).toEqual({
      text: world.questions[0]!.text,
      hops: world.questions[0]!.hops,
      kind: world.questions[0]!.kind,
      gold: world.questions[0]!.gold,
    });
  });
});

describe("research", () => {
  it("streams a whole run over the world's articles, graded", async () => {
    const { engine, events } = setUp();
    await engine.load(load("a"));
    expect(await engine.research(request)).toEqual({ status: "finished" });
    const run = events();
    expect(run[0]).toMatchObject({ type: "runStarted", question: request.question, gold: request.gold });
    expect(run.find((event) => event.type === "toolResult")!.documents).toHaveLength(3);
    expect(run.find((event) => event.type === "answer")).toMatchObject({ correct: true });
    expect(run.at(-1)).toMatchObject({ type: "runFinished", reason: "answer" });
  });

  it("stops in the middle of a generation and can run again", async () => {
    const { engine, events } = setUp();
    await engine.load(load("a"));
    const running = engine.research(request);
    await Promise.resolve();
    engine.stop();
    expect(await running).toEqual({ status: "finished" });
    expect(events().at(-1)).toMatchObject({ type: "runFinished", reason: "stopped" });
    expect(await engine.research(request)).toEqual({ status: "finished" });
    expect(events().at(-1)).toMatchObject({ type: "runFinished", reason: "answer" });
  });

  it("refuses a second run beside the first and a bad request, without harm to the first", async () => {
    const { engine } = setUp();
    await engine.load(load("a"));
    const running = engine.research(request);
    expect(await engine.research({ ...request, run: 2 })).toMatchObject({
      status: "failed",
      problem: { detail: "another run is in progress" },
    });
    expect(await running).toEqual({ status: "finished" });
    expect(await engine.research({ ...request, maxTurns: 0 })).toMatchObject({
      status: "failed",
      problem: { detail: "RangeError: maxTurns must be a positive integer; got 0" },
    });
  });

  it("reports a device that is lost during a run, once, and drops the model", async () => {
    const problem: EngineProblem = { kind: "deviceLost", detail: "gone" };
    const script: Script = () => new Error("mapping failed");
    const { engine, lose, messages, closed } = setUp(scriptedModel(script, { maxPositions: 100_000 }));
    await engine.load(load("a"));
    lose(problem);
    expect(await engine.research(request)).toEqual({ status: "failed", problem });
    expect(messages.filter(({ type }) => type === "deviceLost")).toEqual([
      { type: "deviceLost", engine: "wgsl", problem },
    ]);
    expect(closed).toEqual(["a", "device"]);
    expect(await engine.research(request)).toMatchObject({ status: "failed", problem: { kind: "engineFailed" } });
  });
});

describe("problems", () => {
  it.each([
    [new GpuUnavailableError("noWebGpu", "none"), "noWebGpu"],
    [new GpuUnavailableError("insecureContext", "http"), "insecureContext"],
    [new GpuUnavailableError("deviceRefused", "no"), "noAdapter"],
    [new GpuOutOfMemoryError("the cache", 10, 5, 0), "outOfMemory"],
    [new DeviceLostError("unknown", "reset"), "deviceLost"],
    [new CheckpointError("a: model.safetensors is missing"), "modelFilesMissing"],
    [new CheckpointError("a: onnx/model.onnx is missing"), "modelFilesMissing"],
    [new CheckpointError("a: w.bin, which holds weights of model.onnx, is missing"), "modelFilesMissing"],
    [new CheckpointError("a: config.json: the server answered 500 Oops"), "modelFilesMissing"],
    [new CheckpointError("a: config.json: failed", { cause: new TypeError("Failed to fetch") }), "modelFilesMissing"],
    [new CheckpointError("a: tokenizer.json: bad", { cause: new SyntaxError("JSON") }), "modelInvalid"],
    [new CheckpointError("a: missing tensors: x"), "modelInvalid"],
    [new CheckpointError("a: the model takes no past_key_values"), "modelInvalid"],
    [new CheckpointError(`a: config.json: field "vocab_size" is missing`), "modelInvalid"],
    [new DeliveryError(401, "a: there is no such model, or it needs a token"), "modelFilesMissing"],
    [new DeliveryError(200, "a: the hub answered with something else"), "modelFilesMissing"],
    [new DeliveryError(429, "a: the hub asks to wait"), "serverBusy"],
    [new DeliveryError(503, "a: config.json: the server answered 503"), "serverBusy"],
    [new StorageError("full", "a: x: full"), "storageFull"],
    [new StorageError("busy", "a: x: another tab is using it"), "storageBusy"],
    [new ChatTemplateError("chat template: no"), "noTemplate"],
    [new RequestError("tooLong", "request 0 has 9 tokens"), "promptTooLong"],
    [new RequestError("unknownToken", "request 0: id 9"), "unknownToken"],
    [new EngineError("outOfMemory", "told"), "outOfMemory"],
    [new RangeError("odd"), "engineFailed"],
    ["odd", "engineFailed"],
  ])("%s", (error, kind) => {
    const problem = problemOf(error);
    expect(problem.kind).toBe(kind);
    expect(problem.detail).toContain(error instanceof Error ? error.message : error);
  });
});

describe("continueText", () => {
  it("reads a text as it is, or as a chat with the template's own thinking, with it or without", async () => {
    const model = scriptedModel(() => "more");
    const { engine } = setUp(model);
    await engine.load(load("a"));
    const ask = { model: "a", prompt: "Hello", maxTokens: 4 };
    expect(await engine.continueText({ ...ask, chat: false })).toMatchObject({ status: "finished", text: "more" });
    for (const thinking of [undefined, true, false]) {
      await engine.continueText({ ...ask, chat: true, ...(thinking !== undefined && { thinking }) });
    }
    const chat = "<user>Hello\n<assistant>";
    expect(model.batches.flat()).toEqual(["Hello", chat, chat, `${chat}<think></think>`]);
    expect(await engine.continueText({ ...ask, model: "b", chat: false })).toMatchObject({ status: "failed" });
  });

  it("draws tokens as the checkpoint suggests, where it is asked to", async () => {
    const sampling = { temperature: 0.6, topK: 20, topP: 0.95, minP: 0, repetitionPenalty: 1 };
    const scripted = scriptedModel(() => "more");
    const asked: unknown[] = [];
    const model: typeof scripted = Object.assign(Object.create(scripted) as typeof scripted, {
      config: { ...scripted.config, sampling },
      generate: (...[requests, options]: Parameters<typeof scripted.generate>) => {
        asked.push(...requests);
        return scripted.generate(requests, options);
      },
    });
    const { engine } = setUp(model);
    await engine.load(load("a"));
    const ask = { model: "a", prompt: "Hello", maxTokens: 4, chat: false };
    for (const sampled of [false, true]) await engine.continueText({ ...ask, sampled });
    expect(asked[0]).not.toHaveProperty("temperature");
    expect(asked[1]).toMatchObject(sampling);
  });
});
