/** Links on the device: every form, forward and backward, against the f64 reference at awkward sizes. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Gpu } from "../../src/gpu/device";
import { openNodeGpu } from "../../src/gpu/nodeDevice";
import { isResidual, LINK_FORMS, LINK_KINDS, type LinkConfig, linkConfig } from "../../src/links/linkConfig";
import { initialLinkTensors, type LinkTensor } from "../../src/links/linkTensors";
import { RecursiveLink } from "../../src/links/recursiveLink";
import { Random } from "../../src/random/random";
import { linkBackward, linkForward, type ReferenceLink } from "../../src/reference/link";
import { relativeError } from "../../src/tensor/check/runCase";
import { Tape } from "../../src/tensor/tape";

let gpu: Gpu;
let tape: Tape;
beforeAll(async () => {
  gpu = await openNodeGpu();
  tape = new Tape(gpu);
});
afterAll(() => {
  expect(tape.liveBytes).toBe(0);
  tape.dispose();
  expect(gpu.liveBytes).toBe(0);
  gpu.close();
});

const normals = (count: number, seed: number, spread = 1) => {
  const random = new Random(seed, 9);
  return Float64Array.from({ length: count }, () => Math.fround(spread * random.normal()));
};

function referenceLink(config: LinkConfig, tensors: readonly LinkTensor[]): ReferenceLink {
  return {
    inputSize: config.inputSize,
    outputSize: config.outputSize,
    addsInput: config.kind === "inner" && isResidual(config.form),
    weights: new Map(tensors.map(({ name, values }) => [name, Float64Array.from(values)])),
  };
}

/** Initial values with norms and biases that are not all 1 and 0. */
function variedTensors(config: LinkConfig, seed: number): LinkTensor[] {
  const tensors = initialLinkTensors(config, { seed, outputScale: config.outputScale ? 0.37 : undefined });
  const random = new Random(seed, 77);
  for (const { name, values } of tensors) {
    if (name.includes("ln")) values.set(values.map((value) => value + 0.2 * random.normal()));
  }
  return tensors;
}

const SIZES = [
  { rows: 2, from: 1, to: 1 },
  { rows: 5, from: 3, to: 3 },
  { rows: 9, from: 33, to: 33 },
  { rows: 7, from: 96, to: 128 },
  { rows: 1, from: 37, to: 18 },
];

describe.each(LINK_KINDS)("%s links", (kind) => {
  it.each(LINK_FORMS)("%s: the reference's outputs and gradients", async (form) => {
    for (const { rows, from, to } of SIZES.filter((size) => kind === "outer" || size.from === size.to)) {
      for (const outputScale of [true, false]) {
        const size = `${rows} x ${from} -> ${to}, scale ${outputScale}`;
        const config = linkConfig({ kind, form, inputSize: from, outputSize: to, outputScale });
        const tensors = variedTensors(config, 3);
        const link = RecursiveLink.from(tape, config, tensors);
        const [values, dOut] = [normals(rows * from, 1, 2), normals(rows * to, 2)];
        const hidden = tape.tensor(values, rows, from, { requiresGrad: true });
        const output = tape.scope(() => {
          const result = link.forward(hidden);
          tape.backward(result, tape.tensor(dOut, rows, to));
          return result;
        });
        const reference = referenceLink(config, tensors);
        expect(relativeError(await output.read(), linkForward(reference, values)), size).toBeLessThan(1e-5);
        const { dHidden, gradients } = linkBackward(reference, values, dOut);
        expect(relativeError(await hidden.grad!.read(), dHidden), size).toBeLessThan(1e-4);
        expect([...gradients.keys()].sort()).toEqual(link.parameters.map(({ name }) => name).sort());
        for (const { name, tensor } of link.parameters) {
          expect(relativeError(await tensor.grad!.read(), gradients.get(name)!), `${name}, ${size}`).toBeLessThan(1e-4);
        }
        for (const tensor of [hidden, output]) tensor.dispose();
        link.dispose();
      }
    }
  });
});
