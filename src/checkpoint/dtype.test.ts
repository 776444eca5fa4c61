/** Number formats against definitions of their own: every code of 16 bits, neighbours, ties, and typed arrays. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  decodeBf16,
  decodeF16,
  decodeTensor,
  decodeTensorF32,
  encodeBf16,
  encodeF16,
  encodeTensor,
  firstNotFinite,
} from "./dtype";

const codes = Array.from({ length: 65536 }, (_, code) => code);

describe("bf16", () => {
  it("decodes to the f32 whose upper half it is", () => {
    const bits = new Uint32Array(1);
    const value = new Float32Array(bits.buffer);
    const wrong = codes.filter((code) => {
      bits[0] = code * 65536;
      return !Object.is(decodeBf16(code), value[0]);
    });
    expect(wrong).toEqual([]);
    expect(decodeBf16(0x3f80)).toBe(1);
    expect(decodeBf16(0xc049)).toBe(-3.140625);
  });

  it("gives every code but NaNs back", () => {
    expect(codes.filter((code) => !Number.isNaN(decodeBf16(code)) && encodeBf16(decodeBf16(code)) !== code)).toEqual(
      [],
    );
    expect(decodeBf16(encodeBf16(Number.NaN))).toBeNaN();
  });

  it("rounds to nearest, ties to even, and overflows to infinity", () => {
    expect(encodeBf16(1 + 2 ** -8)).toBe(0x3f80);
    expect(encodeBf16(1 + 3 * 2 ** -8)).toBe(0x3f82);
    expect(encodeBf16(1 + 2 ** -8 + 2 ** -20)).toBe(0x3f81);
    expect(decodeBf16(encodeBf16(3.4e38))).toBe(Number.POSITIVE_INFINITY);
    fc.assert(
      fc.property(fc.float({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const code = encodeBf16(value);
        // The neighbours of the chosen code are no nearer. (Beyond the last finite one there is none.)
        if (Number.isFinite(decodeBf16(code)) && (code & 0x7fff) > 0 && (code & 0x7fff) < 0x7f7f) {
          const error = Math.abs(decodeBf16(code) - value);
          expect(Math.abs(decodeBf16(code + 1) - value)).toBeGreaterThanOrEqual(error);
          expect(Math.abs(decodeBf16(code - 1) - value)).toBeGreaterThanOrEqual(error);
        }
      }),
    );
  });
});

describe("f16", () => {
  it("decodes ones, subnormals, the largest number, infinities and NaN", () => {
    expect([0x3c00, 0xc000, 0x7bff, 0x0400, 0x0001, 0x03ff].map(decodeF16)).toEqual([
      1,
      -2,
      65504,
      2 ** -14,
      2 ** -24,
      1023 * 2 ** -24,
    ]);
    expect([0x7c00, 0xfc00].map(decodeF16)).toEqual([Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]);
    expect(decodeF16(0x7e00)).toBeNaN();
    expect(Object.is(decodeF16(0x8000), -0)).toBe(true);
  });

  it("rises with the code", () => {
    const positive = codes.slice(1, 0x7c01);
    expect(positive.filter((code) => !(decodeF16(code) > decodeF16(code - 1)))).toEqual([]);
    expect(positive.filter((code) => decodeF16(code | 0x8000) !== -decodeF16(code))).toEqual([]);
  });

  it("gives every code but NaNs back", () => {
    expect(codes.filter((code) => !Number.isNaN(decodeF16(code)) && encodeF16(decodeF16(code)) !== code)).toEqual([]);
    expect(decodeF16(encodeF16(Number.NaN))).toBeNaN();
  });

  it("rounds midpoints to the even code and everything else to the nearer one", () => {
    const wrong = codes.slice(0, 0x7bff).filter((code) => {
      const [below, above] = [decodeF16(code), decodeF16(code + 1)];
      const middle = (below + above) / 2;
      const nudge = (above - below) * 1e-6;
      const even = code % 2 === 0 ? code : code + 1;
      return encodeF16(middle) !== even || encodeF16(middle - nudge) !== code || encodeF16(middle + nudge) !== code + 1;
    });
    expect(wrong).toEqual([]);
    expect(encodeF16(65519.99)).toBe(0x7bff);
    expect(encodeF16(65520)).toBe(0x7c00);
    expect(encodeF16(-1e30)).toBe(0xfc00);
    expect(encodeF16(1e-30)).toBe(0);
  });
});

describe("tensors", () => {
  it("reads little-endian bytes at any alignment", () => {
    const bytes = new Uint8Array([0xff, 0x80, 0x3f, 0x00, 0xc0]).subarray(1);
    expect([...decodeTensor("BF16", bytes)]).toEqual([1, -2]);
    expect([...decodeTensor("F16", new Uint8Array([0x00, 0x3c]))]).toEqual([1]);
    expect([...decodeTensor("F32", new Uint8Array([0, 0, 0, 0, 0, 0, 0, 0x40, 0x3f]).subarray(5))]).toEqual([0.75]);
  });

  it("gives f32 values back unchanged", () => {
    fc.assert(
      fc.property(fc.float32Array(), (values) => {
        expect([...decodeTensor("F32", encodeTensor("F32", values))]).toEqual([...values]);
      }),
    );
  });

  it("gives as f32 what it gives as f64, for every code", () => {
    const every = new Uint8Array(Uint16Array.from(codes).buffer);
    for (const dtype of ["BF16", "F16", "F32"] as const) {
      // As F32 the same bytes are 32,768 numbers of all sizes.
      expect([...decodeTensorF32(dtype, every)]).toEqual([...decodeTensor(dtype, every)]);
    }
  });
});

describe("firstNotFinite", () => {
  it.each(["F32", "BF16", "F16"] as const)(
    "finds every kind at every place, and nothing in sound values: %s",
    (dtype) => {
      for (const length of [0, 1, 2, 3, 6, 7]) {
        const sound = Array.from({ length }, (_, i) => (i % 2 === 0 ? -1 : 1) * 10 ** (i - 3));
        expect(firstNotFinite(dtype, encodeTensor(dtype, sound))).toBeUndefined();
        for (let place = 0; place < length; place++) {
          for (const bad of [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN]) {
            const values = sound.with(place, bad);
            expect(firstNotFinite(dtype, encodeTensor(dtype, values)), `${bad} at ${place} of ${length}`).toBe(place);
          }
        }
      }
      const largest = { F32: 3.4e38, BF16: 3.38e38, F16: 65504 }[dtype];
      expect(firstNotFinite(dtype, encodeTensor(dtype, [largest, -largest, 0]))).toBeUndefined();
    },
  );
});
