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
import { attention, attentionInputs, ropeAngles } from "../ops/attention";
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
  for (const [rows, inSize, outSize] of sizes) {
    cases.push({
      op: "linear",
      size: `${rows} x ${inSize} -> ${outSize}, around something`,
      inputs: { x: normals(rows, inSize), weight: normals(outSize, inSize), plus: normals(rows, outSize) },
      run: (_, [x, w, plus]) => linear(x!, w!, undefined, plus!),
      expected: ([x, w, plus]) => linearReference.linear(x!, w!, inSize).map((value, i) => value + plus![i]!),
      gradients: (dOut, [x, w]) => {
        const { dX, dWeight } = linearReference.linearBackward(dOut, x!, w!, inSize);
        return { x: dX, weight: dWeight, plus: dOut };
      },
    });
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
    // Each head is padded to a multiple of 4.
    const pitch = Math.ceil(headDim / 4) * 4;
    const isElement = (i: number) => i % pitch < headDim;
    cases.push({
      op: "joinHeads, splitHeads",
      size: `2 heads of ${headDim}`,
      inputs: { x: normals(10, headDim) },
      run: (_, [x]) => joinHeads(splitHeads(joinHeads(x!, 2), 2, headDim), 2),
      expected: ([x]) => {
        let next = 0;
        return Float64Array.from({ length: 10 * pitch }, (_, i) => (isElement(i) ? x![next++]! : 0));
      },
      gradients: (dOut) => ({ x: dOut.filter((_, i) => isElement(i)) }),
    });
  }
  return cases;
}

function attentionCases(normals: Normals): OpCase[] {
  const cases: OpCase[] = [];
  for (const [headDim, hasNorms] of [
    [2, false],
    [6, true],
    [8, false],
    [64, true],
    [128, false],
  ] as const) {
    cases.push(attentionInputsCase(normals, headDim, hasNorms));
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
        keysValues: normals(keys * 2 * kvHeads, headDim),
      },
      run: (tape, [q, kv]) => attention(q!, kv!, new Sequences(tape, { queryLengths, keyLengths }), shape),
      expected: ([q, kv]) => {
        const [k, v] = unzip(kv!, kvHeads * headDim);
        return attentionReference.attention(q!, k, v, shape);
      },
      gradients: (dOut, [q, kv]) => {
        const [k, v] = unzip(kv!, kvHeads * headDim);
        const { dQ, dK, dV } = attentionReference.attentionBackward(dOut, q!, k, v, shape);
        return { query: dQ, keysValues: zip(dK, dV, kvHeads * headDim) };
      },
    });
  }
  cases.push(prefixedCase(normals, 3, 1, 10), prefixedCase(normals, 4, 4, 32), prefixedCase(normals, 34, 1, 8));
  return cases;
}

/** Two arrays whose rows stand by turns, `width` elements each. */
function zip(a: Float64Array, b: Float64Array, width: number): Float64Array {
  return Float64Array.from({ length: 2 * a.length }, (_, i) => {
    const row = Math.floor(i / (2 * width));
    const column = i % (2 * width);
    return column < width ? a[row * width + column]! : b[row * width + column - width]!;
  });
}

function unzip(both: Float64Array, width: number): [Float64Array, Float64Array] {
  const isFirst = (i: number) => i % (2 * width) < width;
  return [both.filter((_, i) => isFirst(i)), both.filter((_, i) => !isFirst(i))];
}

