/**
 * Links on the device: every form, forward and backward, against the f64 reference at awkward sizes, and against PyTorch
 * (tests/golden/links, written by pretrain/golden.py); freezing, loading, and how links begin.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decodeTensor } from "../../src/checkpoint/dtype";
import { folderSource } from "../../src/checkpoint/nodeFolder";
import { readSafetensorsHeader } from "../../src/checkpoint/safetensors";
import type { Gpu } from "../../src/gpu/device";
import { openNodeGpu } from "../../src/gpu/nodeDevice";
import { isResidual, LINK_FORMS, LINK_KINDS, type LinkConfig, linkConfig } from "../../src/links/linkConfig";
import { initialLinkTensors, type LinkTensor } from "../../src/links/linkTensors";
import { RecursiveLink } from "../../src/links/recursiveLink";
import { Random } from "../../src/random/random";
import { linkBackward, linkForward, type ReferenceLink } from "../../src/reference/link";
import { relativeError } from "../../src/tensor/check/runCase";
import { add, scale } from "../../src/tensor/ops/elementwise";
import { cosineDistance, maskedMean, meanSquareError } from "../../src/tensor/ops/losses";
import { Tape } from "../../src/tensor/tape";
import type { Tensor } from "../../src/tensor/tensor";
import { AdamW } from "../../src/train/optimizer";

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

const GOLDEN: Record<string, Parameters<typeof linkConfig>[0]> = {
  innerPaper: { kind: "inner", form: "paper", inputSize: 24, outputSize: 24, outputScale: false },
  innerReleased: { kind: "inner", form: "released", inputSize: 33, outputSize: 33 },
  outerPaper: { kind: "outer", form: "paper", inputSize: 24, outputSize: 17 },
  outerReleased: { kind: "outer", form: "released", inputSize: 17, outputSize: 26, outputScale: false },
  outer2layerRes: { kind: "outer", form: "2layerRes", inputSize: 9, outputSize: 14 },
};

describe.each(Object.keys(GOLDEN))("PyTorch's %s", (name) => {
  const config = linkConfig(GOLDEN[name]!);
  const golden = new Map<string, Float64Array>();
  let tensors: LinkTensor[];

  beforeAll(async () => {
    const source = folderSource("tests/golden/links");
    const entries = await readSafetensorsHeader(source, `${name}.safetensors`);
    tensors = [];
    for (const { name: tensor, shape, dtype, start, end } of entries) {
      const values = decodeTensor(dtype, await source.range(`${name}.safetensors`, start, end));
      golden.set(tensor, values);
      if (tensor.startsWith("link.")) tensors.push({ name: tensor.slice(5), shape, values: Float32Array.from(values) });
    }
  });

  /** 1 - cosine + 0.1 mean square, over the rows. */
  function lossOf(link: RecursiveLink, hidden: Tensor): { output: Tensor; loss: Tensor } {
    const target = tape.tensor(golden.get("target")!, hidden.rows, config.outputSize);
    const output = link.forward(hidden);
    const square = scale(maskedMean(meanSquareError(output, target)), 0.1);
    return { output, loss: add(maskedMean(cosineDistance(output, target)), square) };
  }

  const hiddenTensor = (requiresGrad: boolean) =>
    tape.tensor(golden.get("hidden")!, 11, config.inputSize, { requiresGrad });

  it("has the same outputs, loss and gradients, in the reference too", async () => {
    const link = RecursiveLink.from(tape, config, tensors);
    const hidden = hiddenTensor(true);
    const [output, loss] = tape.scope(() => {
      const result = lossOf(link, hidden);
      result.output.retainGrad = true;
      tape.backward(result.loss);
      return [result.output, result.loss];
    });
    expect(relativeError(await output!.read(), golden.get("output")!)).toBeLessThan(1e-5);
    const reference = referenceLink(config, tensors);
    expect(relativeError(linkForward(reference, golden.get("hidden")!), golden.get("output")!)).toBeLessThan(1e-6);
    expect(Math.abs((await loss!.item()) - golden.get("loss")![0]!)).toBeLessThan(1e-5);
    expect(relativeError(await hidden.grad!.read(), golden.get("d_hidden")!)).toBeLessThan(1e-4);
    const { gradients } = linkBackward(reference, golden.get("hidden")!, Float64Array.from(await output!.grad!.read()));
    for (const { name: parameter, tensor } of link.parameters) {
      const expected = golden.get(`grad.${parameter}`)!;
      expect(relativeError(await tensor.grad!.read(), expected), parameter).toBeLessThan(1e-4);
      expect(relativeError(gradients.get(parameter)!, expected), parameter).toBeLessThan(1e-4);
    }
    for (const tensor of [hidden, output!, loss!]) tensor.dispose();
    link.dispose();
  });

  it("takes the same ten steps of AdamW", async () => {
    const link = RecursiveLink.from(tape, config, tensors);
    const weights = link.parameters.map(({ tensor }) => tensor);
    const optimizer = new AdamW(tape, weights, { beta2: 0.95, maxNorm: 1 });
    const hidden = hiddenTensor(false);
    for (let step = 0; step < 10; step++) {
      const loss = tape.scope(() => {
        const result = lossOf(link, hidden);
        tape.backward(result.loss);
        return result.loss;
      });
      const statistics = await optimizer.update(loss, 3e-3);
      loss.dispose();
      expect(Math.abs(statistics.loss - golden.get("losses")![step]!), `loss ${step}`).toBeLessThan(1e-4);
      expect(statistics.gradientNorm / golden.get("norms")![step]!, `norm ${step}`).toBeCloseTo(1, 3);
    }
    for (const resource of [optimizer, hidden, link]) resource.dispose();
  });
});

