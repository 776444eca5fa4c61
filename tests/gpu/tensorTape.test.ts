/** The tape itself: random graphs, recomputation, detaching, memory, and the optimizer's arithmetic. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Gpu } from "../../src/gpu/device";
import { GpuOutOfMemoryError } from "../../src/gpu/errors";
import { openNodeGpu } from "../../src/gpu/nodeDevice";
import { Random } from "../../src/random/random";
import { type AdamWState, adamWStep as referenceStep } from "../../src/reference/adamW";
import { gelu as referenceGelu } from "../../src/reference/gelu";
import { layerNorm as referenceLayerNorm } from "../../src/reference/layerNorm";
import { linear as referenceLinear } from "../../src/reference/linear";
import { rmsNorm as referenceRmsNorm } from "../../src/reference/rmsNorm";
import { swiglu as referenceSwiglu } from "../../src/reference/swiglu";
import { relativeError } from "../../src/tensor/check/runCase";
import { adamWStep } from "../../src/tensor/ops/adamW";
import { add, gelu, scale, swiglu } from "../../src/tensor/ops/elementwise";
import { linear } from "../../src/tensor/ops/linear";
import { weightedSum } from "../../src/tensor/ops/losses";
import { layerNorm, rmsNorm } from "../../src/tensor/ops/norm";
import { concatRows, gatherRows, sliceRows } from "../../src/tensor/ops/rows";
import { Tape } from "../../src/tensor/tape";
import type { Tensor } from "../../src/tensor/tensor";

let gpu: Gpu;
let tape: Tape;
beforeAll(async () => {
  gpu = await openNodeGpu();
  tape = new Tape(gpu);
});
afterAll(() => {
  tape.dispose();
  gpu.close();
});

const normals = (random: Random, count: number, spread = 1) =>
  Float64Array.from({ length: count }, () => Math.fround(spread * random.normal()));

/** A value on the device and the function that computes it in f64 from the leaves. */
interface Value {
  tensor: Tensor;
  rows: number;
  columns: number;
  compute: (leaves: readonly Float64Array[]) => Float64Array;
}

/** Builds a random graph whose operations pick any of the values made before, so that values are used several times. */
function randomGraph(random: Random, leaves: { values: Float64Array; tensor: Tensor }[]): Value {
  const width = 5;
  const leaf = (rows: number, columns: number): Value => {
    const values = normals(random, rows * columns);
    const index = leaves.length;
    const tensor = tape.outsideScopes(() => tape.tensor(values, rows, columns, { requiresGrad: true }));
    leaves.push({ values, tensor });
    return { tensor, rows, columns, compute: (all) => all[index] as Float64Array };
  };
  const values: Value[] = [leaf(1 + random.int(4), width), leaf(1 + random.int(4), width)];
  const unary = (a: Value, tensor: Tensor, of: (x: Float64Array, all: readonly Float64Array[]) => Float64Array) =>
    values.push({ tensor, rows: tensor.rows, columns: width, compute: (all) => of(a.compute(all), all) });
  for (let step = 0; step < 6; step++) {
    const a = random.pick(values);
    const kind = random.int(9);
    if (kind === 0) {
      const [w, b] = [leaf(width, width), leaf(1, width)];
      unary(a, linear(a.tensor, w.tensor, b.tensor), (x, all) => {
        return referenceLinear(x, w.compute(all), width, b.compute(all));
      });
    } else if (kind === 1) {
      const w = leaf(1, width);
      unary(a, rmsNorm(a.tensor, w.tensor, 0.1), (x, all) => referenceRmsNorm(x, w.compute(all), 0.1));
    } else if (kind === 2) {
      const [w, b] = [leaf(1, width), leaf(1, width)];
      unary(a, layerNorm(a.tensor, w.tensor, b.tensor, 0.1), (x, all) => {
        return referenceLayerNorm(x, w.compute(all), b.compute(all), 0.1);
      });
    } else if (kind === 3) {
      unary(a, gelu(a.tensor), referenceGelu);
    } else if (kind === 4) {
      const w = leaf(2 * width, width);
      unary(a, swiglu(linear(a.tensor, w.tensor)), (x, all) => {
        const both = referenceLinear(x, w.compute(all), width);
        const part = (offset: number) => both.filter((_, i) => Math.floor(i / width) % 2 === offset);
        return referenceSwiglu(part(0), part(1));
      });
    } else if (kind === 5) {
      const factor = leaf(1, 1);
      unary(a, scale(a.tensor, factor.tensor), (x, all) => x.map((value) => value * factor.compute(all)[0]!));
    } else if (kind === 6) {
      const ids = Array.from({ length: 1 + random.int(5) }, () => random.int(a.rows));
      unary(a, gatherRows(a.tensor, tape.integers(ids)), (x) => {
        return Float64Array.from(ids.flatMap((id) => [...x.slice(id * width, (id + 1) * width)]));
      });
    } else if (kind === 7) {
      const b = random.pick(values);
      const tensor = concatRows([a.tensor, b.tensor]);
      unary(a, tensor, (x, all) => Float64Array.of(...x, ...b.compute(all)));
    } else {
      const same = values.filter(({ rows }) => rows === a.rows);
      const b = random.pick(same);
      unary(a, add(a.tensor, b.tensor), (x, all) => {
        const y = b.compute(all);
        return x.map((value, i) => value + y[i]!);
      });
    }
  }
  return values.at(-1) as Value;
}