/** Heads out of a product whose rows belong to two sequences, the first with an earlier key and room for more. */
function attentionInputsCase(normals: Normals, headDim: number, hasNorms: boolean): OpCase {
  const [heads, kvHeads] = [3, 2];
  const columns = (heads + 2 * kvHeads) * headDim;
  const positions = [0, 1, 5, 0, 300];
  // Rows of keys and values: sequence 0 has its second to fourth row in 1 to 3, sequence 1 its two in 6 and 7, of 9.
  const places = [1, 2, 3, 6, 7];
  const keys = { starts: [0, 6], rows: 9 };
  const epsilon = NORM_EPSILON;
  const norms: Record<string, CaseInput> = hasNorms
    ? { queryNorm: normals(1, headDim), keyNorm: normals(1, headDim) }
    : {};
  /** The columns of q, k or v of each row. */
  const part = (x: Float64Array, start: number, count: number, width = columns) =>
    x.filter((_, i) => i % width >= start * headDim && i % width < (start + count) * headDim);
  const shape = (count: number) => ({ heads: count, headDim, ropeTheta: 10000 });
  const normed = (x: Float64Array, norm: Float64Array | undefined) =>
    norm ? rmsNormReference.rmsNorm(x, norm, epsilon) : x;
  const width = 2 * kvHeads * headDim;
  return {
    op: "attentionInputs",
    size: `5 rows, ${heads} and twice ${kvHeads} heads of ${headDim}${hasNorms ? ", norms" : ""}`,
    inputs: { qkv: normals(5, columns), ...norms },
    // The queries, then the keys and values: of both, gradients come at once.
    run: (tape, [qkv, query, key]) => {
      const table = ropeAngles(301, headDim, 10000);
      const sequences = new Sequences(tape, { queryLengths: [3, 2], keyLengths: [4, 2], keys, positions });
      const into = tape.zeros("earlier keys and values", 9 * 2 * kvHeads, headDim);
      const result = attentionInputs(qkv!, sequences, {
        heads,
        kvHeads,
        headDim,
        angles: tape.tensor(table, 1, table.length),
        norms: query && key && { query, key, epsilon },
        into,
      });
      return concatRows([result.query, result.keysValues]);
    },
    expected: ([qkv, queryNorm, keyNorm]) => {
      const q = ropeReference.rope(normed(part(qkv!, 0, heads), queryNorm), positions, shape(heads));
      const k = ropeReference.rope(normed(part(qkv!, heads, kvHeads), keyNorm), positions, shape(kvHeads));
      const both = zip(k, part(qkv!, heads + kvHeads, kvHeads), kvHeads * headDim);
      const placed = new Float64Array(9 * width);
      places.forEach((place, row) => {
        placed.set(both.slice(row * width, (row + 1) * width), place * width);
      });
      return Float64Array.of(...q, ...placed);
    },
    gradients: (dOut, [qkv, queryNorm, keyNorm]) => {
      const dQuery = dOut.slice(0, 5 * heads * headDim);
      const dPlaced = dOut.slice(dQuery.length);
      const [dKey, dValue] = unzip(
        Float64Array.from(places.flatMap((place) => [...dPlaced.slice(place * width, (place + 1) * width)])),
        kvHeads * headDim,
      );
      const back = (d: Float64Array, x: Float64Array, norm: Float64Array | undefined, count: number) => {
        const turned = ropeReference.ropeBackward(d, positions, shape(count));
        if (!norm) return { dX: turned, dWeight: undefined };
        return rmsNormReference.rmsNormBackward(turned, x, norm, epsilon);
      };
      const q = back(dQuery, part(qkv!, 0, heads), queryNorm, heads);
      const k = back(dKey, part(qkv!, heads, kvHeads), keyNorm, kvHeads);
      const rows = Array.from({ length: 5 }, (_, row) =>
        [q.dX, k.dX, dValue].flatMap((d, i) => {
          const own = (i === 0 ? heads : kvHeads) * headDim;
          return [...d.slice(row * own, (row + 1) * own)];
        }),
      );
      return {
        qkv: Float64Array.from(rows.flat()),
        ...(q.dWeight && k.dWeight ? { queryNorm: q.dWeight, keyNorm: k.dWeight } : {}),
      };
    },
  };
}

