/**
 * Every operation at awkward sizes with its f64 reference: what the tests and `lab gradcheck` compare the device with.
 * Sizes are 1, primes, no multiples of 4 or of a tile, and just beside the edges of tiles.
 */
import type { TensorDtype } from "../../checkpoint/checkpoint";
import { decodeTensor, encodeTensor } from "../../checkpoint/dtype";
import { Random } from "../../random/random";
import * as attentionReference from "../../reference/attention";
import { embedding, embeddingBackward } from "../../reference/embedding";
import * as geluReference from "../../reference/gelu";
import * as layerNormReference from "../../reference/layerNorm";
import * as linearReference from "../../reference/linear";
import * as losses from "../../reference/losses";
import * as rmsNormReference from "../../reference/rmsNorm";
import * as ropeReference from "../../reference/rope";
import { softmaxBackward, topKSoftmax } from "../../reference/softmax";
import * as swigluReference from "../../reference/swiglu";
import { attention, rope, ropeAngles } from "../ops/attention";
import { add, gelu, scale, swiglu } from "../ops/elementwise";
import { linear, weightedRows } from "../ops/linear";
import { clippedPolicyLoss, cosineDistance, meanSquareError, tokenLogProbs, weightedSum } from "../ops/losses";
import { layerNorm, rmsNorm } from "../ops/norm";
import { concatRows, gatherRows, joinHeads, sliceRows, splitHeads } from "../ops/rows";
import { softmax } from "../ops/softmax";
import { Sequences } from "../sequences";
import type { Tape } from "../tape";
import type { Tensor } from "../tensor";

export interface CaseInput {
  rows: number;
  columns: number;
  values: Float64Array;
  /** Other than f32: a frozen weight. */
  dtype?: TensorDtype;
  /** No gradient flows to it. */
  isConstant?: boolean;
}

export interface OpCase {
  op: string;
  /** Sizes, for messages. */
  size: string;
  inputs: Readonly<Record<string, CaseInput>>;
  /** The operation on the device. */
  run(tape: Tape, inputs: readonly Tensor[]): Tensor;
  /** Its result by the reference. */
  expected(values: readonly Float64Array[]): Float64Array;
  /** Gradients of sum(result * dOut), by the names of the inputs that have one. */
  gradients(dOut: Float64Array, values: readonly Float64Array[]): Readonly<Record<string, Float64Array>>;
}

/** Values as they are after they have been stored in a format. */
export function rounded(values: Float64Array, dtype: TensorDtype): Float64Array {
  return decodeTensor(dtype, encodeTensor(dtype, values));
}

/** All cases; the same seed gives the same numbers. */
export function opCases(seed = 1): OpCase[] {
  const random = new Random(seed);
  const normals = (rows: number, columns: number, spread = 1): CaseInput => ({
    rows,
    columns,
    values: Float64Array.from({ length: rows * columns }, () => Math.fround(spread * random.normal())),
  });
  const integers = (count: number, bound: number) => Array.from({ length: count }, () => random.int(bound));
  return [
    ...linearCases(normals),
    ...normCases(normals),
    ...elementwiseCases(normals),
    ...mixtureCases(normals),
    ...rowCases(normals, integers),
    ...attentionCases(normals),
    ...lossCases(normals, integers),
  ];
}

type Normals = (rows: number, columns: number, spread?: number) => CaseInput;
type Draw = (count: number, bound: number) => number[];

function linearCases(normals: Normals): OpCase[] {
  const cases: OpCase[] = [];
  const sizes: [number, number, number][] = [
    [1, 1, 1],
    [2, 3, 5],
    [7, 13, 6],
    [8, 16, 32],
    [17, 129, 37],
    [33, 64, 131],
  ];
  for (const [rows, inSize, outSize] of sizes) {
    for (const dtype of ["F32", "BF16", "F16"] as const) {
      const weight = normals(outSize, inSize);
      cases.push({
        op: "linear",
        size: `${rows} x ${inSize} -> ${outSize}, ${dtype}`,
        inputs: {
          x: normals(rows, inSize),
          weight: { ...weight, values: rounded(weight.values, dtype), dtype, isConstant: dtype !== "F32" },
          bias: normals(1, outSize),
        },
        run: (_, [x, w, bias]) => linear(x!, w!, bias!),
        expected: ([x, w, bias]) => linearReference.linear(x!, w!, inSize, bias!),
        gradients: (dOut, [x, w]) => {
          const { dX, dWeight, dBias } = linearReference.linearBackward(dOut, x!, w!, inSize);
          return { x: dX, ...(dtype === "F32" ? { weight: dWeight } : {}), bias: dBias };
        },
      });
    }
  }
  return cases;
}