describe("random graphs", () => {
  it.each(Array.from({ length: 12 }, (_, seed) => seed))(
    "have the gradients of finite differences, seed %i",
    async (seed) => {
      const random = new Random(seed, 5);
      const leaves: { values: Float64Array; tensor: Tensor }[] = [];
      let compute!: Value["compute"];
      let seeds!: Float64Array;
      const output = tape.scope(() => {
        const last = randomGraph(random, leaves);
        compute = last.compute;
        seeds = normals(random, last.rows * last.columns);
        tape.backward(last.tensor, tape.tensor(seeds, last.rows, last.columns));
        return last.tensor;
      });
      const values = leaves.map((leaf) => leaf.values);
      expect(relativeError(await output.read(), compute(values))).toBeLessThan(1e-5);
      const objective = () => compute(values).reduce((sum, value, i) => sum + value * seeds[i]!, 0);
      let compared = 0;
      for (const { values: own, tensor } of leaves) {
        const differences = Float64Array.from(own, (before, i) => {
          own[i] = before + 1e-5;
          const above = objective();
          own[i] = before - 1e-5;
          const below = objective();
          own[i] = before;
          return (above - below) / 2e-5;
        });
        // A leaf that does not reach the result has no gradient.
        const gradient = tensor.grad ? await tensor.grad.read() : new Float32Array(own.length);
        expect(relativeError(gradient, differences)).toBeLessThan(1e-4);
        if (tensor.grad) compared++;
        tensor.dispose();
      }
      expect(compared).toBeGreaterThan(0);
      output.dispose();
      expect(tape.liveBytes).toBe(0);
    },
  );
});

