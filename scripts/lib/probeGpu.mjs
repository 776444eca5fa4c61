/**
 * Child process of gpuEnvironment.mjs: creates a WebGPU device, doubles 21 on it, and prints `adapter <name>` when
 * 42 came back. It is a process of its own because a bad driver may crash, and because the Vulkan loader reads its
 * environment only once.
 */
import { create, globals } from "webgpu";

Object.assign(globalThis, globals);

const gpu = create([]);
const adapter = await gpu.requestAdapter();
if (!adapter) process.exit(1);
const device = await adapter.requestDevice();
const buffer = device.createBuffer({ size: 4, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC });
const readback = device.createBuffer({ size: 4, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
const code = `
  @group(0) @binding(0) var<storage, read_write> value: array<u32>;
  @compute @workgroup_size(1) fn main() { value[0] = 2u * 21u + arrayLength(&value) - 1u; }`;
const pipeline = await device.createComputePipelineAsync({
  layout: "auto",
  compute: { module: device.createShaderModule({ code }), entryPoint: "main" },
});
const bindGroup = device.createBindGroup({
  layout: pipeline.getBindGroupLayout(0),
  entries: [{ binding: 0, resource: { buffer } }],
});
const encoder = device.createCommandEncoder();
const pass = encoder.beginComputePass();
pass.setPipeline(pipeline);
pass.setBindGroup(0, bindGroup);
pass.dispatchWorkgroups(1);
pass.end();
encoder.copyBufferToBuffer(buffer, 0, readback, 0, 4);
device.queue.submit([encoder.finish()]);
await readback.mapAsync(GPUMapMode.READ);
const answer = new Uint32Array(readback.getMappedRange())[0];
const { description, device: name, vendor, architecture } = adapter.info;
const label = description || name || [vendor, architecture].filter(Boolean).join(" ") || "unnamed adapter";
if (answer === 42) process.stdout.write(`adapter ${label}\n`);
// Node would stay alive while Dawn's instance does.
process.exit(answer === 42 ? 0 : 1);