/** Large enough that the gradient of a single element, all but epsilon's share of which cancels, has digits in f32. */
const NORM_EPSILON = 0.1;

function normCases(normals: Normals): OpCase[] {
  return [
    [1, 1],
    [3, 5],
    [8, 16],
    [13, 67],
    [9, 130],
  ].flatMap(([rows = 0, size = 0]): OpCase[] => [
    {
      op: "rmsNorm",
      size: `${rows} x ${size}`,
      inputs: { x: normals(rows, size), weight: normals(1, size) },
      run: (_, [x, weight]) => rmsNorm(x!, weight!, NORM_EPSILON),
      expected: ([x, weight]) => rmsNormReference.rmsNorm(x!, weight!, NORM_EPSILON),
      gradients: (dOut, [x, weight]) => {
        const { dX, dWeight } = rmsNormReference.rmsNormBackward(dOut, x!, weight!, NORM_EPSILON);
        return { x: dX, weight: dWeight };
      },
    },
    {
      op: "layerNorm",
      size: `${rows} x ${size}`,
      inputs: { x: normals(rows, size, 3), weight: normals(1, size), bias: normals(1, size) },
      run: (_, [x, weight, bias]) => layerNorm(x!, weight!, bias!, 1e-5),
      expected: ([x, weight, bias]) => layerNormReference.layerNorm(x!, weight!, bias!, 1e-5),
      gradients: (dOut, [x, weight]) => {
        const { dX, dWeight, dBias } = layerNormReference.layerNormBackward(dOut, x!, weight!, 1e-5);
        return { x: dX, weight: dWeight, bias: dBias };
      },
    },
  ]);
}

function elementwiseCases(normals: Normals): OpCase[] {
  return [
    [1, 1],
    [3, 5],
    [17, 37],
    [4, 64],
  ].flatMap(([rows = 0, size = 0]): OpCase[] => [
    {
      op: "swiglu",
      size: `${rows} x ${size}`,
      inputs: { gateUp: normals(rows, 2 * size, 3) },
      run: (_, [gateUp]) => swiglu(gateUp!),
      expected: ([gateUp]) => {
        const { gate, up } = halves(gateUp!, size);
        return swigluReference.swiglu(gate, up);
      },
      gradients: (dOut, [gateUp]) => {
        const { gate, up } = halves(gateUp!, size);
        const { dGate, dUp } = swigluReference.swigluBackward(dOut, gate, up);
        return { gateUp: joined(dGate, dUp, size) };
      },
    },
    {
      op: "gelu",
      size: `${rows} x ${size}`,
      inputs: { x: normals(rows, size, 3) },
      run: (_, [x]) => gelu(x!),
      expected: ([x]) => geluReference.gelu(x!),
      gradients: (dOut, [x]) => ({ x: geluReference.geluBackward(dOut, x!) }),
    },
    {
      op: "add",
      size: `${rows} x ${size}, one input twice`,
      inputs: { a: normals(rows, size), b: normals(rows, size) },
      run: (_, [a, b]) => add(add(a!, b!), a!),
      expected: ([a, b]) => a!.map((value, i) => 2 * value + b![i]!),
      gradients: (dOut) => ({ a: dOut.map((value) => 2 * value), b: dOut }),
    },
    {
      op: "scale",
      size: `${rows} x ${size}`,
      inputs: { x: normals(rows, size), factor: normals(1, 1) },
      run: (_, [x, factor]) => scale(scale(x!, 0.75), factor!),
      expected: ([x, factor]) => x!.map((value) => value * 0.75 * factor![0]!),
      gradients: (dOut, [x, factor]) => ({
        x: dOut.map((value) => value * 0.75 * factor![0]!),
        factor: Float64Array.of(dOut.reduce((sum, value, i) => sum + value * 0.75 * x![i]!, 0)),
      }),
    },
  ]);
}