describe("the tape", () => {
  const random = new Random(3);
  const leaf = (rows: number, columns: number) =>
    tape.tensor(normals(random, rows * columns, 0.3), rows, columns, { requiresGrad: true });

  /** A tower of layers and the bytes that stand between forward and backward. */
  async function tower(x: Tensor, weights: readonly Tensor[], recompute: boolean) {
    let between = 0;
    const ones = tape.tensor(new Float32Array(x.rows * 64).fill(1), x.rows, 64);
    const output = tape.scope(() => {
      const result = tape.scope(() => {
        let hidden = x;
        for (const w of weights) {
          const layer = (input: Tensor) => gelu(linear(gelu(linear(input, w)), w));
          const next = recompute ? tape.checkpoint(layer, hidden) : tape.scope(() => layer(hidden));
          if (hidden !== x) hidden.dispose();
          hidden = next;
        }
        return hidden;
      });
      between = tape.liveBytes;
      tape.backward(result, ones);
      return result;
    });
    const gradients = [await x.grad!.read()];
    for (const w of weights) gradients.push(await w.grad!.read());
    for (const tensor of [x, ...weights]) tensor.clearGrad();
    for (const tensor of [output, ones]) tensor.dispose();
    return { between, gradients };
  }

  it("recomputes to the same gradients in less memory", async () => {
    const x = leaf(64, 64);
    const weights = [leaf(64, 64), leaf(64, 64), leaf(64, 64), leaf(64, 64)];
    const kept = await tower(x, weights, false);
    const recomputed = await tower(x, weights, true);
    expect(recomputed.gradients).toEqual(kept.gradients);
    expect(recomputed.between).toBeLessThan(0.6 * kept.between);
    for (const tensor of [x, ...weights]) tensor.dispose();
    expect(tape.liveBytes).toBe(0);
  });

  it("stops gradients at detach and in noGrad, and keeps intermediate ones on request", async () => {
    const [a, b] = [leaf(2, 3), leaf(2, 3)];
    let middle!: Tensor;
    tape.scope(() => {
      middle = tape.outsideScopes(() => scale(a, 2));
      middle.retainGrad = true;
      const sum = add(
        add(middle, scale(b, 3).detach()),
        tape.noGrad(() => scale(b, 5)),
      );
      tape.backward(sum, tape.tensor([1, 2, 3, 4, 5, 6], 2, 3));
    });
    expect([...(await a.grad!.read())]).toEqual([2, 4, 6, 8, 10, 12]);
    expect([...(await middle.grad!.read())]).toEqual([1, 2, 3, 4, 5, 6]);
    expect(b.grad).toBeUndefined();
    expect(() => tape.scope(() => tape.backward(scale(b, 3).detach()))).toThrow("needs a [1, 1] loss");
    tape.reset();
    for (const tensor of [a, b, middle]) tensor.dispose();
    expect(tape.liveBytes).toBe(0);
  });

  it("adds gradients up over passes, also where their memory was shared", async () => {
    const a = leaf(2, 2);
    for (let pass = 0; pass < 3; pass++) {
      // Both sides of a sum share the gradient until one of them changes it.
      tape.scope(() => tape.backward(add(a, add(a, a)), tape.tensor([1, 2, 3, 4], 2, 2)));
    }
    expect([...(await a.grad!.read())]).toEqual([9, 18, 27, 36]);
    a.dispose();
  });

  it("says which tensor is used after its end, and what does not fit", () => {
    const a = leaf(2, 3);
    const [inner] = [tape.scope(() => scale(a, 2))];
    inner.dispose();
    expect(() => tape.scope(() => add(inner, a))).toThrow('"scaled" is used after');
    expect(() => tape.scope(() => add(a, sliceRows(a, 0, 1)))).toThrow("[2, 3]");
    expect(() => linear(a, a, a)).toThrow("instead of [1, 2]");
    expect(() => tape.scope(() => gatherRows(a, tape.integers([2])))).toThrow("row 2 is outside");
    expect(() => tape.tensor([1, 2], 3, 1, { label: "x" })).toThrow("x: 2 values for [3, 1]");
    tape.reset();
    a.dispose();
    expect(tape.liveBytes).toBe(0);
  });

  it("reports memory that is not there, and goes on", async () => {
    const small = await openNodeGpu({ memoryBudget: 2 ** 20 });
    const own = new Tape(small);
    const big = () => own.scope(() => own.zeros("a big one", 1024, 1024));
    expect(big).toThrow(GpuOutOfMemoryError);
    const a = own.tensor([1, 2], 1, 2);
    expect([...(await scale(a, 2).read())]).toEqual([2, 4]);
    own.dispose();
    expect(small.liveBytes).toBe(0);
    small.close();
  });
});

