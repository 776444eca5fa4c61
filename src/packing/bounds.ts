/**
 * Lower bounds on the number of bins, to say how far a packing can be from the best one. Items longer than a bin count
 * as truncated to it, as in pack.ts. Lengths and capacity are tokens; pack.ts validates them.
 */

/** L1: the sum of the truncated lengths over the capacity, rounded up. */
export function sumLowerBound(lengths: readonly number[], capacity: number): number {
  return Math.ceil(lengths.reduce((sum, length) => sum + Math.min(length, capacity), 0) / capacity);
}

/**
 * L2, at least as strong as L1. For a threshold t of at most half a bin: items longer than capacity - t share a bin with
 * nothing of length t or more; items longer than half a bin need a bin each; what items from t to half a bin do not fit
 * beside the latter needs further bins. The best threshold wins.
 * Source: Martello and Toth, "Lower bounds and reduction procedures for the bin packing problem", 1990.
 */
export function martelloTothLowerBound(lengths: readonly number[], capacity: number): number {
  const items = lengths.map((length) => Math.min(length, capacity));
  const half = capacity / 2;
  let best = 0;
  // Between two item lengths the bound does not rise, so only lengths (and 0) need be tried.
  for (const threshold of new Set([0, ...items.filter((length) => length <= half)])) {
    const alone = items.filter((length) => length > capacity - threshold).length;
    const large = items.filter((length) => length > half && length <= capacity - threshold);
    const small = items.filter((length) => length <= half && length >= threshold);
    const room = large.length * capacity - sum(large);
    const bound = alone + large.length + Math.max(0, Math.ceil((sum(small) - room) / capacity));
    best = Math.max(best, bound);
  }
  return best;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
