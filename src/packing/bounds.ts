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
  const items = lengths.map((length) => Math.min(length, capacity)).sort((a, b) => b - a);
  /** sums[n]: tokens of the n longest items. */
  const sums = [0];
  for (const length of items) sums.push((sums.at(-1) as number) + length);
  const tokensOf = (from: number, to: number) => (sums[to] as number) - (sums[from] as number);

  let big = 0;
  while (big < items.length && (items[big] as number) > capacity / 2) big++;
  let best = 0;
  let alone = big;
  let end = big;
  // Between two item lengths the bound does not rise, so only lengths (and 0) need be tried, here from long to short:
  // ever fewer items must be alone, ever more count as small ones.
  for (const threshold of new Set([...items.slice(big), 0])) {
    while (alone > 0 && (items[alone - 1] as number) <= capacity - threshold) alone--;
    while (end < items.length && (items[end] as number) >= threshold) end++;
    const room = (big - alone) * capacity - tokensOf(alone, big);
    best = Math.max(best, big + Math.max(0, Math.ceil((tokensOf(big, end) - room) / capacity)));
  }
  return best;
}
