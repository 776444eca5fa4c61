/**
 * The worker on onnxruntime-web, from the files of public/: research with an own model for each system, recursion
 * through the shipped links, exports in ONNX, and what all that cannot do.
 */
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { openCheckpoint } from "../checkpoint/load";
import { folderSource } from "../checkpoint/nodeFolder";
import { GpuUnavailableError } from "../gpu/errors";
import { nodeOnnxRuntime } from "../onnx/nodeRuntime";
import { onnxData, onnxExport } from "../onnx/writer";
import { makeWorld } from "../world/world";
import { Engine } from "./engine";
import type { ModelOrigin, ModelSource } from "./loadProtocol";
import { onnxDevice } from "./onnxDevice";
import type { EngineMessage, ResearchRequest } from "./protocol";
import type { AgentSpec, RecursionRequest } from "./recursionProtocol";

/** On a machine with much else to do. */
const TIME = { timeout: 240_000 };

const PUBLIC = new URL("../../public/", import.meta.url);
const HOST = "https://host/";
const originOf = (folder: string): ModelOrigin => ({ kind: "url", url: `${HOST}${folder}/` });
const shipped = (id: string, more: Partial<ModelSource> = {}): ModelSource => {
  return { id, origin: originOf(`models/${id}`), ...more };
};
const RING: AgentSpec[] = [
  { id: "planner", role: "planner", model: "twinloop-relay-s" },
  { id: "critic", role: "critic", model: "twinloop-relay-m" },
  { id: "solver", role: "solver", model: "twinloop-relay-s" },
];
const RECURSION: RecursionRequest = {
  run: 1,
  agents: RING,
  links: "shipped",
  relay: { seed: 1, hops: 2, deal: "against" },
  passing: "latent",
  rounds: 2,
  latentSteps: 4,
  inner: "trained",
  outer: "trained",
  peeks: true,
  temperature: 0,
  seed: 0,
};

/** Files beside those of public/. */
let others: Record<string, Uint8Array<ArrayBuffer>>;
beforeEach(() => {
  others = {};
  vi.stubGlobal("fetch", async (url: string, init?: RequestInit) => {
    const path = decodeURIComponent(url.slice(HOST.length));
    let bytes = others[path];
    try {
      bytes ??= readFileSync(new URL(path, PUBLIC));
    } catch {
      return new Response("", { status: 404 });
    }
    const range = /^bytes=(\d+)-(\d+)$/.exec(new Headers(init?.headers).get("Range") ?? "");
    if (!range) return new Response(bytes, { headers: { "Content-Length": String(bytes.length) } });
    const [start, end] = [Number(range[1]), Math.min(Number(range[2]), bytes.length - 1)];
    const headers = { "Content-Range": `bytes ${start}-${end}/${bytes.length}` };
    return new Response(bytes.slice(start, end + 1), { status: 206, headers });
  });
});
afterEach(() => vi.unstubAllGlobals());

function setUp() {
  const messages: EngineMessage[] = [];
  const engine = new Engine(
    async (name) => {
      if (name === "wgsl") throw new GpuUnavailableError("noWebGpu", "none");
      const info = { engine: name, name: "1 thread", software: true };
      return onnxDevice({ info, runtime: () => nodeOnnxRuntime("wasm") });
    },
    { run: async () => "1" },
    { read: async () => undefined, write: async () => {}, clear: async () => {} },
  );
  engine.connect({ postMessage: (message) => messages.push(message) });
  return { engine, messages };
}

it("researches a question to its gold answer, each system on a model of its own", TIME, async () => {
  const { engine, messages } = setUp();
  const copy: ModelSource = { ...shipped("twinloop-1m"), id: "another", weights: "q8" };
  const ready = await engine.load({ models: [shipped("twinloop-1m"), copy] });
  expect(ready).toMatchObject({
    status: "ready",
    auto: { engine: "onnx-wasm", problem: { kind: "noWebGpu" } },
    models: [
      { id: "twinloop-1m", engine: "onnx-wasm", weights: "stored", layers: 4, latent: false },
      { id: "another", weights: "q8" },
    ],
  });
  const [question] = makeWorld(7).questions.filter(({ hops }) => hops === 1);
  const request: ResearchRequest = {
    run: 1,
    model: "twinloop-1m",
    system1Model: "another",
    world: 7,
    question: question!.text,
    gold: question!.gold,
    useSystem1: true,
    searchResults: 3,
    maxTurns: 6,
    temperature: 0,
    seed: 0,
  };
  expect(await engine.research(request)).toEqual({ status: "finished" });
  const events = messages.flatMap((message) => (message.type === "events" ? message.events : []));
  expect(events.find(({ type }) => type === "answer")).toMatchObject({ correct: true });
  expect(events[0]).toMatchObject({ type: "runStarted", model: "twinloop-1m + another" });
  await engine.unload("another");
  expect(await engine.research(request)).toMatchObject({ problem: { detail: "the model another is not loaded" } });
});

