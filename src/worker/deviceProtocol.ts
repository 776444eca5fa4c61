/** Calls and messages of the engine worker about the graphics device itself: what it is, whether it computes rightly. */
import type { EngineProblem } from "./protocol";
import type { Outcome } from "./trainingProtocol";

/** What an adapter says of itself, and what we asked of it. */
export interface AdapterReport {
  name: string;
  vendor: string;
  architecture: string;
  device: string;
  description: string;
  /** True when the device is a program on the CPU. */
  software: boolean;
  /** Of the adapter. */
  features: string[];
  /** Features that the engine switched on. */
  used: string[];
  /** Invocations of a subgroup, where that is one number. */
  subgroupSize?: number;
  /** Of the adapter, by WebGPU's names. */
  limits: Record<string, number>;
  /** Bytes of all buffers that stand. */
  liveBytes: number;
  /** The most that ever stood. */
  peakBytes: number;
}

export interface ModelMemory {
  id: string;
  /** Bytes. */
  weights: number;
  keyValueCache: number;
  activations: number;
}

export type AdapterOutcome =
  | { status: "ready"; adapter: AdapterReport; models: ModelMemory[] }
  | { status: "failed"; problem: EngineProblem };

/** "quick" takes one or two sizes of each kernel. */
export const KERNEL_TEST_DEPTHS = ["quick", "all"] as const;
export type KernelTestDepth = (typeof KERNEL_TEST_DEPTHS)[number];

/** One kernel at one size. */
export interface KernelTestCase {
  /** Text is written by the decode path; latent thoughts and gradients take the differentiable one. */
  path: "decode" | "differentiable";
  kernel: string;
  size: string;
  /** Relative errors; a gradient's is the largest over all inputs. */
  forward: number;
  backward?: number;
  /** What either may be. */
  tolerance: number;
  passed: boolean;
  /** Compiling, computing and reading back. */
  milliseconds: number;
}

export interface KernelTestReport {
  device: string;
  software: boolean;
  depth: KernelTestDepth;
  passed: boolean;
  milliseconds: number;
  cases: KernelTestCase[];
}

export type KernelTestOutcome =
  | { status: "finished"; report: KernelTestReport }
  | { status: "stopped" }
  | { status: "failed"; problem: EngineProblem };

export interface DeviceApi {
  /** Opens the graphics device if need be. */
  adapter(): Promise<AdapterOutcome>;
  /** Compares every kernel with the reference; `stop` ends it, and no run goes on beside it. */
  testKernels(depth: KernelTestDepth): Promise<KernelTestOutcome>;
  /** Destroys the graphics device, as a crash of its driver would: for trying how the page recovers. */
  loseDevice(): Promise<Outcome>;
}

export interface DeviceMessage {
  type: "kernelTest";
  done: number;
  total: number;
  latest: KernelTestCase;
}
