/** Checkpoints that the visitor brings: what is open, what is kept, how far loading is, and what came to grief. */
import { create } from "zustand";
import type { Quantization } from "../../src/index";
import type { CheckpointInfo, CheckpointOrigin, OpenOutcome, StoreReport } from "../../src/worker/libraryProtocol";
import type { EngineChoice, LoadOutcome, ModelOrigin, ModelSource } from "../../src/worker/loadProtocol";
import type { EngineProblem } from "../../src/worker/protocol";
import { RELAY_MODELS, RESEARCH_AGENT, SELF_TEST_AGENT, shippedFiles, shippedModel } from "../models";
import { besideRooms, engine, onEngineMessage, useEngine } from "./engineStore";
import { forgetWeightError, measureWeightError } from "./weightErrorStore";

export interface LibraryState {
  phase: "idle" | "opening" | "keeping" | "loading";
  /** What was opened last. */
  info?: CheckpointInfo | undefined;
  /** Bytes of the phase in progress. */
  progress?: { loadedBytes: number; totalBytes: number } | undefined;
  /** Whether what is put on the device was copied into the store first: two halves of one way. */
  hasCopied?: boolean | undefined;
  /** Of the last try, and what it tried. */
  problem?: EngineProblem | undefined;
  failed?: "open" | "load" | undefined;
  cancelled?: boolean | undefined;
  /** Id of the model that the last load brought. */
  loaded?: string | undefined;
  store?: StoreReport | undefined;
}

export const useLibrary = create<LibraryState>(() => ({ phase: "idle" }));

/** How models that were loaded here are loaded again. */
const sources = new Map<string, ModelSource>();
/** What models are called, by their bytes' identity: the same name never means other bytes. */
const names = new Map<string, string>();
/** Of what was opened last. An access token in it stays in this tab's memory. */
let lastOrigin: CheckpointOrigin | undefined;

/** Parameters up to which a model is measured, its embedding and what fewer bits cost it, without being asked for. */
export const SMALL_MODEL = 50_000_000;

export interface LoadOptions {
  weights: Quantization;
  cache: "f32" | "f16";
  /** Tokens. */
  context: number;
  keep: boolean;
  latent: boolean;
}

const FRESH = {
  hasCopied: undefined,
  progress: undefined,
  problem: undefined,
  failed: undefined,
  cancelled: undefined,
  loaded: undefined,
};

onEngineMessage("keeping", ({ loadedBytes, totalBytes }) => {
  if (useLibrary.getState().phase === "keeping") useLibrary.setState({ progress: { loadedBytes, totalBytes } });
});
useEngine.subscribe(({ progress }) => {
  if (useLibrary.getState().phase === "loading" && progress) useLibrary.setState({ progress });
});

export function openOrigin(origin: CheckpointOrigin): Promise<void> {
  lastOrigin = origin;
  return open(() => engine().openCheckpoint(origin));
}

/** Opens another export of what is open, or its safetensors (undefined). */
export function openGraph(graph: string | undefined): Promise<void> {
  if (!lastOrigin) return Promise.resolve();
  const { graph: _, ...origin } = lastOrigin;
  return openOrigin(graph === undefined ? origin : { ...origin, graph });
}

export function openKept(key: string): Promise<void> {
  lastOrigin = undefined;
  return open(() => engine().openKept(key));
}

async function open(work: () => Promise<OpenOutcome>): Promise<void> {
  useLibrary.setState({ ...FRESH, phase: "opening", info: undefined });
  const outcome = await work().catch(crashed);
  if (outcome.status === "ready") useLibrary.setState({ phase: "idle", info: outcome.info });
  else end(outcome, "open");
}

export function closeOpened(): void {
  useLibrary.setState({ ...FRESH, info: undefined });
}