/** Softmax, of all and of the largest entries, and mixtures of rows. */
function mixtureCases(normals: Normals): OpCase[] {
  const softmaxes = [
    [1, 1, 1],
    [3, 5, 2],
    [17, 67, 67],
    [5, 131, 10],
    [4, 9, 20],
  ].map(([rows = 0, size = 0, topK = 0]): OpCase => {
    const x = normals(rows, size, 3);
    // Ties across the edge of the largest ones in the first row.
    if (size === 5) x.values.set([1, 2, 1, 0.5, 1]);
    return {
      op: "softmax",
      size: `${rows} x ${size}, the largest ${topK}`,
      inputs: { x },
      run: (_, [input]) => softmax(input!, topK === size ? undefined : topK),
      expected: ([input]) => topKSoftmax(input!, size, topK),
      gradients: (dOut, [input]) => ({ x: softmaxBackward(dOut, topKSoftmax(input!, size, topK), size) }),
    };
  });
  const mixtures = (["F32", "BF16"] as const).flatMap((dtype) =>
    [
      [1, 1, 1],
      [3, 5, 2],
      [9, 131, 33],
    ].map(([rows = 0, count = 0, size = 0]): OpCase => {
      const table = normals(count, size);
      return {
        op: "weightedRows",
        size: `${rows} of ${count} x ${size}, ${dtype}`,
        inputs: {
          x: normals(rows, count),
          table: { ...table, values: rounded(table.values, dtype), dtype, isConstant: dtype !== "F32" },
        },
        run: (_, [x, own]) => weightedRows(x!, own!),
        expected: ([x, own]) => linearReference.linear(x!, transposed(own!, size), count),
        gradients: (dOut, [x, own]) => {
          const { dX, dWeight } = linearReference.linearBackward(dOut, x!, transposed(own!, size), count);
          return { x: dX, ...(dtype === "F32" ? { table: transposed(dWeight, count) } : {}) };
        },
      };
    }),
  );
  return [...softmaxes, ...mixtures];
}

/** The columns of a matrix as rows. */
function transposed(values: Float64Array, columns: number): Float64Array {
  const rows = values.length / columns;
  return Float64Array.from({ length: values.length }, (_, i) => values[(i % rows) * columns + Math.floor(i / rows)]!);
}

/** The two halves of each row. */
function halves(gateUp: Float64Array, size: number): { gate: Float64Array; up: Float64Array } {
  const part = (offset: number) =>
    Float64Array.from({ length: gateUp.length / 2 }, (_, i) => {
      return gateUp[Math.floor(i / size) * 2 * size + offset + (i % size)]!;
    });
  return { gate: part(0), up: part(size) };
}

function joined(gate: Float64Array, up: Float64Array, size: number): Float64Array {
  return Float64Array.from({ length: 2 * gate.length }, (_, i) => {
    const row = Math.floor(i / (2 * size));
    const column = i % (2 * size);
    return column < size ? gate[row * size + column]! : up[row * size + column - size]!;
  });
}

