/** State of the engine worker: the engines, the models, loading, and what went wrong. Owns the only connection to it. */
import type { Remote } from "comlink";
import { create } from "zustand";
import type {
  DeviceInfo,
  EngineChoice,
  EngineVerdict,
  LoadMessage,
  LoadOutcome,
  ModelInfo,
} from "../../src/worker/loadProtocol";
import type { EngineApi, EngineMessage, EngineProblem } from "../../src/worker/protocol";
import { connectEngine } from "../engine/client";
import { SELF_TEST_AGENT, shippedFiles, shippedModel } from "../models";

export interface EngineState {
  /** Of the models that are wanted. */
  status: "idle" | "loading" | "ready" | "cancelled" | "failed";
  /** Ids of the models that the open room works with. */
  wanted: readonly string[];
  /** What they are to run on. */
  choice: EngineChoice;
  progress?: { loadedBytes: number; totalBytes: number };
  /** Of the wanted models. */
  devices: readonly DeviceInfo[];
  /** What "auto" came to, once it was asked for. */
  auto?: EngineVerdict;
  /** Loaded so far, whichever room wanted them. */
  models: readonly ModelInfo[];
  problem?: EngineProblem;
  /** A lost device that was replaced without the visitor's help. */
  recovered?: EngineProblem;
  /** Whether the visitor has read that the processor answers. */
  noticeDismissed?: boolean;
}

export const useEngine = create<EngineState>(() => ({
  status: "idle",
  wanted: [],
  choice: "auto",
  devices: [],
  models: [],
}));

/** Whether this browser at this address can never load the chosen engine, however often it is asked. */
export function isHopeless({ status, problem }: EngineState): boolean {
  return status === "failed" && (problem?.kind === "insecureContext" || problem?.kind === "noWebGpu");
}

/** Whether the models run, or will run, on an engine without the tape: no gradients, no fits. */
export function lacksGradients({ choice, auto }: EngineState): boolean {
  return (choice === "auto" ? auto?.engine : choice) !== "wgsl" && (choice !== "auto" || auto !== undefined);
}

type Listeners = { [T in EngineMessage["type"]]?: (message: Extract<EngineMessage, { type: T }>) => void };
const listeners: Listeners = {};
let connection: Remote<EngineApi> | undefined;
/** The load in progress; an older one is told so by not being this one any more. */
let loading: Promise<boolean> | undefined;
/** A load that no room asked for. */
let beside: Promise<LoadOutcome> | undefined;
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

onEngineMessage("models", ({ models }) => useEngine.setState({ models }));
onEngineMessage("progress", ({ loadedBytes, totalBytes }) =>
  useEngine.setState({ progress: { loadedBytes, totalBytes } }),
);
onEngineMessage("deviceLost", (message) => void recover(message));

function onMessage(message: EngineMessage): void {
  (listeners[message.type] as ((message: EngineMessage) => void) | undefined)?.(message);
}

async function recover({ engine: lost, problem }: Extract<LoadMessage, { type: "deviceLost" }>): Promise<void> {
  const { models, wanted } = useEngine.getState();
  useEngine.setState({ models: models.filter((model) => model.engine !== lost) });
  if (!models.some(({ id, engine: own }) => own === lost && wanted.includes(id))) return;
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

/** Says what models are to run on, and loads those that are wanted there. */
export function chooseEngine(choice: EngineChoice): void {
  if (useEngine.getState().choice === choice) return;
  loading = undefined;
  useEngine.setState({ choice, status: "idle", problem: undefined, recovered: undefined });
  if (connection) void loadEngine();
}

/** Whether a loaded model runs on what is chosen. */
function isAsChosen({ engine: own }: ModelInfo): boolean {
  const { choice, auto } = useEngine.getState();
  return own === (choice === "auto" ? auto?.engine : choice);
}

/** Loads the wanted models unless they are loaded or loading. Resolves to whether they are there. */
export function loadEngine(): Promise<boolean> {
  const { status, wanted, models } = useEngine.getState();
  if (status === "ready") return Promise.resolve(true);
  if (wanted.every((id) => models.some((model) => model.id === id && isAsChosen(model)))) {
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
    await beside?.catch(() => {});
    const { choice } = useEngine.getState();
    const models = ids.map((id) => ({ ...shippedModel(id), engine: choice }));
    outcome = await engine().load({ models, selfTest: shippedFiles(SELF_TEST_AGENT) });
  } catch (error) {
    outcome = { status: "failed", problem: { kind: "engineFailed", detail: String(error) } };
  }
  if (outcome.status === "ready") {
    const { devices, models, auto } = outcome;
    const others = useEngine.getState().models.filter(({ id }) => !ids.includes(id));
    // All that is loaded also comes as a message, later perhaps.
    useEngine.setState({ models: [...others, ...models], ...(auto && { auto }) });
    if (isCurrent()) useEngine.setState({ devices });
  }
  if (!isCurrent()) return false;
  useEngine.setState({ status: outcome.status, progress: undefined });
  if (outcome.status === "failed") useEngine.setState({ problem: outcome.problem });
  return outcome.status === "ready";
}

/**
 * A load that no room asked for: it waits for one that is going on, and rooms wait for its end, as a later load would
 * end an earlier one.
 */
export async function besideRooms(load: () => Promise<LoadOutcome>): Promise<LoadOutcome> {
  await loading;
  const own = load();
  beside = own;
  try {
    const outcome = await own;
    if (outcome.status === "ready") {
      const { devices, auto } = outcome;
      useEngine.setState({ devices, ...(auto && { auto }) });
    }
    return outcome;
  } finally {
    if (beside === own) beside = undefined;
    useEngine.setState({ progress: undefined });
  }
}

export function cancelLoading(): void {
  void engine().cancelLoad();
}
