/** The reference ops against values worked out by hand and against the properties that define them. */
import { describe, expect, it } from "vitest";
import { Random } from "../random/random";
import { attention } from "./attention";
import { embedding } from "./embedding";
import { linear } from "./linear";
import { rmsNorm } from "./rmsNorm";
import { rope } from "./rope";
import { softmax } from "./softmax";
import { swiglu } from "./swiglu";

const f64 = (...values: number[]) => Float64Array.from(values);

function normals(count: number, stream: number): Float64Array {
  const random = new Random(11, stream);
  return Float64Array.from({ length: count }, () => random.normal());
}

function expectClose(actual: Float64Array, expected: ArrayLike<number>, tolerance = 1e-12): void {
  expect(actual).toHaveLength(expected.length);
  const worst = actual.reduce((max, value, i) => Math.max(max, Math.abs(value - expected[i]!)), 0);
  expect(worst).toBeLessThan(tolerance);
}

describe("linear", () => {
  it("multiplies rows by a weight stored [out, in] and adds the bias", () => {
    const weight = f64(1, 2, 3, 10, 20, 30);
    expect(linear(f64(1, 0, 1, 0, 2, 0), weight, 3)).toEqual(f64(4, 40, 4, 40));
    expect(linear(f64(1, 0, 1), weight, 3, f64(0.5, -40))).toEqual(f64(4.5, 0));
  });
});

describe("embedding", () => {
  it("takes rows and refuses ids outside the table", () => {
    const table = f64(0, 1, 10, 11, 20, 21);
    expect(embedding([2, 0, 2], table, 2)).toEqual(f64(20, 21, 0, 1, 20, 21));
    expect(() => embedding([3], table, 2)).toThrow("token id 3 is outside the vocabulary of 3");
    expect(() => embedding([-1], table, 2)).toThrow(RangeError);
    expect(() => embedding([0.5], table, 2)).toThrow(RangeError);
  });
});

describe("rmsNorm", () => {
  it("divides by the root mean square, then scales", () => {
    expectClose(rmsNorm(f64(3, 4, -1, 1), f64(1, 2), 0), [3 / Math.sqrt(12.5), 8 / Math.sqrt(12.5), -1, 2]);
  });

  it("adds eps inside the root", () => {
    expectClose(rmsNorm(f64(1, 1), f64(1, 1), 3), [0.5, 0.5]);
    expect(rmsNorm(f64(0, 0), f64(1, 1), 1e-6)).toEqual(f64(0, 0));
  });
});

describe("rope", () => {
  const shape = { heads: 1, headDim: 4, ropeTheta: 100 };

  it("turns element i with element i + headDim / 2 by position * theta^(-2i / headDim)", () => {
    const [cos, sin] = [Math.cos, Math.sin];
    expectClose(rope(f64(1, 0, 0, 0), [3], shape), [cos(3), 0, sin(3), 0]);
    expectClose(rope(f64(0, 1, 0, 0), [3], shape), [0, cos(0.3), 0, sin(0.3)]);
    expectClose(rope(f64(0, 0, 0, 1), [3], shape), [0, -sin(0.3), 0, cos(0.3)]);
  });

  it("leaves position 0 alone and keeps lengths", () => {
    const x = normals(2 * 3 * 8, 0);
    const y = rope(x, [0, 57], { heads: 3, headDim: 8, ropeTheta: 10000 });
    expect(y.slice(0, 24)).toEqual(x.slice(0, 24));
    const square = (values: Float64Array) => values.reduce((sum, value) => sum + value * value, 0);
    expect(square(y)).toBeCloseTo(square(x), 10);
  });

  it("makes products of queries and keys depend on their distance alone", () => {
    const [q, k] = [normals(16, 1), normals(16, 2)];
    const product = (m: number, n: number) => {
      const turned = { heads: 1, headDim: 16, ropeTheta: 10000 };
      const right = rope(k, [n], turned);
      return rope(q, [m], turned).reduce((sum, value, i) => sum + value * right[i]!, 0);
    };
    expect(product(5, 2)).toBeCloseTo(product(103, 100), 9);
    expect(Math.abs(product(5, 2) - product(5, 3))).toBeGreaterThan(1e-3);
  });
});

