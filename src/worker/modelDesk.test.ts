/** Which engine a model runs on, what a failed self-test means, unloading, and whose models a lost device takes along. */
import { readFileSync } from "node:fs";
import { afterEach, describe, expect, it, vi } from "vitest";
import { openCheckpoint } from "../checkpoint/load";
import { folderSource } from "../checkpoint/nodeFolder";
import { GpuFailure, GpuUnavailableError } from "../gpu/errors";
import type { Engine } from "../model/engines";
import type { LanguageModel } from "../model/languageModel";
import { loadReferenceModel, referenceLogits } from "../reference/decoder";
import type { LoadMessage, LoadRequest, ModelSource } from "./loadProtocol";
import { SELF_TEST_FILE } from "./loadProtocol";
import { ModelDesk, type OpenDevice } from "./modelDesk";
import { EngineError } from "./problems";
import type { EngineProblem } from "./protocol";
import { selfTestSchema } from "./selfTest";

const SHIPPED = new URL("../../public/models/twinloop-relay-s/", import.meta.url);
const stored = selfTestSchema.parse(JSON.parse(readFileSync(new URL(SELF_TEST_FILE, SHIPPED), "utf8")));
const origin = { kind: "url", url: "https://host/agent/" } as const;
const source = (id: string, more: Partial<ModelSource> = {}): ModelSource => ({ id, origin, ...more });
const TEST = { kind: "url", url: "https://host/self-test/" } as const;

interface SetUp {
  /** What the device of our engine writes in the self-test. */
  write?: (prompt: number) => readonly number[];
  open?: (engine: Engine) => void;
  /** Throws where a model cannot be loaded. */
  onLoad?: (engine: Engine, source: ModelSource) => void;
  release?: () => void;
}

function setUp({ write = (i) => stored.tokens[i]!, open, onLoad, release }: SetUp = {}) {
  vi.stubGlobal("fetch", async (url: string) => {
    return url.endsWith(SELF_TEST_FILE) ? Response.json(stored) : new Response("", { status: 404 });
  });
  const messages: LoadMessage[] = [];
  const log: string[] = [];
  const losers = new Map<Engine, (problem: EngineProblem) => void>();
  const opener = async (engine: Engine): Promise<OpenDevice> => {
    open?.(engine);
    log.push(`open ${engine}`);
    return {
      info: { engine, name: engine, software: true },
      lost: new Promise((resolve) => losers.set(engine, resolve)),
      survivesFailures: engine === "onnx-wasm",
      async load(wanted) {
        onLoad?.(engine, wanted);
        const { id, latent = false, weights = "stored" } = wanted;
        log.push(`load ${id} ${engine}`);
        const model = {
          generate: async (requests: readonly object[]) => requests.map((_, i) => ({ ids: [...write(i)] })),
        } as unknown as LanguageModel;
        const sizes = { parameters: 1, layers: 1, hiddenSize: 2, vocabSize: 3, maxPositions: 8, liveBytes: 4 };
        const abilities = { isExport: false, latent, gradients: latent && engine === "wgsl" };
        const info = { id, engine, weights, ...sizes, ...abilities };
        return { model, info, dispose: () => log.push(`free ${id} ${engine}`) };
      },
      close: () => log.push(`close ${engine}`),
    };
  };
  const hooks = {
    post: (message: LoadMessage) => messages.push(message),
    release: () => release?.(),
    lost: () => {},
  };
  const nothing = () => {
    throw new Error("nothing is open");
  };
  const desk = new ModelDesk(opener, hooks, { source: nothing, keptSource: nothing });
  const load = (request: LoadRequest) => desk.load(request);
  return { desk, load, messages, log, lose: (engine: Engine, problem: EngineProblem) => losers.get(engine)?.(problem) };
}

afterEach(() => {
  vi.unstubAllGlobals();
});

