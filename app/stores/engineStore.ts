/** State of the engine worker: the device, the models, loading, and what went wrong. Owns the only connection to it. */
import type { Remote } from "comlink";
import { create } from "zustand";
import type {
  DeviceInfo,
  EngineApi,
  EngineMessage,
  EngineProblem,
  LoadOutcome,
  ModelInfo,
} from "../../src/worker/protocol";
import { connectEngine } from "../engine/client";
import { shippedModel } from "../models";

export interface EngineState {
  /** Of the models that are wanted. */
  status: "idle" | "loading" | "ready" | "cancelled" | "failed";
  /** Ids of the models that the open room works with. */
  wanted: readonly string[];
  progress?: { loadedBytes: number; totalBytes: number };
  device?: DeviceInfo;
  /** Loaded so far, whichever room wanted them. */
  models: readonly ModelInfo[];
  problem?: EngineProblem;
  /** A lost device that was replaced without the visitor's help. */
  recovered?: EngineProblem;
}

export const useEngine = create<EngineState>(() => ({ status: "idle", wanted: [], models: [] }));

/** Whether this browser at this address can never load the engine, however often it is asked. */
export function isHopeless({ status, problem }: EngineState): boolean {
  return status === "failed" && (problem?.kind === "insecureContext" || problem?.kind === "noWebGpu");
}

type Listeners = { [T in EngineMessage["type"]]?: (message: Extract<EngineMessage, { type: T }>) => void };
const listeners: Listeners = {};
let connection: Remote<EngineApi> | undefined;
/** The load in progress; an older one is told so by not being this one any more. */
let loading: Promise<boolean> | undefined;
/** The device is replaced by itself once; a second loss is the visitor's decision. */
let recoveries = 0;

/** The worker's calls; the worker starts with the first use. */
export function engine(): Remote<EngineApi> {
  connection ??= connectEngine(onMessage, (detail) =>
    useEngine.setState({ status: "failed", models: [], problem: { kind: "engineFailed", detail } }),
  );
  return connection;
}

/** Who gets the messages of a kind; one listener each. */
export function onEngineMessage<T extends EngineMessage["type"]>(
  type: T,
  listener: (message: Extract<EngineMessage, { type: T }>) => void,
): void {
  Object.assign(listeners, { [type]: listener });
}

onEngineMessage("device", ({ device }) => useEngine.setState({ device }));
onEngineMessage("progress", ({ loadedBytes, totalBytes }) =>
  useEngine.setState({ progress: { loadedBytes, totalBytes } }),
);
onEngineMessage("deviceLost", ({ problem }) => void recover(problem));

function onMessage(message: EngineMessage): void {
  (listeners[message.type] as ((message: EngineMessage) => void) | undefined)?.(message);
}

async function recover(problem: EngineProblem): Promise<void> {
  useEngine.setState({ models: [] });
  if (recoveries++ > 0) {
    useEngine.setState({ status: "failed", problem, recovered: undefined });
    return;
  }
  useEngine.setState({ status: "idle" });
  if (await loadEngine()) useEngine.setState({ recovered: problem });
}

/** Says which models the open room works with, none perhaps, and loads those that are missing. */
export function wantModels(ids: readonly string[]): void {
  const { wanted, status } = useEngine.getState();
  if (wanted.join() === ids.join() && status !== "idle") return;
  loading = undefined;
  useEngine.setState({ wanted: ids, status: "idle" });
  void loadEngine();
}

/** Loads the wanted models unless they are loaded or loading. Resolves to whether they are there. */
export function loadEngine(): Promise<boolean> {
  const { status, wanted, models } = useEngine.getState();
  if (status === "ready") return Promise.resolve(true);
  if (wanted.every((id) => models.some((model) => model.id === id))) {
    useEngine.setState({ status: "ready", problem: undefined });
    return Promise.resolve(true);
  }
  if (!loading) {
    const load: Promise<boolean> = loadModels(wanted, () => loading === load).finally(() => {
      if (loading === load) loading = undefined;
    });
    loading = load;
    return load;
  }
  return loading;
}

async function loadModels(ids: readonly string[], isCurrent: () => boolean): Promise<boolean> {
  useEngine.setState({ status: "loading", progress: undefined, problem: undefined, recovered: undefined });
  let outcome: LoadOutcome;
  try {
    outcome = await engine().load({ models: ids.map(shippedModel) });
  } catch (error) {
    outcome = { status: "failed", problem: { kind: "engineFailed", detail: String(error) } };
  }
  if (outcome.status === "ready") {
    const { device, models } = outcome;
    const others = useEngine.getState().models.filter(({ id }) => !ids.includes(id));
    useEngine.setState({ device, models: [...others, ...models] });
  } else if (outcome.status === "failed" && outcome.problem.kind === "engineFailed") {
    // An engine that failed by its own fault has given everything up.
    useEngine.setState({ models: [] });
  }
  if (!isCurrent()) return false;
  useEngine.setState({ status: outcome.status, progress: undefined });
  if (outcome.status === "failed") useEngine.setState({ problem: outcome.problem });
  return outcome.status === "ready";
}

export function cancelLoading(): void {
  void engine().cancelLoad();
}
