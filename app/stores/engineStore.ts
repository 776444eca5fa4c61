/** State of the engine worker: the device, the model, loading, and what went wrong. Owns the only connection to it. */
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
import { AGENT } from "../agent";
import { connectEngine } from "../engine/client";

export interface EngineState {
  status: "idle" | "loading" | "ready" | "cancelled" | "failed";
  progress?: { loadedBytes: number; totalBytes: number };
  device?: DeviceInfo;
  model?: ModelInfo;
  problem?: EngineProblem;
  /** A lost device that was replaced without the visitor's help. */
  recovered?: EngineProblem;
}

export const useEngine = create<EngineState>(() => ({ status: "idle" }));

/** Whether this browser at this address can never load the engine, however often it is asked. */
export function isHopeless({ status, problem }: EngineState): boolean {
  return status === "failed" && (problem?.kind === "insecureContext" || problem?.kind === "noWebGpu");
}

type EventsMessage = Extract<EngineMessage, { type: "events" }>;
let eventsListener: ((message: EventsMessage) => void) | undefined;
let connection: Remote<EngineApi> | undefined;
let loading: Promise<boolean> | undefined;
/** The device is replaced by itself once; a second loss is the visitor's decision. */
let recoveries = 0;

/** The worker's calls; the worker starts with the first use. */
export function engine(): Remote<EngineApi> {
  connection ??= connectEngine(onMessage, (detail) =>
    useEngine.setState({ status: "failed", problem: { kind: "engineFailed", detail } }),
  );
  return connection;
}

/** Who gets the trace events of a run. */
export function onRunEvents(listener: (message: EventsMessage) => void): void {
  eventsListener = listener;
}

function onMessage(message: EngineMessage): void {
  if (message.type === "events") eventsListener?.(message);
  else if (message.type === "device") useEngine.setState({ device: message.device });
  else if (message.type === "progress") {
    const { loadedBytes, totalBytes } = message;
    useEngine.setState({ progress: { loadedBytes, totalBytes } });
  } else void recover(message.problem);
}

async function recover(problem: EngineProblem): Promise<void> {
  if (recoveries++ > 0) {
    useEngine.setState({ status: "failed", problem, recovered: undefined });
    return;
  }
  useEngine.setState({ status: "idle" });
  if (await loadEngine()) useEngine.setState({ recovered: problem });
}

/** Loads the shipped agent unless it is loaded or loading. Resolves to whether the engine is ready. */
export function loadEngine(): Promise<boolean> {
  if (useEngine.getState().status === "ready") return Promise.resolve(true);
  loading ??= load().finally(() => {
    loading = undefined;
  });
  return loading;
}

async function load(): Promise<boolean> {
  useEngine.setState({ status: "loading", progress: undefined, problem: undefined, recovered: undefined });
  let outcome: LoadOutcome;
  try {
    outcome = await engine().load({ id: AGENT, url: new URL(`models/${AGENT}/`, document.baseURI).href });
  } catch (error) {
    outcome = { status: "failed", problem: { kind: "engineFailed", detail: String(error) } };
  }
  if (outcome.status === "ready") {
    const { device, model } = outcome;
    useEngine.setState({ status: "ready", device, model, progress: undefined });
  } else if (outcome.status === "cancelled") useEngine.setState({ status: "cancelled", progress: undefined });
  else useEngine.setState({ status: "failed", problem: outcome.problem, progress: undefined });
  return outcome.status === "ready";
}

export function cancelLoading(): void {
  void engine().cancelLoad();
}
