/** The graphics device for those who look at it: its report, the self-test of its kernels, its loss and return. */
import { create } from "zustand";
import type {
  AdapterReport,
  KernelTestCase,
  KernelTestDepth,
  KernelTestReport,
  ModelMemory,
} from "../../src/worker/deviceProtocol";
import type { EngineProblem } from "../../src/worker/protocol";
import { engine, onEngineMessage, useEngine } from "./engineStore";
import { releaseEngine, takeEngine } from "./jobStore";
import { loadAgain } from "./libraryStore";

export interface DeviceState {
  adapter?: AdapterReport | undefined;
  memory: readonly ModelMemory[];
  /** Why there is no report. */
  problem?: EngineProblem | undefined;
  /** The self-test in progress or the last one. */
  test?:
    | { phase: "running" | "stopped"; depth: KernelTestDepth; total: number; cases: readonly KernelTestCase[] }
    | { phase: "finished"; report: KernelTestReport }
    | undefined;
  testProblem?: EngineProblem | undefined;
  /** After a simulated loss: what was on the device, and how far its return is. */
  loss?:
    | { phase: "lost" | "returning" | "back"; models: readonly string[]; detail: string; problem?: EngineProblem }
    | undefined;
}

export const useDevice = create<DeviceState>(() => ({ memory: [] }));

onEngineMessage("kernelTest", ({ total, latest }) => {
  const { test } = useDevice.getState();
  if (test?.phase !== "running") return;
  useDevice.setState({ test: { ...test, total, cases: [...test.cases, latest] } });
});

/** Asks what the device is and what models hold on it; opens it if need be. */
export async function refreshDevice(): Promise<void> {
  const outcome = await engine().adapter().catch(crashed);
  if (outcome.status === "ready") {
    useDevice.setState({ adapter: outcome.adapter, memory: outcome.models, problem: undefined });
  } else {
    useDevice.setState({ adapter: undefined, memory: [], problem: outcome.problem });
  }
}

export async function testKernels(depth: KernelTestDepth): Promise<void> {
  if (!takeEngine("kernelTest", stopTest)) return;
  useDevice.setState({ test: { phase: "running", depth, total: 0, cases: [] }, testProblem: undefined });
  const outcome = await engine().testKernels(depth).catch(crashed);
  releaseEngine("kernelTest");
  const { test } = useDevice.getState();
  if (outcome.status === "finished") {
    useDevice.setState({ test: { phase: "finished", report: outcome.report } });
  } else if (test && test.phase !== "finished") {
    useDevice.setState({ test: { ...test, phase: "stopped" } });
  }
  if (outcome.status === "failed") useDevice.setState({ testProblem: outcome.problem });
}

export function stopTest(): void {
  void engine().stop();
}

/** Destroys the device, and waits for the visitor to bring it back. */
export async function loseDevice(): Promise<void> {
  const models = useEngine
    .getState()
    .models.filter(({ engine: own }) => own === "wgsl")
    .map(({ id }) => id);
  const outcome = await engine().loseDevice().catch(crashed);
  if (outcome.status === "failed") {
    useDevice.setState({ problem: outcome.problem });
    return;
  }
  const detail = "GPUDevice.destroy() was called from this room.";
  useDevice.setState({ adapter: undefined, memory: [], loss: { phase: "lost", models, detail } });
}

/** Opens the device anew and loads what was on it. */
export async function bringBack(): Promise<void> {
  const { loss } = useDevice.getState();
  if (loss?.phase !== "lost") return;
  const { problem: _, ...lost } = loss;
  useDevice.setState({ loss: { ...lost, phase: "returning" } });
  const outcome = loss.models.length > 0 ? await loadAgain(loss.models) : undefined;
  await refreshDevice();
  const { problem } = useDevice.getState();
  if (outcome?.status === "failed" || problem) {
    const own = outcome?.status === "failed" ? outcome.problem : problem;
    useDevice.setState({ loss: { ...lost, phase: "lost", ...(own && { problem: own }) } });
  } else {
    useDevice.setState({ loss: { ...lost, phase: outcome?.status === "cancelled" ? "lost" : "back" } });
  }
}

export function dismissLoss(): void {
  useDevice.setState({ loss: undefined });
}

function crashed(error: unknown): { status: "failed"; problem: EngineProblem } {
  return { status: "failed", problem: { kind: "engineFailed", detail: String(error) } };
}
