/** Every backward function of the reference against central differences of its forward function, in f64. */
import { describe, expect, it } from "vitest";
import { Random } from "../random/random";
import { adamWStep } from "./adamW";
import { attention, attentionBackward } from "./attention";
import { embedding, embeddingBackward } from "./embedding";
import { gelu, geluBackward, normalDistribution } from "./gelu";
import { layerNorm, layerNormBackward } from "./layerNorm";
import { linear, linearBackward } from "./linear";
import {
  clippedPolicy,
  clippedPolicyBackward,
  cosineDistance,
  cosineDistanceBackward,
  logProbs,
  logProbsBackward,
  meanSquare,
  meanSquareBackward,
} from "./losses";
import { rmsNorm, rmsNormBackward } from "./rmsNorm";
import { rope, ropeBackward } from "./rope";
import { softmaxBackward, topKSoftmax } from "./softmax";
import { swiglu, swigluBackward } from "./swiglu";

const random = new Random(11);
const normals = (count: number) => Float64Array.from({ length: count }, () => random.normal());

/**
 * Compares gradients of sum(out * dOut) with central differences at every element of every input.
 * @param inputs by name; `forward` gets them in order
 */
function check(
  inputs: Record<string, Float64Array>,
  forward: (...inputs: Float64Array[]) => Float64Array,
  backward: (dOut: Float64Array, ...inputs: Float64Array[]) => Record<string, Float64Array>,
): void {
  const values = Object.values(inputs);
  const dOut = normals(forward(...values).length);
  const objective = () => forward(...values).reduce((sum, value, i) => sum + value * dOut[i]!, 0);
  const gradients = backward(dOut, ...values);
  expect(Object.keys(gradients).sort()).toEqual(Object.keys(inputs).sort());
  for (const [name, input] of Object.entries(inputs)) {
    const gradient = gradients[name]!;
    expect(gradient).toHaveLength(input.length);
    for (let i = 0; i < input.length; i++) {
      const before = input[i]!;
      const step = 1e-5;
      input[i] = before + step;
      const above = objective();
      input[i] = before - step;
      const below = objective();
      input[i] = before;
      const difference = (above - below) / (2 * step);
      expect(Math.abs(gradient[i]! - difference), `${name}[${i}]`).toBeLessThan(
        1e-7 * Math.max(1, Math.abs(difference)),
      );
    }
  }
}

