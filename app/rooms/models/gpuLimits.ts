/** The limits that decide whether a model fits, out of what an adapter says of itself. */
import type { GpuLimits } from "../../../src/index";
import type { AdapterReport } from "../../../src/worker/deviceProtocol";

export function gpuLimits({ limits }: Pick<AdapterReport, "limits">): GpuLimits {
  const of = (name: string) => limits[name] ?? 0;
  return {
    maxBufferBytes: of("maxBufferSize"),
    maxBindingBytes: of("maxStorageBufferBindingSize"),
    maxWorkgroupsPerDimension: of("maxComputeWorkgroupsPerDimension"),
    maxWorkgroupMemoryBytes: of("maxComputeWorkgroupStorageSize"),
    maxInvocationsPerWorkgroup: of("maxComputeInvocationsPerWorkgroup"),
  };
}