/** Copies what is open into the store, if that is wanted, and loads it. */
export async function loadOpened({ weights, cache, context, keep, latent }: LoadOptions): Promise<void> {
  const { info, phase } = useLibrary.getState();
  if (!info || phase !== "idle") return;
  useLibrary.setState(FRESH);
  let { key } = info;
  if (keep && key === undefined) {
    useLibrary.setState({ phase: "keeping" });
    const kept = await engine().keepCheckpoint(info.handle).catch(crashed);
    void refreshStore();
    if (kept.status !== "ready") {
      end(kept, "load");
      return;
    }
    key = kept.key;
    const done = { ...info, key, keptBytes: info.totalBytes };
    useLibrary.setState({ info: done, progress: undefined, hasCopied: true });
  }
  const origin: ModelOrigin = key === undefined ? { kind: "opened", handle: info.handle } : { kind: "store", key };
  const source: ModelSource =
    info.graph === undefined
      ? { id: nameOf(info), origin, weights, cache, context, latent }
      : { id: nameOf(info), origin, context, onnx: { file: info.graph.split("/").at(-1) as string } };
  useLibrary.setState({ phase: "loading", progress: undefined });
  const outcome = await load([source]);
  if (outcome.status !== "ready") {
    end(outcome, "load");
    return;
  }
  sources.set(source.id, source);
  useLibrary.setState({ phase: "idle", loaded: source.id, progress: undefined });
  forgetWeightError(source.id);
  const isQuantized = (source.weights ?? "stored") !== "stored";
  if (isQuantized && info.parameters <= SMALL_MODEL) void measureWeightError(source.id);
}

/** What a model is called in menus and requests: as it is known, with a number where that name is taken. */
function nameOf({ identity, name }: CheckpointInfo): string {
  const known = names.get(identity);
  if (known !== undefined) return known;
  const taken = new Set([...names.values(), RESEARCH_AGENT, ...RELAY_MODELS]);
  let own = name;
  for (let number = 2; taken.has(own); number++) own = `${name} (${number})`;
  names.set(identity, own);
  return own;
}

/** Loads a shipped agent beside whatever is there. */
export async function loadShipped(id: string): Promise<void> {
  useLibrary.setState({ ...FRESH, phase: "loading" });
  const outcome = await load([shippedModel(id)]);
  if (outcome.status === "ready") useLibrary.setState({ phase: "idle", loaded: id, progress: undefined });
  else end(outcome, "load");
}

/** Loads models again by their names, as they were loaded before. */
export async function loadAgain(ids: readonly string[]): Promise<LoadOutcome> {
  return load(ids.map((id) => sources.get(id) ?? shippedModel(id)));
}

async function load(models: ModelSource[]): Promise<LoadOutcome> {
  const { choice } = useEngine.getState();
  const request = {
    models: models.map((source) => ({ ...source, engine: source.onnx ? exportEngine(choice) : choice })),
    selfTest: shippedFiles(SELF_TEST_AGENT),
  };
  return besideRooms(() => engine().load(request)).catch(crashed);
}

/** Exports run on onnxruntime-web, whatever runs the others. */
export function exportEngine(choice: EngineChoice): EngineChoice {
  return choice === "onnx-webgpu" ? choice : "onnx-wasm";
}

export function cancelLibrary(): void {
  const { phase } = useLibrary.getState();
  if (phase === "loading") void engine().cancelLoad();
  else void engine().cancelLibrary();
}

export async function refreshStore(): Promise<void> {
  const store = await engine()
    .storeReport()
    .catch((error): StoreReport => ({ checkpoints: [], unavailable: String(error) }));
  useLibrary.setState({ store });
}

/** @returns what went wrong, if anything did */
export async function deleteKept(key: string): Promise<EngineProblem | undefined> {
  const outcome = await engine().deleteKept(key).catch(crashed);
  const { info } = useLibrary.getState();
  // What was opened out of the store is gone with it.
  if (outcome.status === "done" && info?.key === key) useLibrary.setState({ ...FRESH, info: undefined });
  await refreshStore();
  return outcome.status === "failed" ? outcome.problem : undefined;
}

/** @returns what went wrong, if anything did */
export async function unloadModel(id: string): Promise<EngineProblem | undefined> {
  const outcome = await engine().unload(id).catch(crashed);
  if (useLibrary.getState().loaded === id) useLibrary.setState({ loaded: undefined });
  return outcome.status === "failed" ? outcome.problem : undefined;
}

function end(
  outcome: { status: "cancelled" } | { status: "failed"; problem: EngineProblem },
  failed: "open" | "load",
): void {
  useLibrary.setState({
    phase: "idle",
    progress: undefined,
    ...(outcome.status === "failed" ? { problem: outcome.problem, failed } : { cancelled: failed === "load" }),
  });
}

function crashed(error: unknown): { status: "failed"; problem: EngineProblem } {
  return { status: "failed", problem: { kind: "engineFailed", detail: String(error) } };
}
