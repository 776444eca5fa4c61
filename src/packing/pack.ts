/**
 * Bin packing of tool outputs into System 1 calls: items are documents, lengths and capacity are tokens. First Fit
 * Decreasing and the rivals that it is compared with. One generator does the work and tells every comparison and
 * placement, so that what a picture shows step by step is what `pack` computes.
 * Source: the textbook algorithms; MARS (arXiv 2510.04935) uses First Fit Decreasing, with items longer
 * than a bin truncated into a bin of their own.
 */
import { sumLowerBound } from "./bounds";

export const PACKING_ALGORITHMS = ["ffd", "ff", "nf", "bf", "one"] as const;

/**
 * - `ffd` First Fit Decreasing: longest first, each into the first bin that has room.
 * - `ff` First Fit: in the given order, each into the first bin that has room.
 * - `nf` Next Fit: in the given order; only the last bin stays open.
 * - `bf` Best Fit: in the given order, each into the bin that it leaves least room in.
 * - `one`: every item in a bin of its own.
 */
export type PackingAlgorithm = (typeof PACKING_ALGORITHMS)[number];

export interface Bin {
  /** Indices of items in the order in which they were placed. */
  items: number[];
  /** Tokens in use, at most the capacity. */
  used: number;
}

export interface Packing {
  /** In the order in which they were opened. */
  bins: Bin[];
  capacity: number;
  /** No packing has fewer bins: the sum of the truncated lengths over the capacity, rounded up. */
  lowerBound: number;
  /** Used tokens over tokens of all bins, 0 to 1; 0 without bins. */
  utilization: number;
  /** Items longer than a bin, ascending: cut to the capacity, each alone in its bin. */
  truncated: number[];
}

export type PackingStep =
  /** The order in which items will be taken. */
  | { type: "order"; items: number[] }
  /** An item longer than a bin is cut to `length`, the capacity. */
  | { type: "truncate"; item: number; from: number; length: number }
  /** Does the item fit into what is free of this bin? */
  | { type: "compare"; item: number; bin: number; length: number; free: number; fits: boolean }
  | { type: "open"; bin: number }
  | { type: "place"; item: number; bin: number; length: number; used: number };

/**
 * Packs items into bins of `capacity`. Items of equal length keep their order; equally good bins: the first.
 * @param lengths tokens of every item, whole numbers of at least 0
 * @throws RangeError that names the argument
 */
export function pack(lengths: readonly number[], capacity: number, algorithm: PackingAlgorithm = "ffd"): Packing {
  const steps = packingSteps(lengths, capacity, algorithm);
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

/** As `pack`, yielding every step before it takes effect, and returning the packing. */
export function packingSteps(
  lengths: readonly number[],
  capacity: number,
  algorithm: PackingAlgorithm = "ffd",
): Generator<PackingStep, Packing, void> {
  validate(lengths, capacity, algorithm);
  return run([...lengths], capacity, algorithm);
}

function* run(
  lengths: readonly number[],
  capacity: number,
  algorithm: PackingAlgorithm,
): Generator<PackingStep, Packing, void> {
  const tooLong = (item: number) => (lengths[item] as number) > capacity;
  const order = itemOrder(lengths, capacity, algorithm);
  yield { type: "order", items: [...order] };

  const bins: Bin[] = [];
  /** Bins that hold a truncated item: nothing else enters, not even an item of length 0. */
  const closed = new Set<number>();
  for (const item of order) {
    const from = lengths[item] as number;
    const length = Math.min(from, capacity);
    if (tooLong(item)) yield { type: "truncate", item, from, length };
    let target = tooLong(item) ? -1 : yield* chooseBin(item, length, bins, closed, capacity, algorithm);
    if (target < 0) {
      target = bins.length;
      yield { type: "open", bin: target };
      bins.push({ items: [], used: 0 });
      if (tooLong(item)) closed.add(target);
    }
    const bin = bins[target] as Bin;
    yield { type: "place", item, bin: target, length, used: bin.used + length };
    bin.items.push(item);
    bin.used += length;
  }

  const used = bins.reduce((sum, bin) => sum + bin.used, 0);
  return {
    bins,
    capacity,
    lowerBound: sumLowerBound(lengths, capacity),
    utilization: bins.length === 0 ? 0 : used / (bins.length * capacity),
    truncated: order.filter(tooLong).sort((a, b) => a - b),
  };
}

/** First Fit Decreasing takes the items that must be truncated first, then the rest by falling length. */
function itemOrder(lengths: readonly number[], capacity: number, algorithm: PackingAlgorithm): number[] {
  const order = lengths.map((_, item) => item);
  if (algorithm !== "ffd") return order;
  const key = (item: number) => ((lengths[item] as number) > capacity ? capacity + 1 : (lengths[item] as number));
  return order.sort((a, b) => key(b) - key(a));
}

/** Index of the bin that takes an item, or -1 for a new one. */
function* chooseBin(
  item: number,
  length: number,
  bins: readonly Bin[],
  closed: ReadonlySet<number>,
  capacity: number,
  algorithm: PackingAlgorithm,
): Generator<PackingStep, number, void> {
  if (algorithm === "one") return -1;
  let best = -1;
  let bestFree = Number.POSITIVE_INFINITY;
  for (let bin = algorithm === "nf" ? Math.max(0, bins.length - 1) : 0; bin < bins.length; bin++) {
    if (closed.has(bin)) continue;
    const free = capacity - (bins[bin] as Bin).used;
    const fits = length <= free;
    yield { type: "compare", item, bin, length, free, fits };
    if (!fits) continue;
    if (algorithm !== "bf") return bin;
    if (free < bestFree) {
      best = bin;
      bestFree = free;
    }
  }
  return best;
}

function validate(lengths: readonly number[], capacity: number, algorithm: PackingAlgorithm): void {
  if (!Number.isSafeInteger(capacity) || capacity < 1) {
    throw new RangeError(`capacity must be a whole number of at least 1 token; got ${capacity}`);
  }
  if (!PACKING_ALGORITHMS.includes(algorithm)) {
    throw new RangeError(`algorithm must be one of ${PACKING_ALGORITHMS.join(", ")}; got ${algorithm}`);
  }
  // Not forEach: a hole in the array must not pass.
  for (let item = 0; item < lengths.length; item++) {
    const length = lengths[item];
    if (!Number.isSafeInteger(length) || (length as number) < 0) {
      throw new RangeError(`lengths[${item}] must be a whole number of tokens, 0 or more; got ${length}`);
    }
  }
}
