/** The values of a noise link, the same on every engine. */
import type { Random } from "../random/random";

export const NOISE_STREAM = 0x2015e;

/** Random directions of one length, [rows, size]. */
export function noiseRows(random: Random, rows: number, size: number, length: number): Float32Array {
  const values = new Float32Array(rows * size);
  for (let row = 0; row < rows; row++) {
    const vector = Float64Array.from({ length: size }, () => random.normal());
    const own = Math.hypot(...vector);
    for (let i = 0; i < size; i++) values[row * size + i] = ((vector[i] as number) * length) / own;
  }
  return values;
}
