/** The engine's promises to a page: outcomes instead of exceptions, one run at a time, cancel, stop, a lost device. */
import { describe, expect, it } from "vitest";
import { CheckpointError } from "../checkpoint/errors";
import { SYSTEM1_INSTRUCTION } from "../dual/prompts";
import { type Script, scriptedModel } from "../dual/scriptedModel";
import { DeviceLostError, GpuOutOfMemoryError, GpuUnavailableError } from "../gpu/errors";
import type { LanguageModel } from "../model/languageModel";
import { makeWorld } from "../world/world";
import { Engine, type ModelOpener, type OpenModel } from "./engine";
import { EngineError, problemOf } from "./problems";
import type { EngineMessage, EngineProblem, ResearchRequest } from "./protocol";

const SEED = 3;
const world = makeWorld(SEED);
const [first] = world.documents;
const request: ResearchRequest = {
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
const call = JSON.stringify({ name: "search", arguments: { query: first!.title, purpose: "what it is" } });
/** One search, then the gold answer. */
const honest: Script = (prompt) => {
  if (prompt.includes(SYSTEM1_INSTRUCTION)) return "[1] a quote";
  return prompt.includes("[1] a quote") ? request.gold![0]! : `I look.\n<tool_call>\n${call}\n</tool_call>`;
};

function setUp(model: LanguageModel = scriptedModel(honest, { maxPositions: 100_000 })) {
  const messages: EngineMessage[] = [];
  let lose: (problem: EngineProblem) => void = () => {};
  const closed: string[] = [];
  const opener: ModelOpener = async ({ id }, { onDevice, onProgress }): Promise<OpenModel> => {
    const device = { name: "test", software: true };
    onDevice(device);
    onProgress(5, 10);
    const lost = new Promise<EngineProblem>((resolve) => {
      lose = resolve;
    });
    return { model, device, info: { id, parameters: 1, liveBytes: 4 }, lost, close: () => closed.push(id) };
  };
  const engine = new Engine(opener, python);
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
  it("tells of device and progress, and keeps a model that is there", async () => {
    const { engine, messages, closed } = setUp();
    const ready = await engine.load({ id: "a", url: "u" });
    expect(ready).toMatchObject({ status: "ready", device: { name: "test" }, model: { id: "a" } });
    expect(messages).toEqual([
      { type: "device", device: { name: "test", software: true } },
      { type: "progress", loadedBytes: 5, totalBytes: 10 },
    ]);
    expect(await engine.load({ id: "a", url: "u" })).toEqual(ready);
    expect(messages).toHaveLength(2);
    await engine.load({ id: "b", url: "u" });
    expect(closed).toEqual(["a"]);
  });

  it("can be cancelled and tried again", async () => {
    let attempts = 0;
    const engine = new Engine(async (_, { signal }) => {
      attempts++;
      await new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      throw new Error("not reached");
    }, python);
    for (let attempt = 1; attempt <= 2; attempt++) {
      const loading = engine.load({ id: "a", url: "u" });
      engine.cancelLoad();
      expect(await loading).toEqual({ status: "cancelled" });
      expect(attempts).toBe(attempt);
    }
  });

  it("closes a model that was opened after the cancel", async () => {
    const closed: string[] = [];
    const { engine } = setUp();
    const slow = new Engine(async (load, hooks) => {
      await Promise.resolve();
      return {
        model: scriptedModel(honest),
        device: { name: "test", software: true },
        info: { id: load.id, parameters: 1, liveBytes: hooks.signal.aborted ? 0 : 1 },
        lost: new Promise(() => {}),
        close: () => closed.push(load.id),
      };
    }, python);
    const loading = slow.load({ id: "a", url: "u" });
    slow.cancelLoad();
    expect(await loading).toEqual({ status: "cancelled" });
    expect(closed).toEqual(["a"]);
    expect(await engine.research(request)).toMatchObject({ status: "failed" });
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
    await engine.load({ id: "a", url: "u" });
    expect(await engine.research(request)).toEqual({ status: "finished" });
    const run = events();
    expect(run[0]).toMatchObject({ type: "runStarted", question: request.question, gold: request.gold });
    expect(run.find((event) => event.type === "toolResult")!.documents).toHaveLength(3);
    expect(run.find((event) => event.type === "answer")).toMatchObject({ correct: true });
    expect(run.at(-1)).toMatchObject({ type: "runFinished", reason: "answer" });
  });

  it("stops in the middle of a generation and can run again", async () => {
    const { engine, events } = setUp();
    await engine.load({ id: "a", url: "u" });
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
    await engine.load({ id: "a", url: "u" });
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
    await engine.load({ id: "a", url: "u" });
    lose(problem);
    expect(await engine.research(request)).toEqual({ status: "failed", problem });
    expect(messages.filter(({ type }) => type === "deviceLost")).toEqual([{ type: "deviceLost", problem }]);
    expect(closed).toEqual(["a"]);
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
    [new CheckpointError("a: config.json: the server answered 500 Oops"), "modelFilesMissing"],
    [new CheckpointError("a: config.json: failed", { cause: new TypeError("Failed to fetch") }), "modelFilesMissing"],
    [new CheckpointError("a: tokenizer.json: bad", { cause: new SyntaxError("JSON") }), "modelInvalid"],
    [new CheckpointError("a: missing tensors: x"), "modelInvalid"],
    [new CheckpointError(`a: config.json: field "vocab_size" is missing`), "modelInvalid"],
    [new EngineError("outOfMemory", "told"), "outOfMemory"],
    [new RangeError("odd"), "engineFailed"],
    ["odd", "engineFailed"],
  ])("%s", (error, kind) => {
    const problem = problemOf(error);
    expect(problem.kind).toBe(kind);
    expect(problem.detail).toContain(error instanceof Error ? error.message : error);
  });
});
