/** The generator in WGSL gives the bits of the one in TypeScript. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { create } from "webgpu";
import randomWgsl from "../../shaders/common/random.wgsl?raw";
import { randomU32, randomUniform } from "../../src/random/random";
import { RANDOM_VECTORS } from "../../src/random/vectors";

const kernel = /* wgsl */ `
@group(0) @binding(0) var<storage, read> inputs: array<vec3u>;
@group(0) @binding(1) var<storage, read_write> outputs: array<vec2u>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < arrayLength(&inputs)) {
    let at = inputs[id.x];
    outputs[id.x] = vec2u(random_u32(at.x, at.y, at.z), bitcast<u32>(random_uniform(at.x, at.y, at.z)));
  }
}`;

describe("shaders/common/random.wgsl", () => {
  // Dawn crashes when its instance is collected while a device lives, and keeps Node alive while it is referenced.
  let gpu: GPU | undefined;
  let device: GPUDevice;

  beforeAll(async () => {
    gpu = create([]);
    device = (await (await gpu.requestAdapter())?.requestDevice()) as GPUDevice;
  });
  afterAll(() => {
    device.destroy();
    gpu = undefined;
  });

  /** Bits and uniforms that the device draws for (seed, stream, counter) triples. */
  async function drawOnDevice(triples: readonly (readonly number[])[]) {
    const inputBytes = triples.length * 16;
    const outputBytes = triples.length * 8;
    const input = device.createBuffer({ size: inputBytes, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST });
    const output = device.createBuffer({ size: outputBytes, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC });
    const staging = device.createBuffer({
      size: outputBytes,
      usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST,
    });
    device.queue.writeBuffer(input, 0, Uint32Array.from(triples.flatMap((triple) => [...triple, 0])));
    const module = device.createShaderModule({ code: randomWgsl + kernel });
    const pipeline = await device.createComputePipelineAsync({ layout: "auto", compute: { module } });
    const bindGroup = device.createBindGroup({
      layout: pipeline.getBindGroupLayout(0),
      entries: [input, output].map((buffer, binding) => ({ binding, resource: { buffer } })),
    });
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, bindGroup);
    pass.dispatchWorkgroups(Math.ceil(triples.length / 64));
    pass.end();
    encoder.copyBufferToBuffer(output, 0, staging, 0, outputBytes);
    device.queue.submit([encoder.finish()]);
    await staging.mapAsync(GPUMapMode.READ);
    const bytes = staging.getMappedRange().slice(0);
    for (const buffer of [input, output, staging]) {
      buffer.destroy();
    }
    return triples.map((_, i) => ({
      bits: new Uint32Array(bytes)[2 * i],
      uniform: new Float32Array(bytes)[2 * i + 1],
    }));
  }

  it("draws the known values", async () => {
    const drawn = await drawOnDevice(RANDOM_VECTORS.map(({ seed, stream, counter }) => [seed, stream, counter]));
    expect(drawn.map(({ bits }) => bits)).toEqual(RANDOM_VECTORS.map(({ bits }) => bits));
  });

  it("equals TypeScript everywhere, uniforms to the last bit", async () => {
    const triples = Array.from({ length: 5000 }, (_, i) => [0, 1, 2].map((input) => randomU32(99, input, i)));
    const drawn = await drawOnDevice(triples);
    expect(drawn).toEqual(
      triples.map(([seed = 0, stream = 0, counter = 0]) => ({
        bits: randomU32(seed, stream, counter),
        uniform: randomUniform(seed, stream, counter),
      })),
    );
  });
});
