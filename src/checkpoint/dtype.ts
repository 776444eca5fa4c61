/**
 * The number formats of stored weights, converted by hand: browsers of today may lack Float16Array, and none has bf16.
 * Decoding is exact; encoding rounds to nearest, ties to even, as IEEE 754 and PyTorch do.
 */
import type { TensorDtype } from "./checkpoint";

export const BYTES_PER_ELEMENT: Readonly<Record<TensorDtype, number>> = { F32: 4, BF16: 2, F16: 2 };

const scratch = new DataView(new ArrayBuffer(4));

/** The f32 bits of every f16; filled on first use. */
let f16Bits: Uint32Array | undefined;

/** The value of 32 bits read as an f32. */
export function decodeF32(bits: number): number {
  scratch.setUint32(0, bits);
  return scratch.getFloat32(0);
}

/** bf16 (1 sign, 8 exponent, 7 mantissa bits) is the upper half of an f32. */
export function decodeBf16(bits: number): number {
  return decodeF32(bits << 16);
}

/** f16 (1 sign, 5 exponent, 10 mantissa bits; subnormals, infinities, NaN). */
export function decodeF16(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const mantissa = bits & 0x3ff;
  if (exponent === 0) {
    return sign * mantissa * 2 ** -24;
  }
  if (exponent === 0x1f) {
    return mantissa === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  }
  return sign * (1 + mantissa / 1024) * 2 ** (exponent - 15);
}

function f32Bits(value: number): number {
  scratch.setFloat32(0, value);
  return scratch.getUint32(0);
}

/** The nearest bf16 of a value (first rounded to f32, as weights are f32 before they are stored). */
export function encodeBf16(value: number): number {
  const bits = f32Bits(value);
  if (Number.isNaN(value)) {
    return 0x7fc0;
  }
  // Adding just under half a unit, plus the last kept bit, rounds ties to even; a carry moves into the exponent.
  return ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16) & 0xffff;
}

/** The nearest f16 of a value; too large ones become infinite. */
export function encodeF16(value: number): number {
  if (Number.isNaN(value)) {
    return 0x7e00;
  }
  const sign = Object.is(value, -0) || value < 0 ? 0x8000 : 0;
  const magnitude = Math.abs(value);
  if (magnitude >= 65520) {
    return sign | 0x7c00;
  }
  // The spacing of f16 values around the magnitude; the smallest is that of the subnormals.
  const exponent = Math.max(-14, Math.floor(Math.log2(magnitude)));
  const steps = roundHalfToEven(magnitude / 2 ** (exponent - 10));
  // A step count of 1024..2047 holds the hidden bit, so that adding it carries into the exponent field.
  return sign | (((exponent + 14) << 10) + steps);
}

function roundHalfToEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor;
}

/** All values of a tensor's little-endian bytes; f64, so that every stored format fits exactly. */
export function decodeTensor(dtype: TensorDtype, bytes: Uint8Array): Float64Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const values = new Float64Array(bytes.byteLength / BYTES_PER_ELEMENT[dtype]);
  for (let i = 0; i < values.length; i++) {
    values[i] =
      dtype === "F32"
        ? view.getFloat32(i * 4, true)
        : dtype === "BF16"
          ? decodeBf16(view.getUint16(i * 2, true))
          : decodeF16(view.getUint16(i * 2, true));
  }
  return values;
}

/**
 * All values of a tensor's little-endian bytes as f32, which holds every stored format exactly; several times faster than
 * `decodeTensor`, on little-endian machines as all that have WebGPU or WebAssembly. An F32 tensor is not copied.
 * @param bytes aligned to the elements, as `CheckpointTensor.read` gives them
 */
export function decodeTensorF32(dtype: TensorDtype, bytes: Uint8Array): Float32Array {
  const count = bytes.byteLength / BYTES_PER_ELEMENT[dtype];
  if (dtype === "F32") return new Float32Array(bytes.buffer, bytes.byteOffset, count);
  const values = new Float32Array(count);
  decodeInto(dtype, bytes, values, 0);
  return values;
}

/** As `decodeTensorF32`, into an array that is there already. @param offset in it, in elements */
export function decodeInto(dtype: TensorDtype, bytes: Uint8Array, out: Float32Array, offset: number): void {
  const count = bytes.byteLength / BYTES_PER_ELEMENT[dtype];
  if (dtype === "F32") {
    out.set(new Float32Array(bytes.buffer, bytes.byteOffset, count), offset);
    return;
  }
  const codes = new Uint16Array(bytes.buffer, bytes.byteOffset, count);
  const bits = new Uint32Array(out.buffer, out.byteOffset + offset * 4, count);
  if (dtype === "BF16") {
    for (let i = 0; i < count; i++) bits[i] = codes[i]! << 16;
  } else {
    f16Bits ??= Uint32Array.from({ length: 65536 }, (_, code) => f32Bits(decodeF16(code)));
    for (let i = 0; i < count; i++) bits[i] = f16Bits[codes[i]!]!;
  }
}

/**
 * Index of the first value that is infinite or no number. One of them spoils every logit, and kernels may assume that
 * there are none; a conversion to f16 that overflowed leaves them behind.
 * @param bytes little-endian, aligned to the elements
 */
export function firstNotFinite(dtype: TensorDtype, bytes: Uint8Array): number | undefined {
  const words = Math.floor(bytes.byteLength / 4);
  const view = new Uint32Array(bytes.buffer, bytes.byteOffset, words);
  // Exponents of nothing but ones; of half a word each where a word holds two values.
  const exponent = { F32: 0x7f800000, BF16: 0x7f800000, F16: 0x7c000000 }[dtype];
  const lower = exponent >>> 16;
  const isSound =
    dtype === "F32"
      ? (word: number) => (word & exponent) !== exponent
      : (word: number) => (word & exponent) !== exponent && (word & lower) !== lower;
  let at = 0;
  while (at < words && isSound(view[at]!)) at++;
  const values = decodeTensorF32(dtype, bytes.subarray(at * 4, Math.min(bytes.byteLength, at * 4 + 4)));
  const within = values.findIndex((value) => !Number.isFinite(value));
  return within < 0 ? undefined : (at * 4) / BYTES_PER_ELEMENT[dtype] + within;
}

/** Little-endian bytes of values in a stored format. */
export function encodeTensor(dtype: TensorDtype, values: ArrayLike<number>): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(values.length * BYTES_PER_ELEMENT[dtype]);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    if (dtype === "F32") {
      view.setFloat32(i * 4, value, true);
    } else {
      view.setUint16(i * 2, dtype === "BF16" ? encodeBf16(value) : encodeF16(value), true);
    }
  }
  return bytes;
}