describe("the engine that auto means", () => {
  it("is ours where the self-test's tokens come out, and the test is made once", async () => {
    const { load, log } = setUp();
    const ready = await load({ models: [source("a")], selfTest: TEST });
    expect(ready).toMatchObject({ status: "ready", auto: { engine: "wgsl" }, models: [{ id: "a", engine: "wgsl" }] });
    await load({ models: [source("b")], selfTest: TEST });
    expect(log).toEqual(["open wgsl", "load self-test wgsl", "free self-test wgsl", "load a wgsl", "load b wgsl"]);
  });

  it("is the processor's where other tokens come out, with the reason, and the device is given up", async () => {
    const wrong = (i: number) => stored.tokens[i]!.map((id, at) => (i === 2 && at === 1 ? id + 1 : id));
    const { load, log } = setUp({ write: wrong });
    const ready = await load({ models: [source("a")], selfTest: TEST });
    const [, expected] = stored.tokens[2]!;
    const detail = `self-test, prompt 3: token 2 is ${expected! + 1} instead of ${expected}`;
    expect(ready).toMatchObject({
      auto: { engine: "onnx-wasm", problem: { kind: "selfTestFailed", detail } },
      devices: [{ engine: "onnx-wasm" }],
      models: [{ id: "a", engine: "onnx-wasm" }],
    });
    expect(log).toContain("close wgsl");
    await load({ models: [source("b")], selfTest: TEST });
    expect(log.filter((entry) => entry === "open wgsl")).toHaveLength(1);
  });

  it.each([
    [new GpuUnavailableError("noWebGpu", "none"), "noWebGpu"],
    [new GpuUnavailableError("insecureContext", "http"), "insecureContext"],
    [new GpuUnavailableError("noAdapter", "none"), "noAdapter"],
  ])("is the processor's without a device: %s", async (error, kind) => {
    const fail = (engine: Engine) => {
      if (engine === "wgsl") throw error;
    };
    const { load } = setUp({ open: fail });
    const ready = await load({ models: [source("a")], selfTest: TEST });
    expect(ready).toMatchObject({ status: "ready", auto: { engine: "onnx-wasm", problem: { kind } } });
    // Who insists on ours is told why not.
    const insisting = await load({ models: [source("b", { engine: "wgsl" })] });
    expect(insisting).toMatchObject({ status: "failed", problem: { kind } });
  });

  it("lends a model's files as stored, on its engine, for as long as they are used", async () => {
    const asked: ModelSource[] = [];
    const { load, desk, log } = setUp({ onLoad: (_, wanted) => asked.push(wanted) });
    await load({ models: [source("a", { engine: "onnx-wasm", weights: "q4", latent: true, context: 5 })] });
    const hooks = { signal: new AbortController().signal, onProgress: () => {} };
    expect(await desk.asStored("a", hooks, async () => log.at(-1))).toBe("load a onnx-wasm");
    expect(log.at(-1)).toBe("free a onnx-wasm");
    expect(asked.at(-1)).toEqual({ ...asked[0], weights: "stored", latent: false });
    const failing = desk.asStored("a", hooks, () => Promise.reject(new Error("no")));
    await expect(failing).rejects.toThrow("no");
    expect(log.filter((entry) => entry.startsWith("free"))).toHaveLength(2);
    await expect(desk.asStored("b", hooks, async () => 1)).rejects.toThrow("the model b is not loaded");
    expect(desk.loadedModels().map(({ info }) => info.weights)).toEqual(["q4"]);
  });

  it("is the processor's where a shader of the self-test is refused", async () => {
    const refuse = (engine: Engine) => {
      if (engine === "wgsl") throw new GpuFailure("shader x does not compile");
    };
    const ready = await setUp({ onLoad: refuse }).load({ models: [source("a")], selfTest: TEST });
    const problem = { kind: "selfTestFailed", detail: expect.stringContaining("shader x") };
    expect(ready).toMatchObject({ auto: { engine: "onnx-wasm", problem } });
  });

  it("stays open while the files of the self-test are not there", async () => {
    const { load } = setUp();
    vi.stubGlobal("fetch", async () => new Response("", { status: 404 }));
    const failed = await load({ models: [source("a")], selfTest: TEST });
    expect(failed).toMatchObject({ status: "failed", problem: { kind: "modelFilesMissing" } });
    vi.stubGlobal("fetch", async () => Response.json(stored));
    expect(await load({ models: [source("a")], selfTest: TEST })).toMatchObject({ auto: { engine: "wgsl" } });
  });

  it("does not concern those who chose, nor exports in ONNX", async () => {
    const { load, log } = setUp();
    const chosen = [source("a", { engine: "onnx-webgpu" }), source("b", { onnx: {} })];
    const ready = await load({ models: chosen, selfTest: TEST });
    expect(ready).toMatchObject({ models: [{ engine: "onnx-webgpu" }, { engine: "onnx-wasm" }] });
    expect(ready).not.toHaveProperty("auto");
    expect(log).not.toContain("open wgsl");
    const refused = await load({ models: [source("c", { onnx: {}, engine: "wgsl" })] });
    expect(refused).toMatchObject({ status: "failed", problem: { kind: "modelInvalid" } });
  });
});