/** Sequences that go on from frozen prompts, two of them from the same, with room left between their own keys. */
function prefixedCase(normals: Normals, heads: number, kvHeads: number, headDim: number): OpCase {
  const prompts = { starts: [3, 0, 3, 40], lengths: [35, 2, 35, 0] };
  const queryLengths = [2, 1, 5, 3];
  const keyLengths = [3, 1, 36, 3];
  const keys = { starts: [0, 4, 5, 45], rows: 50 };
  const width = kvHeads * headDim;
  /** Keys or values of each sequence, its prompt's first; and the places of its own among them. */
  const gathered = (prefix: Float64Array, own: Float64Array) => {
    const rows = queryLengths.map((_, s) => [
      ...prefix.slice(prompts.starts[s]! * width, (prompts.starts[s]! + prompts.lengths[s]!) * width),
      ...own.slice(keys.starts[s]! * width, (keys.starts[s]! + keyLengths[s]!) * width),
    ]);
    return Float64Array.from(rows.flat());
  };
  const shape = {
    heads,
    kvHeads,
    headDim,
    queryLengths,
    keyLengths: keyLengths.map((length, s) => length + prompts.lengths[s]!),
  };
  const all = (kv: Float64Array, prefix: Float64Array) => {
    const [k, v] = unzip(kv, width);
    const [prefixK, prefixV] = unzip(prefix, width);
    return [gathered(prefixK, k), gathered(prefixV, v)] as const;
  };
  const scattered = (d: Float64Array) => {
    const own = new Float64Array(keys.rows * width);
    let at = 0;
    queryLengths.forEach((_, s) => {
      at += prompts.lengths[s]! * width;
      own.set(d.slice(at, at + keyLengths[s]! * width), keys.starts[s]! * width);
      at += keyLengths[s]! * width;
    });
    return own;
  };
  return {
    op: "attention",
    size: `heads ${heads}:${kvHeads} of ${headDim}, prompts of ${prompts.lengths}, rows ${queryLengths}`,
    inputs: {
      query: normals(11 * heads, headDim, 2),
      keysValues: normals(keys.rows * 2 * kvHeads, headDim),
      prefix: { ...normals(40 * 2 * kvHeads, headDim), isConstant: true },
    },
    run: (tape, [q, kv, prefix]) => {
      const sequences = new Sequences(tape, { queryLengths, keyLengths, keys, prefix: prompts });
      return attention(q!, kv!, sequences, { heads, kvHeads, prefix: prefix! });
    },
    expected: ([q, kv, prefix]) => attentionReference.attention(q!, ...all(kv!, prefix!), shape),
    gradients: (dOut, [q, kv, prefix]) => {
      const { dQ, dK, dV } = attentionReference.attentionBackward(dOut, q!, ...all(kv!, prefix!), shape);
      return { query: dQ, keysValues: zip(scattered(dK), scattered(dV), width) };
    },
  };
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
  cases.push({
    op: "clippedPolicyLoss",
    size: `${rows} tokens`,
    inputs: { logProbs: normals(rows, 1, 0.3) },
    run: (_, [logProbs]) => clippedPolicyLoss(logProbs!, settings),
    expected: ([logProbs]) => losses.clippedPolicy(logProbs!, settings),
    gradients: (dOut, [logProbs]) => ({ logProbs: losses.clippedPolicyBackward(dOut, logProbs!, settings) }),
  });
  // Positive, so that the sum is as large as its terms and its relative error means something.
  const positive = () => {
    const drawn = normals(rows, 1);
    return { ...drawn, values: drawn.values.map(Math.abs) };
  };
  cases.push({
    op: "weightedSum",
    size: `${rows} rows`,
    inputs: { x: positive(), weights: { ...positive(), isConstant: true } },
    run: (_, [x, w]) => weightedSum(x!, w!),
    expected: ([x, w]) => Float64Array.of(x!.reduce((sum, value, i) => sum + value * w![i]!, 0)),
    gradients: (dOut, [, w]) => ({ x: w!.map((weight) => weight * dOut[0]!) }),
  });
  return cases;
}
