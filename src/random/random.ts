/**
 * The one random generator of the project. It is counter-based (every number is a hash of seed, stream and counter), so
 * that TypeScript and WGSL (shaders/common/random.wgsl) draw the same numbers in any order.
 * Source: the pcg3d hash of Jarzynski and Olano, "Hash Functions for GPU Rendering", JCGT 2020, then the 32-bit
 * finalizer of MurmurHash3: alone, pcg3d hardly changes the upper bits when the inputs differ in theirs.
 */

/** 32 random bits for a seed, a stream (a sequence, a purpose) and a counter, each taken as u32. */
export function randomU32(seed: number, stream: number, counter: number): number {
  let x = (Math.imul(seed, 1664525) + 1013904223) | 0;
  let y = (Math.imul(stream, 1664525) + 1013904223) | 0;
  let z = (Math.imul(counter, 1664525) + 1013904223) | 0;
  x = (x + Math.imul(y, z)) | 0;
  y = (y + Math.imul(z, x)) | 0;
  z = (z + Math.imul(x, y)) | 0;
  x ^= x >>> 16;
  y ^= y >>> 16;
  z ^= z >>> 16;
  x = (x + Math.imul(y, z)) | 0;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return (x ^ (x >>> 16)) >>> 0;
}

/** A number in [0, 1) with 24 random bits, exactly representable in f32. */
export function randomUniform(seed: number, stream: number, counter: number): number {
  return (randomU32(seed, stream, counter) >>> 8) / 16777216;
}

/** A sequence of draws from one stream. */
export class Random {
  private counter = 0;

  constructor(
    readonly seed: number,
    readonly stream = 0,
  ) {}

  /** In [0, 1). */
  uniform(): number {
    return randomUniform(this.seed, this.stream, this.counter++);
  }

  /** An integer in [0, bound), for bounds up to 2^24; larger ones would leave numbers out. */
  int(bound: number): number {
    return Math.floor(this.uniform() * bound);
  }

  chance(probability: number): boolean {
    return this.uniform() < probability;
  }

  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new RangeError("pick: the list is empty");
    return items[this.int(items.length)] as T;
  }

  /** A new array in random order (Fisher-Yates). */
  shuffle<T>(items: readonly T[]): T[] {
    const result = [...items];
    for (let i = result.length - 1; i > 0; i--) {
      const j = this.int(i + 1);
      [result[i], result[j]] = [result[j] as T, result[i] as T];
    }
    return result;
  }

  /** A normal deviate with mean 0 and variance 1 (Box-Muller). */
  normal(): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.uniform()));
    return radius * Math.cos(2 * Math.PI * this.uniform());
  }
}