function rowCases(normals: Normals, integers: Draw): OpCase[] {
  const cases: OpCase[] = [];
  for (const [vocabulary, size, count] of [
    [1, 1, 1],
    [5, 3, 9],
    [131, 37, 17],
  ] as const) {
    const ids = integers(count, vocabulary);
    cases.push({
      op: "embedding",
      size: `${count} of ${vocabulary} x ${size}`,
      inputs: { table: normals(vocabulary, size) },
      run: (tape, [table]) => gatherRows(table!, tape.integers(ids)),
      expected: ([table]) => embedding(ids, table!, size),
      gradients: (dOut) => ({ table: embeddingBackward(dOut, ids, vocabulary, size) }),
    });
  }
  const split = integers(19, 12);
  cases.push(
    {
      op: "embedding",
      size: "19 of two parts",
      inputs: { first: normals(5, 6), second: normals(7, 6) },
      run: (tape, [first, second]) => gatherRows([first!, second!], tape.integers(split)),
      expected: ([first, second]) => embedding(split, Float64Array.of(...first!, ...second!), 6),
      gradients: (dOut) => {
        const whole = embeddingBackward(dOut, split, 12, 6);
        return { first: whole.slice(0, 30), second: whole.slice(30) };
      },
    },
    {
      op: "sliceRows",
      size: "rows 2 to 5 of 7 x 5",
      inputs: { x: normals(7, 5) },
      run: (_, [x]) => sliceRows(x!, 2, 3),
      expected: ([x]) => x!.slice(10, 25),
      gradients: (dOut) => ({ x: Float64Array.from({ length: 35 }, (_, i) => dOut[i - 10] ?? 0) }),
    },
    {
      op: "concatRows",
      size: "3 + 1 + 5 rows of 7, one tensor twice",
      inputs: { a: normals(3, 7), b: normals(1, 7), c: normals(5, 7) },
      run: (_, [a, b, c]) => concatRows([a!, b!, c!, b!]),
      expected: ([a, b, c]) => Float64Array.of(...a!, ...b!, ...c!, ...b!),
      gradients: (dOut) => ({
        a: dOut.slice(0, 21),
        b: dOut.slice(21, 28).map((value, i) => value + dOut[63 + i]!),
        c: dOut.slice(28, 63),
      }),
    },
  );
  for (const headDim of [1, 6, 8]) {
    // Heads of columns 3 to 3 + 2 headDim of 5 rows; joined, each is padded to a multiple of 4.
    const width = 3 + 2 * headDim + 1;
    const padded = Math.ceil(headDim / 4) * 4;
    const at = (i: number) => ({ row: Math.floor(i / (2 * padded)), head: Math.floor(i / padded) % 2, e: i % padded });
    cases.push({
      op: "splitHeads, joinHeads",
      size: `2 heads of ${headDim}`,
      inputs: { x: normals(5, width) },
      run: (_, [x]) => joinHeads(splitHeads(x!, 3, 2, headDim), 2),
      expected: ([x]) =>
        Float64Array.from({ length: 10 * padded }, (_, i) => {
          const { row, head, e } = at(i);
          return e < headDim ? x![row * width + 3 + head * headDim + e]! : 0;
        }),
      gradients: (dOut) => {
        const dX = new Float64Array(5 * width);
        dOut.forEach((value, i) => {
          const { row, head, e } = at(i);
          if (e < headDim) dX[row * width + 3 + head * headDim + e] = value;
        });
        return { x: dX };
      },
    });
  }
  return cases;
}

function attentionCases(normals: Normals): OpCase[] {
  const cases: OpCase[] = [];
  for (const headDim of [2, 6, 8, 64, 128]) {
    const positions = [0, 1, 5, 0, 300];
    const shape = { heads: 3, headDim, ropeTheta: 10000 };
    cases.push({
      op: "rope",
      size: `5 rows, 3 heads of ${headDim}`,
      inputs: { x: normals(15, headDim) },
      run: (tape, [x]) => {
        const angles = ropeAngles(301, headDim, 10000);
        return rope(x!, tape.integers(positions), tape.tensor(angles, 1, angles.length));
      },
      expected: ([x]) => ropeReference.rope(x!, positions, shape),
      gradients: (dOut) => ({ x: ropeReference.ropeBackward(dOut, positions, shape) }),
    });
  }
  const shapes: attentionReference.AttentionShape[] = [
    { heads: 1, kvHeads: 1, headDim: 2, queryLengths: [1] },
    { heads: 4, kvHeads: 4, headDim: 6, queryLengths: [3, 1, 7, 2] },
    { heads: 6, kvHeads: 3, headDim: 16, queryLengths: [5, 33] },
    { heads: 4, kvHeads: 1, headDim: 32, queryLengths: [31, 1, 32, 3] },
    { heads: 8, kvHeads: 1, headDim: 8, queryLengths: [13, 65] },
    { heads: 3, kvHeads: 3, headDim: 64, queryLengths: [17, 9] },
    { heads: 2, kvHeads: 1, headDim: 128, queryLengths: [6, 11] },
    { heads: 4, kvHeads: 2, headDim: 20, queryLengths: [1, 4, 2], keyLengths: [6, 9, 2] },
  ];
  for (const shape of shapes) {
    const { heads, kvHeads, headDim, queryLengths, keyLengths = queryLengths } = shape;
    const rows = queryLengths.reduce((a, b) => a + b);
    const keys = keyLengths.reduce((a, b) => a + b);
    cases.push({
      op: "attention",
      size: `heads ${heads}:${kvHeads} of ${headDim}, rows ${queryLengths}, keys ${keyLengths}`,
      // Large scores too, so that softmax is sharp in places.
      inputs: {
        query: normals(rows * heads, headDim, 2),
        key: normals(keys * kvHeads, headDim),
        value: normals(keys * kvHeads, headDim),
      },
      run: (tape, [q, k, v]) => attention(q!, k!, v!, new Sequences(tape, { queryLengths, keyLengths }), shape),
      expected: ([q, k, v]) => attentionReference.attention(q!, k!, v!, shape),
      gradients: (dOut, [q, k, v]) => {
        const { dQ, dK, dV } = attentionReference.attentionBackward(dOut, q!, k!, v!, shape);
        return { query: dQ, key: dK, value: dV };
      },
    });
  }
  return cases;
}

