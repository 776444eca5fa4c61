/** Codes against the definition, errors against their bound, and what must survive exactly. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dequantize, GROUP_SIZE, quantize } from "./quantize";

const finite = fc.float({ noNaN: true, noDefaultInfinity: true, min: Math.fround(-1e6), max: Math.fround(1e6) });
const groups = fc.array(fc.array(finite, { minLength: GROUP_SIZE, maxLength: GROUP_SIZE }), { minLength: 1 });

describe.each([4, 8] as const)("%i bits", (bits) => {
  it("are off by at most the steps' half, or in 4 bits by one where the other end of the range is cut", () => {
    fc.assert(
      fc.property(groups, (rows) => {
        const values = Float32Array.from(rows.flat());
        const restored = dequantize(quantize(values, GROUP_SIZE, bits));
        const tooFar = rows.flatMap((own, row) => {
          const largest = Math.max(...own.map(Math.abs));
          const allowed = (bits === 8 ? 0.5 * (largest / 127) : largest / 8) * 1.0001 + 1e-30;
          return own.filter((value, i) => Math.abs(value - restored[row * GROUP_SIZE + i]!) > allowed);
        });
        expect(tooFar).toEqual([]);
      }),
      { numRuns: 50 },
    );
  });

  it("keep zero, whole rows of zeros, and multiples of the step", () => {
    const values = new Float32Array(2 * GROUP_SIZE);
    const zero = 2 ** (bits - 1);
    for (let i = 0; i < GROUP_SIZE; i++) values[i] = (i % zero) - (i % 2) * zero + (i % 2);
    values[3] = bits === 8 ? -127 : -8;
    // Of zero the sign is lost.
    expect([...dequantize(quantize(values, GROUP_SIZE, bits))].map((value) => value + 0)).toEqual([...values]);
  });

  it("give any rows back alone", () => {
    const values = Float32Array.from({ length: 5 * 64 }, (_, i) => Math.sin(i));
    const matrix = quantize(values, 64, bits);
    expect([...dequantize(matrix, 2, 4)]).toEqual([...dequantize(matrix).subarray(2 * 64, 4 * 64)]);
  });

  it("name the row of a value that is not finite", () => {
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY]) {
      const values = new Float32Array(3 * GROUP_SIZE).fill(1);
      values[2 * GROUP_SIZE + 5] = bad;
      expect(() => quantize(values, GROUP_SIZE, bits)).toThrow(`row 2 is ${bad}`);
    }
    expect(() => quantize(new Float32Array(60), 30, bits)).toThrow("do not divide into groups of 32");
  });
});

it("lays 4-bit codes out with the even element in the lower half", () => {
  const values = new Float32Array(GROUP_SIZE).map((_, i) => i - 8);
  const { codes, scales } = quantize(values.fill(7, 16), GROUP_SIZE, 4);
  expect(scales[0]).toBe(1);
  expect([...codes.subarray(0, 8)]).toEqual([0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe]);
});