describe("gradients of the reference", () => {
  it("linear", () => {
    check(
      { x: normals(3 * 5), weight: normals(4 * 5), bias: normals(4) },
      (x, weight, bias) => linear(x!, weight!, 5, bias!),
      (dY, x, weight) => {
        const { dX, dWeight, dBias } = linearBackward(dY, x!, weight!, 5);
        return { x: dX, weight: dWeight, bias: dBias };
      },
    );
  });

  it("rmsNorm", () => {
    check(
      { x: normals(3 * 5), weight: normals(5) },
      (x, weight) => rmsNorm(x!, weight!, 1e-3),
      (dY, x, weight) => {
        const { dX, dWeight } = rmsNormBackward(dY, x!, weight!, 1e-3);
        return { x: dX, weight: dWeight };
      },
    );
  });

  it("layerNorm", () => {
    check(
      { x: normals(3 * 5), weight: normals(5), bias: normals(5) },
      (x, weight, bias) => layerNorm(x!, weight!, bias!, 1e-3),
      (dY, x, weight) => {
        const { dX, dWeight, dBias } = layerNormBackward(dY, x!, weight!, 1e-3);
        return { x: dX, weight: dWeight, bias: dBias };
      },
    );
  });

  it("rope", () => {
    const shape = { heads: 2, headDim: 6, ropeTheta: 100 };
    const positions = [0, 3, 7];
    check(
      { x: normals(3 * 12) },
      (x) => rope(x!, positions, shape),
      (dY) => ({ x: ropeBackward(dY, positions, shape) }),
    );
  });

  it.each([
    { heads: 4, kvHeads: 2, headDim: 3, queryLengths: [3, 1, 2] },
    { heads: 3, kvHeads: 1, headDim: 2, queryLengths: [2, 1], keyLengths: [4, 3] },
  ])("attention %j", (shape) => {
    const rows = shape.queryLengths.reduce((a, b) => a + b);
    const keys = (shape.keyLengths ?? shape.queryLengths).reduce((a, b) => a + b);
    const { heads, kvHeads, headDim } = shape;
    check(
      {
        q: normals(rows * heads * headDim),
        k: normals(keys * kvHeads * headDim),
        v: normals(keys * kvHeads * headDim),
      },
      (q, k, v) => attention(q!, k!, v!, shape),
      (dOut, q, k, v) => {
        const { dQ, dK, dV } = attentionBackward(dOut, q!, k!, v!, shape);
        return { q: dQ, k: dK, v: dV };
      },
    );
  });

  it.each([3, 7])("softmax of the largest %i of 7", (topK) => {
    check(
      { x: normals(2 * 7) },
      (x) => topKSoftmax(x!, 7, topK),
      (dY, x) => ({ x: softmaxBackward(dY, topKSoftmax(x!, 7, topK), 7) }),
    );
  });

  it("swiglu", () => {
    check(
      { gate: normals(7), up: normals(7) },
      (gate, up) => swiglu(gate!, up!),
      (dY, gate, up) => {
        const { dGate, dUp } = swigluBackward(dY, gate!, up!);
        return { gate: dGate, up: dUp };
      },
    );
  });

  it("gelu", () => {
    check(
      { x: Float64Array.of(-6, -3, -2.9, -2, -0.1, 0, 0.3, 1, 2.9, 5) },
      (x) => gelu(x!),
      (dY, x) => ({ x: geluBackward(dY, x!) }),
    );
    // Values of the normal distribution from tables; both branches of erfc meet at 2 * sqrt 2.
    expect(normalDistribution(1.96)).toBeCloseTo(0.9750021, 7);
    expect(normalDistribution(-4) / 3.167124183e-5).toBeCloseTo(1, 8);
    expect(normalDistribution(2.8284) - normalDistribution(2.8285)).toBeCloseTo(-0.0001 * 0.00730702, 8);
  });

  it("embedding, with tokens that repeat", () => {
    const ids = [2, 0, 2, 3];
    check(
      { table: normals(5 * 3) },
      (table) => embedding(ids, table!, 3),
      (dRows) => ({ table: embeddingBackward(dRows, ids, 5, 3) }),
    );
  });

  it("logProbs", () => {
    check(
      { logits: normals(3 * 5) },
      (logits) => logProbs(logits!, [4, 0, 2], 5),
      (dOut, logits) => ({ logits: logProbsBackward(dOut, logits!, [4, 0, 2], 5) }),
    );
  });

  it("cosineDistance and meanSquare, by either side", () => {
    check(
      { a: normals(3 * 5), b: normals(3 * 5) },
      (a, b) => cosineDistance(a!, b!, 5),
      (dOut, a, b) => ({
        a: cosineDistanceBackward(dOut, a!, b!, 5),
        b: cosineDistanceBackward(dOut, b!, a!, 5),
      }),
    );
    check(
      { a: normals(3 * 5), b: normals(3 * 5) },
      (a, b) => meanSquare(a!, b!, 5),
      (dOut, a, b) => ({ a: meanSquareBackward(dOut, a!, b!, 5), b: meanSquareBackward(dOut, b!, a!, 5) }),
    );
  });

  it("clippedPolicy, inside and outside of the clip on either side", () => {
    const settings = {
      old: [0, 0, 0, 0, 0],
      advantages: [1, 1, -2, -2, 0.5],
      reference: [0.1, -0.2, 0, 0.4, -0.6],
      clipLow: 0.2,
      clipHigh: 0.3,
      klCoefficient: 0.1,
    };
    check(
      { x: Float64Array.of(0.5, 0.1, 0.5, -0.5, -0.9) },
      (x) => clippedPolicy(x!, settings),
      (dOut, x) => ({ x: clippedPolicyBackward(dOut, x!, settings) }),
    );
    // Far above the clip a positive advantage gives no gradient, a negative one does.
    const slopes = clippedPolicyBackward(Float64Array.of(1, 1, 1, 1, 1), Float64Array.of(0.5, 0.1, 0.5, -0.5, -0.9), {
      ...settings,
      klCoefficient: 0,
    });
    expect([...slopes].map((slope) => Math.sign(slope) + 0)).toEqual([0, -1, 1, 0, -1]);
  });
});

describe("adamWStep", () => {
  it("takes a first step of the learning rate against each gradient, and clips the common norm", () => {
    const settings = { learningRate: 0.1, beta1: 0.9, beta2: 0.99, epsilon: 0, weightDecay: 0.5, maxNorm: 1 };
    const state = () => ({
      weight: Float64Array.of(1, -2),
      firstMoment: new Float64Array(2),
      secondMoment: new Float64Array(2),
    });
    const own = state();
    expect(adamWStep([own], [Float64Array.of(3, -4)], 1, settings)).toBe(5);
    expect(own.weight[0]).toBeCloseTo(1 - 0.1 - 0.05, 12);
    expect(own.weight[1]).toBeCloseTo(-2 + 0.1 + 0.1, 12);
    expect(own.firstMoment[0]).toBeCloseTo(0.1 * 0.6, 6);
    const free = state();
    adamWStep([free], [Float64Array.of(3, -4)], 1, { ...settings, maxNorm: 0 });
    expect(free.firstMoment[0]).toBeCloseTo(0.1 * 3, 12);
  });
});
