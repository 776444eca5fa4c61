import { describe, expect, it } from "vitest";
import { Random } from "../random/random";
import { orthonormalProjection, paddingProjection, RidgeFit } from "./ridge";
import { shuffleMessages } from "./shuffle";

const random = new Random(4);
const normals = (count: number) => Float64Array.from({ length: count }, () => random.normal());

/** W h for rows of h. */
const apply = (matrix: ArrayLike<number>, h: ArrayLike<number>, from: number, to: number) =>
  Float64Array.from({ length: (h.length / from) * to }, (_, i) => {
    const [row, out] = [Math.floor(i / to), i % to];
    let sum = 0;
    for (let j = 0; j < from; j++) sum += matrix[out * from + j]! * h[row * from + j]!;
    return sum;
  });

describe("RidgeFit", () => {
  it("finds the matrix behind noiseless pairs, in whatever blocks they come", () => {
    const [from, to, rows] = [5, 3, 40];
    const [truth, hidden] = [normals(from * to), normals(rows * from)];
    const targets = apply(truth, hidden, from, to);
    const fit = new RidgeFit(from, to);
    fit.add(hidden.subarray(0, 7 * from), targets.subarray(0, 7 * to));
    fit.add(hidden.subarray(7 * from), targets.subarray(7 * to));
    expect(fit.count).toBe(rows);
    fit.solve(0).forEach((value, i) => {
      expect(value).toBeCloseTo(truth[i]!, 10);
    });
  });

  it("is the minimum: the gradient of the penalised error vanishes", () => {
    const [from, to, rows, lambda] = [6, 4, 9, 0.03];
    const [hidden, targets] = [normals(rows * from), normals(rows * to)];
    const fit = new RidgeFit(from, to);
    fit.add(hidden, targets);
    const matrix = fit.solve(lambda);
    const outputs = apply(matrix, hidden, from, to);
    for (let out = 0; out < to; out++) {
      for (let i = 0; i < from; i++) {
        let slope = lambda * rows * matrix[out * from + i]!;
        for (let r = 0; r < rows; r++)
          slope += (outputs[r * to + out]! - targets[r * to + out]!) * hidden[r * from + i]!;
        expect(Math.abs(slope)).toBeLessThan(1e-10);
      }
    }
  });

  it("shrinks towards zero as lambda grows", () => {
    const fit = new RidgeFit(2, 2);
    fit.add([1, 0, 0, 1], [1, 0, 0, 1]);
    // (I + 2 lambda I) W = I.
    fit.solve(0.5).forEach((value, i) => {
      expect(value).toBeCloseTo([0.5, 0, 0, 0.5][i]!, 12);
    });
  });

  it("says what is wrong with its pairs", () => {
    const fit = new RidgeFit(3, 2);
    expect(() => fit.solve()).toThrow("there are no pairs");
    expect(() => fit.add(normals(3), normals(4))).toThrow("3 values in rows of 3 and 4 in rows of 2 make no pairs");
    expect(() => fit.add([1, Number.NaN, 2], [1, 2])).toThrow("the hidden states have a value of NaN");
    expect(() => fit.add([1, 2, 3], [1, Number.POSITIVE_INFINITY])).toThrow("the targets have a value of Infinity");
    expect(fit.count).toBe(0);
    fit.add([1, 2, 3], [1, 2]);
    expect(() => fit.solve(0)).toThrow("1 pairs determine no matrix of 3 inputs at lambda 0");
    expect(() => fit.solve(-1)).toThrow("lambda is -1");
  });
});

describe("projections between widths", () => {
  it.each([
    [4, 7],
    [7, 4],
    [5, 5],
    [1, 3],
  ])("orthonormal from %i to %i", (from, to) => {
    const matrix = orthonormalProjection(from, to, 3);
    const short = Math.min(from, to);
    const element = (i: number, k: number) => (from < to ? matrix[k * from + i]! : matrix[i * from + k]!);
    for (let i = 0; i < short; i++) {
      for (let j = 0; j < short; j++) {
        let dot = 0;
        for (let k = 0; k < Math.max(from, to); k++) dot += element(i, k) * element(j, k);
        expect(dot).toBeCloseTo(i === j ? 1 : 0, 12);
      }
    }
    expect(orthonormalProjection(from, to, 3)).toEqual(matrix);
    if (short > 1) expect(orthonormalProjection(from, to, 4)).not.toEqual(matrix);
  });

  it("by padding and leaving out", () => {
    expect([...paddingProjection(2, 3)]).toEqual([1, 0, 0, 1, 0, 0]);
    expect([...paddingProjection(3, 2)]).toEqual([1, 0, 0, 0, 1, 0]);
  });
});

describe("shuffleMessages", () => {
  it.each([2, 3, 8, 500])("%i messages: a permutation without fixed points, the same for a seed", (count) => {
    for (let seed = 0; seed < 20; seed++) {
      const shuffled = shuffleMessages(count, seed);
      expect([...shuffled].sort((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, i) => i));
      expect(shuffled.some((place, i) => place === i)).toBe(false);
      expect(shuffleMessages(count, seed)).toEqual(shuffled);
    }
  });

  it("gives all derangements about equally often", () => {
    const seen = new Map<string, number>();
    for (let seed = 0; seed < 900; seed++) {
      const key = shuffleMessages(4, seed).join();
      seen.set(key, (seen.get(key) ?? 0) + 1);
    }
    // Four elements have nine; 100 each are expected, with a spread of about 9.4.
    expect(seen.size).toBe(9);
    for (const count of seen.values()) expect(Math.abs(count - 100)).toBeLessThan(40);
  });

  it("refuses a batch of one", () => {
    expect(() => shuffleMessages(1, 0)).toThrow("1 messages cannot all change places");
  });
});