describe("models", () => {
  it("move to another engine, and are replaced only when the new one is there", async () => {
    let fails = true;
    const onLoad = (engine: Engine) => {
      if (engine === "onnx-wasm" && fails) throw new Error("no memory");
    };
    const { load, log, messages } = setUp({ onLoad });
    await load({ models: [source("a", { engine: "wgsl" })] });
    expect(await load({ models: [source("a", { engine: "onnx-wasm" })] })).toMatchObject({ status: "failed" });
    expect(log).not.toContain("free a wgsl");
    fails = false;
    expect(await load({ models: [source("a", { engine: "onnx-wasm" })] })).toMatchObject({ status: "ready" });
    expect(log).toContain("free a wgsl");
    expect(messages.at(-1)).toMatchObject({ type: "models", models: [{ id: "a", engine: "onnx-wasm" }] });
    const before = log.length;
    await load({ models: [source("a", { engine: "onnx-wasm" })] });
    await load({ models: [source("a", { engine: "onnx-wasm", weights: "q8" })] });
    expect(log.slice(before)).toEqual(["load a onnx-wasm", "free a onnx-wasm"]);
  });

  it("are unloaded, unless a run needs the engine", async () => {
    let busy = true;
    const release = () => {
      if (busy) throw new EngineError("engineFailed", "another run is in progress");
    };
    const { desk, load, log, messages } = setUp({ release });
    await load({ models: [source("a"), source("b")] });
    await expect(desk.unload("a")).rejects.toThrow("another run is in progress");
    expect(desk.model("a").info.id).toBe("a");
    busy = false;
    await desk.unload("a");
    await desk.unload("never there");
    expect(log.filter((entry) => entry.startsWith("free"))).toEqual(["free a wgsl"]);
    expect(() => desk.model("a")).toThrow("not loaded");
    expect(messages.at(-1)).toMatchObject({ type: "models", models: [{ id: "b" }] });
  });

  it("of other engines outlive a lost device", async () => {
    const problem: EngineProblem = { kind: "deviceLost", detail: "gone" };
    const { desk, load, lose, messages, log } = setUp();
    await load({ models: [source("a", { engine: "wgsl" }), source("b", { engine: "onnx-wasm" })] });
    lose("wgsl", problem);
    await Promise.resolve();
    expect(messages.slice(-2)).toMatchObject([
      { type: "deviceLost", engine: "wgsl", problem },
      { type: "models", models: [{ id: "b" }] },
    ]);
    expect(() => desk.model("a")).toThrow("not loaded");
    expect(desk.model("b").info.engine).toBe("onnx-wasm");
    expect(log.filter((entry) => /free|close/.test(entry))).toEqual(["free a wgsl", "close wgsl"]);
  });
});

describe("self_test.json of the shipped agent", () => {
  it("holds what the plain reference writes", async () => {
    const reference = await loadReferenceModel(await openCheckpoint(folderSource(SHIPPED.pathname)));
    const { vocabSize } = reference.config;
    // One of the prompts; each takes about a second.
    const [prompt, tokens] = [stored.prompts[1]!, stored.tokens[1]!];
    const logits = referenceLogits(reference, { ids: [...prompt, ...tokens.slice(0, -1)] });
    tokens.forEach((id, i) => {
      const row = logits.subarray((prompt.length - 1 + i) * vocabSize, (prompt.length + i) * vocabSize);
      expect(row.indexOf(Math.max(...row))).toBe(id);
    });
    expect(stored.tokens.flat().length).toBeGreaterThan(12);
    expect(stored.prompts).toHaveLength(stored.tokens.length);
  });
});