describe("adamWStep", () => {
  const settings = { learningRate: 0.01, beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weightDecay: 0.1, maxNorm: 2 };

  it("takes the reference's steps, on parameters of awkward sizes", async () => {
    const random = new Random(9);
    const sizes: [number, number][] = [
      [1, 1],
      [3, 7],
      [67, 129],
    ];
    const weights = sizes.map(([rows, columns]) => ({
      values: normals(random, rows * columns),
      rows,
      columns,
    }));
    const states: AdamWState[] = weights.map(({ values }) => ({
      weight: values.slice(),
      firstMoment: new Float64Array(values.length),
      secondMoment: new Float64Array(values.length),
    }));
    const parameters = weights.map(({ values, rows, columns }) => ({
      weight: tape.tensor(values, rows, columns, { requiresGrad: true }),
      firstMoment: tape.zeros("m", rows, columns),
      secondMoment: tape.zeros("v", rows, columns),
    }));
    for (let step = 1; step <= 3; step++) {
      // The last step's gradients are small, so that nothing is clipped.
      const gradients = weights.map(({ values }) => normals(random, values.length, step === 3 ? 1e-3 : 1));
      const norm = referenceStep(states, gradients, step, settings);
      const loss = tape.tensor([step], 1, 1);
      tape.scope(() => {
        parameters.forEach(({ weight }, i) => {
          weight.clearGrad();
          tape.addGrad(weight, tape.tensor(gradients[i]!, weight.rows, weight.columns));
        });
      });
      const look = tape.tensor(normals(random, 35, step), 5, 7);
      const read = adamWStep(tape, parameters, loss, step, settings, [look, loss]);
      const statistics = await read();
      expect(statistics).toMatchObject({ loss: step, faults: 0 });
      expect(statistics.gradientNorm / norm).toBeCloseTo(1, 5);
      expect(statistics.factor).toBeCloseTo(step === 3 ? 1 : 2 / norm, 5);
      expect(
        relativeError(
          statistics.norms,
          gradients.map((own) => Math.hypot(...own)),
        ),
      ).toBeLessThan(1e-5);
      expect(relativeError(statistics.observed, [Math.hypot(...(await look.read())), step])).toBeLessThan(1e-5);
      for (const tensor of [loss, look]) tensor.dispose();
    }
    for (const [i, { weight, firstMoment, secondMoment }] of parameters.entries()) {
      expect(relativeError(await weight.read(), states[i]!.weight)).toBeLessThan(1e-6);
      for (const tensor of [weight, firstMoment, secondMoment]) tensor.dispose();
    }
    expect(tape.liveBytes).toBe(0);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, 3e38])("changes nothing when a gradient holds %f", async (bad) => {
    const weight = tape.tensor([1, 2, 3, 4, 5], 1, 5, { requiresGrad: true });
    const parameter = { weight, firstMoment: tape.zeros("m", 1, 5), secondMoment: tape.zeros("v", 1, 5) };
    tape.scope(() => tape.addGrad(weight, tape.tensor([0, 1, bad, 1, 1], 1, 5)));
    const loss = tape.tensor([1], 1, 1);
    const read = adamWStep(tape, [parameter], loss, 1, settings);
    expect((await read()).faults).toBeGreaterThan(0);
    expect([...(await weight.read())]).toEqual([1, 2, 3, 4, 5]);
    expect([...(await parameter.firstMoment.read())]).toEqual([0, 0, 0, 0, 0]);
    for (const tensor of [weight, parameter.firstMoment, parameter.secondMoment, loss]) tensor.dispose();
  });

  it("changes nothing when the loss is not a number", async () => {
    const weight = tape.tensor([1], 1, 1, { requiresGrad: true });
    const parameter = { weight, firstMoment: tape.zeros("m", 1, 1), secondMoment: tape.zeros("v", 1, 1) };
    tape.scope(() => tape.addGrad(weight, tape.tensor([1], 1, 1)));
    const loss = tape.scope(() => weightedSum(tape.tensor([Number.NaN], 1, 1), tape.tensor([1], 1, 1)));
    const read = adamWStep(tape, [parameter], loss, 1, settings);
    expect((await read()).faults).toBeGreaterThan(0);
    expect(await weight.item()).toBe(1);
    for (const tensor of [weight, parameter.firstMoment, parameter.secondMoment, loss]) tensor.dispose();
  });
});