describe("softmax", () => {
  it("gives probabilities by row, whatever the size of the values", () => {
    expectClose(softmax(f64(0, Math.log(3), 1000, 1000), 2), [0.25, 0.75, 0.5, 0.5]);
    expect(softmax(f64(0, Number.NEGATIVE_INFINITY), 2)).toEqual(f64(1, 0));
  });
});

describe("swiglu", () => {
  it("is x * sigmoid(x) times the other half", () => {
    expectClose(swiglu(f64(0, 1, -1), f64(5, 2, 2)), [0, 2 / (1 + Math.exp(-1)), -2 / (1 + Math.E)]);
    expect(swiglu(f64(-1000, 1000), f64(1, 1))).toEqual(f64(-0, 1000));
  });
});

describe("attention", () => {
  it("weighs values by exp(q k / sqrt(headDim)), the past only", () => {
    const shape = { heads: 1, kvHeads: 1, headDim: 4, queryLengths: [2] };
    const q = f64(1, 1, 1, 1, 2, 0, 0, 0);
    const k = f64(0, 0, 0, 0, Math.log(3), 0, 0, 0);
    const v = f64(1, 0, 0, 0, 0, 1, 0, 0);
    // The second query scores 0 and 2 log 3 / 2.
    expectClose(attention(q, k, v, shape), [1, 0, 0, 0, 0.25, 0.75, 0, 0]);
  });

  it("shares key heads among neighbouring query heads", () => {
    const [heads, kvHeads, headDim, length] = [6, 2, 4, 5];
    const q = normals(length * heads * headDim, 3);
    const k = normals(length * kvHeads * headDim, 4);
    const v = normals(length * kvHeads * headDim, 5);
    // repeat_interleave of transformers: heads 0, 1, 2 read key head 0, heads 3, 4, 5 read key head 1.
    const repeated = (x: Float64Array) =>
      Float64Array.from({ length: length * heads * headDim }, (_, at) => {
        const [t, head, i] = [Math.floor(at / (heads * headDim)), Math.floor(at / headDim) % heads, at % headDim];
        return x[(t * kvHeads + [0, 0, 0, 1, 1, 1][head]!) * headDim + i]!;
      });
    const shape = { heads, headDim, queryLengths: [length] };
    const grouped = attention(q, k, v, { ...shape, kvHeads });
    expectClose(grouped, attention(q, repeated(k), repeated(v), { ...shape, kvHeads: heads }));
  });

  it("keeps the sequences of a ragged batch apart, and continues after keys of the past", () => {
    const [heads, kvHeads, headDim] = [2, 1, 4];
    const [qRow, kvRow] = [heads * headDim, kvHeads * headDim];
    const lengths = [3, 1, 7];
    const q = normals(11 * qRow, 6);
    const k = normals(11 * kvRow, 7);
    const v = normals(11 * kvRow, 8);
    const shape = { heads, kvHeads, headDim };
    const together = attention(q, k, v, { ...shape, queryLengths: lengths });
    let start = 0;
    for (const length of lengths) {
      const rows = (x: Float64Array, row: number) => x.slice(start * row, (start + length) * row);
      const alone = attention(rows(q, qRow), rows(k, kvRow), rows(v, kvRow), { ...shape, queryLengths: [length] });
      expect(alone).toEqual(together.slice(start * qRow, (start + length) * qRow));
      start += length;
    }
    const lastRows = Float64Array.from([...q.slice(2 * qRow, 3 * qRow), ...q.slice(9 * qRow)]);
    const keys = (x: Float64Array) => Float64Array.from([...x.slice(0, 3 * kvRow), ...x.slice(4 * kvRow)]);
    const continued = attention(lastRows, keys(k), keys(v), { ...shape, queryLengths: [1, 2], keyLengths: [3, 7] });
    expect(continued).toEqual(Float64Array.from([...together.slice(2 * qRow, 3 * qRow), ...together.slice(9 * qRow)]));
  });
});
