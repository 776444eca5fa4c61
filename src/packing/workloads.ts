/** Lists of item lengths (tokens) to pack: drawn at random, or built so that an algorithm does badly. */
import { Random } from "../random/random";

/** Streams of the generator, so that one seed gives independent draws. */
const STREAM = { uniform: 401, order: 402, sample: 403 } as const;

export const TRAPS = ["ffd", "ff", "nf", "halves"] as const;
/**
 * - `ffd` the family on which First Fit Decreasing takes 11 bins where 9 would do: the textbook's 11/9.
 * - `ff` short items first: First Fit takes 10 bins where 6 would do: the textbook's 5/3.
 * - `nf` long and short in turn: Next Fit leaves half of every bin empty.
 * - `halves` items just over half a bin: no packing comes near the sum of the lengths.
 */
export type Trap = (typeof TRAPS)[number];

export interface Workload {
  lengths: number[];
  /** The capacity for which it was built. */
  capacity: number;
}

const times = (count: number, length: number): number[] => new Array<number>(count).fill(length);

/** A list of lengths on which an algorithm does badly, for bins of 512 tokens. */
export function trap(name: Trap): Workload {
  const capacity = 512;
  switch (name) {
    case "ffd":
      // With e = 8: 6 of 1/2 + e, 6 of 1/4 + 2e, 6 of 1/4 + e, 12 of 1/4 - 2e. Nine bins can be filled to the brim.
      return { capacity, lengths: [...times(6, 264), ...times(6, 144), ...times(6, 136), ...times(12, 112)] };
    case "ff":
      // 6 each of just over 1/7, 1/3 and 1/2: one of each makes a bin, but the short ones come first.
      return { capacity, lengths: [...times(6, 75), ...times(6, 172), ...times(6, 258)] };
    case "nf":
      return { capacity, lengths: Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? 256 : 12)) };
    case "halves":
      return { capacity, lengths: [270, 260, 300, 280, 265, 290, 90, 60, 110, 70] };
  }
}

/** `count` lengths, each equally likely from `shortest` to `longest`. */
export function uniformLengths(seed: number, count: number, shortest: number, longest: number): number[] {
  const random = new Random(seed, STREAM.uniform);
  return Array.from({ length: count }, () => shortest + random.int(longest - shortest + 1));
}

/** The items in a random order. Seed 0 keeps the order as it is. */
export function shuffled<T>(seed: number, items: readonly T[]): T[] {
  return seed === 0 ? [...items] : new Random(seed, STREAM.order).shuffle(items);
}

/** `count` different items in a random order, or all of them where there are fewer. */
export function sampled<T>(seed: number, count: number, items: readonly T[]): T[] {
  return new Random(seed, STREAM.sample).shuffle(items).slice(0, count);
}