it("recurses through the shipped links, and refuses what needs the tape", TIME, async () => {
  const { engine, messages } = setUp();
  const models = [...new Set(RING.map(({ model }) => model))].map((id) => shipped(id, { latent: true }));
  expect(await engine.load({ models })).toMatchObject({ models: [{ latent: true, gradients: false }, {}] });
  expect(await engine.fetchLinks("shipped", `${HOST}links/relay/`)).toMatchObject({ status: "ready" });
  expect(await engine.recur(RECURSION)).toEqual({ status: "finished" });
  const events = messages.flatMap((message) => (message.type === "recursionEvents" ? message.events : []));
  expect(events.filter(({ type }) => type === "latentThought")).toHaveLength(20);
  expect(events.filter(({ type }) => type === "answerPeek")).toHaveLength(1);
  expect(events.at(-1)).toMatchObject({ type: "recursionFinished", reason: "answer" });

  const refused = { status: "failed", problem: { kind: "needsWebGpu" } };
  expect(await engine.recur({ ...RECURSION, inner: "ridge" })).toMatchObject(refused);
  const evaluation = { ...RECURSION, conditions: ["trained"], n: 2, rounds: [1] };
  expect(await engine.evaluate(evaluation)).toMatchObject(refused);
  const training = { run: 2, agents: RING, settings: { stage: "inner" as const }, saveEvery: 10 };
  const detail = expect.stringContaining("twinloop-relay-s runs on another one");
  expect(await engine.train(training)).toMatchObject({ status: "failed", problem: { kind: "needsWebGpu", detail } });
  expect(await engine.vocabulary("twinloop-relay-s", 50)).toMatchObject({ status: "ready" });

  expect(await engine.unload("twinloop-relay-m")).toEqual({ status: "done" });
  expect(await engine.recur(RECURSION)).toMatchObject({ problem: { detail: expect.stringContaining("not loaded") } });
});

it("opens an export in ONNX for text, and says that no latents pass through it", TIME, async () => {
  const checkpoint = await openCheckpoint(folderSource(new URL("models/twinloop-1m", PUBLIC).pathname));
  const exported = onnxExport(checkpoint);
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  for await (const piece of onnxData(exported)) pieces.push(piece as Uint8Array<ArrayBuffer>);
  others["export/onnx/model.onnx"] = exported.model as Uint8Array<ArrayBuffer>;
  others[`export/onnx/${exported.dataFile}`] = new Uint8Array(await new Blob(pieces).arrayBuffer());
  const { engine, messages } = setUp();
  const onnx = { origin: originOf("export/onnx") };
  const ready = await engine.load({ models: [shipped("twinloop-1m", { latent: true, onnx })] });
  expect(ready).toMatchObject({ status: "ready", models: [{ engine: "onnx-wasm", latent: false }] });
  const [question] = makeWorld(7).questions.filter(({ hops }) => hops === 1);
  const asked = { run: 1, model: "twinloop-1m", world: 7, question: question!.text, gold: question!.gold };
  const settings = { useSystem1: true, searchResults: 3, maxTurns: 6, temperature: 0, seed: 0 };
  expect(await engine.research({ ...asked, ...settings })).toEqual({ status: "finished" });
  const events = messages.flatMap((message) => (message.type === "events" ? message.events : []));
  expect(events.find(({ type }) => type === "answer")).toMatchObject({ correct: true });
  const agents = RING.map((agent) => ({ ...agent, model: "twinloop-1m" }));
  expect(await engine.recur({ ...RECURSION, agents })).toMatchObject({ problem: { kind: "textOnly" } });
});
