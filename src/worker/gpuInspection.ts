/** What the room of the device asks of WebGPU itself: a report, the test of every kernel, and its loss. */
import type { Tape } from "../tensor/tape";
import type { AdapterReport, KernelTestCase, KernelTestDepth } from "./deviceProtocol";

export interface GpuInspection {
  report(): AdapterReport;
  /** @throws as runKernelTest */
  test(
    depth: KernelTestDepth,
    signal: AbortSignal,
    onCase: (done: number, total: number, latest: KernelTestCase) => void,
  ): Promise<KernelTestCase[]>;
  /** Destroys the device; its owner learns of it as of any loss. */
  lose(): void;
}

export function inspectionOf(tape: Tape): GpuInspection {
  const { gpu } = tape;
  return {
    report() {
      const { vendor, architecture, device, description, features, limits } = gpu.adapter;
      return {
        name: gpu.name,
        vendor,
        architecture,
        device,
        description,
        software: gpu.isSoftware,
        features: [...features],
        used: [...gpu.features].sort(),
        ...(gpu.subgroupSize !== undefined && { subgroupSize: gpu.subgroupSize }),
        limits: { ...limits },
        liveBytes: gpu.liveBytes,
        peakBytes: gpu.peakBytes,
      };
    },
    async test(depth, signal, onCase) {
      // The references are needed for nothing else in the page.
      const { runKernelTest } = await import("./kernelTest");
      return runKernelTest(tape, depth, signal, onCase);
    },
    lose: () => gpu.destroy(),
  };
}