describe("a RecursiveLink", () => {
  const config = linkConfig({ kind: "outer", form: "released", inputSize: 6, outputSize: 10 });

  it("begins the same from the same seed, within PyTorch's bounds", async () => {
    const [a, b, c] = [5, 5, 6].map((seed) => RecursiveLink.create({ tape, config, seed, outputScale: 0.25 }));
    expect(await a!.tensors()).toEqual(await b!.tensors());
    expect(await a!.tensors()).not.toEqual(await c!.tensors());
    const values = new Map((await a!.tensors()).map((tensor) => [tensor.name, [...tensor.values]]));
    // Linear layers draw from +-1 / sqrt(fan in), and 120 draws come near the bounds.
    const bound = 1 / Math.sqrt(6);
    const largest = Math.max(...values.get("proj1.weight")!.map(Math.abs));
    expect(largest).toBeLessThanOrEqual(bound);
    expect(largest).toBeGreaterThan(0.9 * bound);
    expect(Math.max(...values.get("proj2.weight")!.map(Math.abs))).toBeLessThanOrEqual(1 / Math.sqrt(20));
    expect(values.get("ln_source.weight")).toEqual(Array(6).fill(1));
    expect(values.get("ln_target.bias")).toEqual(Array(10).fill(0));
    expect(values.get("output_scale")).toEqual([0.25]);
    for (const link of [a, b, c]) link!.dispose();
  });

  it("freezes: gradients flow to the input alone, and thaws", async () => {
    const link = RecursiveLink.create({ tape, config, seed: 1, isTrainable: false });
    const gradients = async () => {
      const hidden = tape.tensor(normals(18, 3), 3, 6, { requiresGrad: true });
      tape.scope(() => tape.backward(link.forward(hidden), tape.tensor(normals(30, 4), 3, 10)));
      const gradient = await hidden.grad!.read();
      hidden.dispose();
      return gradient;
    };
    const frozen = await gradients();
    expect(frozen.some((value) => value !== 0)).toBe(true);
    expect(link.parameters.every(({ tensor }) => tensor.grad === undefined)).toBe(true);
    link.setTrainable(true);
    expect(await gradients()).toEqual(frozen);
    expect(link.parameters.every(({ tensor }) => tensor.grad !== undefined)).toBe(true);
    link.setTrainable(false);
    expect(link.parameters.every(({ tensor }) => tensor.grad === undefined)).toBe(true);
    link.dispose();
  });

  it("loads values in place, or nothing at all", async () => {
    const link = RecursiveLink.create({ tape, config, seed: 1 });
    const weights = link.parameters.map(({ tensor }) => tensor);
    const before = await link.tensors();
    const other = initialLinkTensors(config, { seed: 2 });
    expect(() => link.load(other.slice(1))).toThrow('outer link of the form released: missing "proj1.weight"');
    expect(() => link.load([...other, other[0]!])).toThrow('"proj1.weight" is there twice');
    expect(() => link.load([...other, { name: "extra", shape: [1], values: new Float32Array(1) }])).toThrow(
      'no parameters "extra"',
    );
    const transposed = other.map((tensor) =>
      tensor.name === "proj2.weight" ? { ...tensor, shape: [20, 10] } : tensor,
    );
    expect(() => link.load(transposed)).toThrow('"proj2.weight" is [20, 10] instead of [10, 20]');
    expect(await link.tensors()).toEqual(before);
    link.load(other);
    expect(await link.tensors()).toEqual(other);
    expect(link.parameters.map(({ tensor }) => tensor)).toEqual(weights);
    link.dispose();
  });

  it("names what does not fit", () => {
    const link = RecursiveLink.create({ tape, config, seed: 1 });
    const narrow = tape.tensor(normals(10, 1), 2, 5, { label: "latents" });
    expect(() => link.forward(narrow)).toThrow("outer link: latents is [2, 5], and the link takes rows of 6");
    narrow.dispose();
    link.dispose();
    const create = (fields: object) =>
      RecursiveLink.create({ tape, seed: 1, config: { ...config, ...(fields as typeof config) } });
    expect(() => create({ hiddenSize: 0 })).toThrow("hiddenSize: the form released has a hidden layer");
    expect(() => create({ form: "3layer" })).toThrow("form:");
    expect(() => create({ kind: "inner" })).toThrow(
      "outputSize: an inner link of 6 inputs has as many outputs, not 10",
    );
    expect(() =>
      RecursiveLink.create({ tape, seed: 1, config: { ...config, outputScale: false }, outputScale: 1 }),
    ).toThrow("outputScale: 1 is given, and the config has no output scale");
  });

  it("can begin as its shortcut", async () => {
    const rows = normals(4 * 6, 8);
    const run = async (link: RecursiveLink) => {
      const output = tape.noGrad(() => tape.scope(() => link.forward(tape.tensor(rows, 4, 6))));
      const values = await output.read();
      output.dispose();
      link.dispose();
      return values;
    };
    for (const form of ["paper", "1layerRes", "2layerRes"] as const) {
      const inner = linkConfig({ kind: "inner", form, inputSize: 6, outputSize: 6 });
      const start = { shortcut: "identity" } as const;
      const link = RecursiveLink.create({ tape, config: inner, seed: 1, outputScale: 0.5, start });
      expect([...(await run(link))], form).toEqual([...rows].map((value) => value / 2));
    }
    // The released inner link norms what it hands on: length 0.5 sqrt(6).
    const released = linkConfig({ kind: "inner", form: "released", inputSize: 6, outputSize: 6 });
    const start = { shortcut: "identity" } as const;
    const normed = await run(RecursiveLink.create({ tape, config: released, seed: 1, outputScale: 0.5, start }));
    expect(Math.hypot(...normed.subarray(0, 6))).toBeCloseTo(0.5 * Math.sqrt(6), 3);
    // Outer links multiply by the matrix given.
    const matrix = normals(3 * 6, 5);
    for (const form of ["paper", "1layer", "1layerRes", "2layerRes"] as const) {
      const outer = linkConfig({ kind: "outer", form, inputSize: 6, outputSize: 3, outputScale: false });
      const output = await run(RecursiveLink.create({ tape, config: outer, seed: 1, start: { shortcut: matrix } }));
      const expected = [0, 1, 2].map((out) =>
        [0, 1, 2, 3, 4, 5].reduce((sum, i) => sum + matrix[out * 6 + i]! * rows[i]!, 0),
      );
      expect(relativeError(output.subarray(0, 3), expected), form).toBeLessThan(1e-6);
    }
    const begin = (fields: Parameters<typeof linkConfig>[0], shortcut: "identity" | number[]) =>
      RecursiveLink.create({ tape, config: linkConfig(fields), seed: 1, start: { shortcut } });
    const sizes = { inputSize: 6, outputSize: 3 };
    expect(() => begin({ kind: "outer", form: "2layer", ...sizes }, "identity")).toThrow("2layer has no shortcut");
    expect(() => begin({ kind: "outer", form: "paper", ...sizes }, "identity")).toThrow("no identity from 6 to 3");
    expect(() => begin({ kind: "outer", form: "paper", ...sizes }, [1])).toThrow("1 values for [3, 6]");
    expect(() => begin({ kind: "inner", form: "paper", inputSize: 6, outputSize: 6 }, [1])).toThrow(
      "the shortcut of an inner link paper is the identity",
    );
  });
});
