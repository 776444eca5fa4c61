/** Runs in the GPU tests' process before a test file loads Dawn: picks the device and defines the WebGPU globals. */
import { applyGpuEnvironment, describeGpuEnvironment } from "../../scripts/lib/gpuEnvironment.mjs";

const found = applyGpuEnvironment();
if (!found) throw new Error(describeGpuEnvironment(null));

const { globals } = await import("webgpu");
Object.assign(globalThis, globals);
