/**
 * The self-test of every kernel on this device: the decode path's alone and in small models, the differentiable path's
 * forward and backward, each against the f64 reference.
 */
import { type KernelCheck, kernelChecks } from "../model/check/kernelChecks";
import { ADAMW_CHECK_SIZE, checkAdamW } from "../tensor/check/adamWCheck";
import { type OpCase, opCases } from "../tensor/check/opCases";
import { runCase } from "../tensor/check/runCase";
import type { Tape } from "../tensor/tape";
import type { KernelTestCase, KernelTestDepth } from "./deviceProtocol";

/** What the relative error of an operation or its gradient may be, as in `lab gradcheck`. */
const OP_TOLERANCE = 1e-4;

/** Sizes of an operation that a quick test takes: neither the smallest, which hide faults, nor the slowest. */
const QUICK_SIZES = 2;

type Planned = () => Promise<KernelTestCase>;

/**
 * Runs all checks, one after the other, and tells of each.
 * @throws the signal's reason after an abort; GpuFailure, GpuOutOfMemoryError, DeviceLostError
 */
export async function runKernelTest(
  tape: Tape,
  depth: KernelTestDepth,
  signal: AbortSignal,
  onCase: (done: number, total: number, latest: KernelTestCase) => void,
): Promise<KernelTestCase[]> {
  const planned = [
    ...chosen(kernelChecks(), depth, ({ kernel }) => kernel).map((check) => decodeCase(tape, check)),
    ...chosen(opCases(), depth, ({ op }) => op).map((testCase) => differentiableCase(tape, testCase)),
    () => adamWCase(tape),
  ];
  const cases: KernelTestCase[] = [];
  for (const run of planned) {
    signal.throwIfAborted();
    const latest = await run();
    cases.push(latest);
    onCase(cases.length, planned.length, latest);
  }
  return cases;
}

/** Of each kernel all, or some from the middle and every number format. */
function chosen<T extends { size: string }>(
  cases: readonly T[],
  depth: KernelTestDepth,
  nameOf: (own: T) => string,
): T[] {
  if (depth === "all") return [...cases];
  return grouped(cases, nameOf).flatMap((own) => {
    const formats = grouped(own, ({ size }) => /\b(F32|BF16|F16|Q8|Q4|cache f\d+)\b/.exec(size)?.[1] ?? "");
    const perFormat = formats.length > 1 ? 1 : QUICK_SIZES;
    return formats.flatMap((group) => {
      const start = Math.max(0, Math.ceil((group.length - perFormat) / 2));
      return group.slice(start, start + perFormat);
    });
  });
}

function grouped<T>(cases: readonly T[], nameOf: (own: T) => string): T[][] {
  const groups = new Map<string, T[]>();
  for (const own of cases) groups.set(nameOf(own), [...(groups.get(nameOf(own)) ?? []), own]);
  return [...groups.values()];
}

function decodeCase({ gpu }: Tape, check: KernelCheck): Planned {
  const { kernel, size, tolerance } = check;
  return async () => {
    const { result: forward, milliseconds } = await timed(() => check.run(gpu));
    return { path: "decode", kernel, size, forward, tolerance, passed: forward <= tolerance, milliseconds };
  };
}

function differentiableCase(tape: Tape, testCase: OpCase): Planned {
  const { op: kernel, size } = testCase;
  return async () => {
    const { result, milliseconds } = await timed(() => runCase(tape, testCase));
    const { forward, gradients } = result;
    const backward = Math.max(0, ...Object.values(gradients));
    const passed = forward <= OP_TOLERANCE && backward <= OP_TOLERANCE;
    return {
      path: "differentiable",
      kernel,
      size,
      forward,
      backward,
      tolerance: OP_TOLERANCE,
      passed,
      milliseconds,
    };
  };
}

async function adamWCase(tape: Tape): Promise<KernelTestCase> {
  const { result: forward, milliseconds } = await timed(() => checkAdamW(tape));
  const passed = forward <= OP_TOLERANCE;
  const size = ADAMW_CHECK_SIZE;
  return { path: "differentiable", kernel: "adamW", size, forward, tolerance: OP_TOLERANCE, passed, milliseconds };
}

async function timed<T>(work: () => Promise<T>): Promise<{ result: T; milliseconds: number }> {
  const start = performance.now();
  const result = await work();
  return { result, milliseconds: performance.now() - start };
}