function lossCases(normals: Normals, integers: Draw): OpCase[] {
  const cases: OpCase[] = [];
  for (const [rows, size, vocabulary, blockElements] of [
    [1, 1, 1, 1],
    [3, 5, 7, 1000],
    [13, 37, 131, 13 * 64],
    [5, 16, 200, 5 * 128],
  ] as const) {
    const targets = integers(rows, vocabulary);
    targets[0] = vocabulary - 1;
    const logits = (hidden: Float64Array, head: Float64Array) => linearReference.linear(hidden, head, size);
    cases.push({
      op: "softmaxCrossEntropy",
      size: `${rows} x ${size}, vocabulary ${vocabulary}, blocks of ${Math.max(64, blockElements / rows)}`,
      inputs: { hidden: normals(rows, size), head: normals(vocabulary, size) },
      run: (tape, [hidden, head]) => tokenLogProbs(hidden!, head!, tape.integers(targets), blockElements),
      expected: ([hidden, head]) => losses.logProbs(logits(hidden!, head!), targets, vocabulary),
      gradients: (dOut, [hidden, head]) => {
        const dLogits = losses.logProbsBackward(dOut, logits(hidden!, head!), targets, vocabulary);
        const { dX, dWeight } = linearReference.linearBackward(dLogits, hidden!, head!, size);
        return { hidden: dX, head: dWeight };
      },
    });
  }
  for (const [rows, size] of [
    [1, 1],
    [3, 5],
    [19, 67],
  ] as const) {
    const weights = Float64Array.from({ length: rows }, (_, i) => (i % 3 === 1 ? 0 : 1 / (i + 1)));
    const total = weights.reduce((a, b) => a + b);
    if (size > 1) {
      cases.push({
        op: "cosineLoss",
        size: `${rows} x ${size}`,
        inputs: { a: normals(rows, size, 3), b: normals(rows, size, 0.2) },
        run: (_, [a, b]) => cosineDistance(a!, b!),
        expected: ([a, b]) => losses.cosineDistance(a!, b!, size),
        gradients: (dOut, [a, b]) => ({
          a: losses.cosineDistanceBackward(dOut, a!, b!, size),
          b: losses.cosineDistanceBackward(dOut, b!, a!, size),
        }),
      });
    }
    cases.push({
      op: "mse",
      size: `${rows} x ${size}, masked`,
      inputs: { a: normals(rows, size), b: normals(rows, size) },
      run: (_, [a, b]) => meanSquareError(a!, b!, weights),
      expected: ([a, b]) =>
        Float64Array.of(losses.meanSquare(a!, b!, size).reduce((sum, v, i) => sum + (v * weights[i]!) / total, 0)),
      gradients: (dOut, [a, b]) => {
        const dRows = weights.map((weight) => (dOut[0]! * weight) / total);
        return {
          a: losses.meanSquareBackward(dRows, a!, b!, size),
          b: losses.meanSquareBackward(dRows, b!, a!, size),
        };
      },
    });
  }
  const rows = 67;
  const settings: losses.PolicySettings = {
    old: normals(rows, 1, 0.3).values,
    advantages: normals(rows, 1).values,
    reference: normals(rows, 1, 0.3).values,
    clipLow: 0.2,
    clipHigh: 0.28,
    klCoefficient: 0.05,
  };
  const weights = normals(rows, 1);
  cases.push({
    op: "clippedPolicyLoss",
    size: `${rows} tokens`,
    inputs: { logProbs: normals(rows, 1, 0.3), weights: { ...weights, isConstant: true } },
    run: (_, [logProbs, w]) => weightedSum(clippedPolicyLoss(logProbs!, settings), w!),
    expected: ([logProbs, w]) =>
      Float64Array.of(losses.clippedPolicy(logProbs!, settings).reduce((sum, v, i) => sum + v * w![i]!, 0)),
    gradients: (dOut, [logProbs, w]) => ({
      logProbs: losses.clippedPolicyBackward(
        w!.map((weight) => weight * dOut[0]!),
        logProbs!,
        settings,
      ),
    }),
  });
  return cases;
}
