/** The generator's exact values, and the basics of its quality along each of its three inputs. */
import { describe, expect, it } from "vitest";
import { Random, randomU32, randomUniform } from "./random";
import { RANDOM_VECTORS } from "./vectors";

type Input = "seed" | "stream" | "counter";
const inputs: Input[] = ["seed", "stream", "counter"];

/** A draw with one input varied and the other two fixed to small numbers. */
function draw(varied: Input, value: number, other: number): number {
  const at = { seed: other, stream: other + 1, counter: other + 2, [varied]: value };
  return randomU32(at.seed, at.stream, at.counter);
}

/** How far a count per cell is from uniform, in standard deviations of the chi-square statistic. */
function chiSquareDeviation(counts: Uint32Array): number {
  const expected = counts.reduce((a, b) => a + b) / counts.length;
  const statistic = counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
  return (statistic - (counts.length - 1)) / Math.sqrt(2 * (counts.length - 1));
}

describe("randomU32", () => {
  it("gives the known values", () => {
    for (const { seed, stream, counter, bits } of RANDOM_VECTORS) {
      expect(randomU32(seed, stream, counter)).toBe(bits);
      expect(randomUniform(seed, stream, counter)).toBe(Math.floor(bits / 256) / 2 ** 24);
    }
  });

  it("takes its inputs as u32", () => {
    expect(randomU32(-1, -2, -3)).toBe(randomU32(2 ** 32 - 1, 2 ** 32 - 2, 2 ** 32 - 3));
  });

  it.each(inputs)("fills bytes and pairs of neighbours evenly along the %s", (varied) => {
    for (let other = 0; other < 10; other++) {
      const bytes = [0, 8, 16, 24].map(() => new Uint32Array(256));
      const pairs = new Uint32Array(256);
      let previous = 0;
      for (let value = 0; value < 50000; value++) {
        const bits = draw(varied, value, other);
        bytes.forEach((counts, byte) => {
          counts[(bits >>> (8 * byte)) & 255]!++;
        });
        pairs[((previous >>> 28) << 4) | (bits >>> 28)]!++;
        previous = bits;
      }
      for (const counts of [...bytes, pairs]) {
        expect(Math.abs(chiSquareDeviation(counts))).toBeLessThan(5);
      }
    }
  });

  it.each(inputs)("changes about half of the output bits with any bit of the %s", (varied) => {
    for (let bit = 0; bit < 32; bit++) {
      let flipped = 0;
      const perBit = new Uint32Array(32);
      const trials = 4000;
      for (let value = 0; value < trials; value++) {
        const difference = draw(varied, value * 31, value % 97) ^ draw(varied, (value * 31) ^ (1 << bit), value % 97);
        for (let out = 0; out < 32; out++) {
          perBit[out]! += (difference >>> out) & 1;
          flipped += (difference >>> out) & 1;
        }
      }
      expect(flipped / trials / 32).toBeCloseTo(0.5, 1);
      for (const count of perBit) {
        expect(Math.abs(count / trials - 0.5)).toBeLessThan(0.1);
      }
    }
  });
});

describe("Random", () => {
  it("repeats itself for the same seed and stream only", () => {
    const sequence = (seed: number, stream: number) => {
      const random = new Random(seed, stream);
      return Array.from({ length: 20 }, () => random.uniform());
    };
    expect(sequence(5, 1)).toEqual(sequence(5, 1));
    expect(sequence(5, 1)).not.toEqual(sequence(5, 2));
    expect(sequence(5, 1)).not.toEqual(sequence(6, 1));
  });

  it("draws integers and picks evenly within the bound", () => {
    const random = new Random(1);
    const counts = new Uint32Array(7);
    for (let i = 0; i < 70000; i++) {
      counts[random.int(7)]!++;
    }
    expect(Math.abs(chiSquareDeviation(counts))).toBeLessThan(5);
    expect(random.pick(["only"])).toBe("only");
    expect(() => random.pick([])).toThrow(RangeError);
  });

  it("has chances as asked", () => {
    const random = new Random(2);
    const hits = Array.from({ length: 20000 }, () => random.chance(0.3)).filter(Boolean).length;
    expect(hits / 20000).toBeCloseTo(0.3, 1);
    expect(random.chance(0)).toBe(false);
    expect(random.chance(1)).toBe(true);
  });

  it("draws normals of mean 0, variance 1 and no skew, tails included", () => {
    const random = new Random(3);
    const draws = Array.from({ length: 100000 }, () => random.normal());
    const moment = (power: number) => draws.reduce((sum, x) => sum + x ** power, 0) / draws.length;
    expect(Math.abs(moment(1))).toBeLessThan(0.02);
    expect(Math.abs(moment(2) - 1)).toBeLessThan(0.03);
    expect(Math.abs(moment(3))).toBeLessThan(0.1);
    expect(Math.abs(moment(4) - 3)).toBeLessThan(0.2);
    expect(draws.every(Number.isFinite)).toBe(true);
  });

  it("shuffles into every order equally often and leaves the list alone", () => {
    const random = new Random(4);
    const items = ["a", "b", "c", "d"];
    const orders = new Map<string, number>();
    for (let i = 0; i < 24000; i++) {
      const order = random.shuffle(items).join("");
      orders.set(order, (orders.get(order) ?? 0) + 1);
    }
    expect(orders.size).toBe(24);
    expect(Math.abs(chiSquareDeviation(Uint32Array.from(orders.values())))).toBeLessThan(5);
    expect(items).toEqual(["a", "b", "c", "d"]);
  });
});
