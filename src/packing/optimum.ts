/**
 * The fewest bins, by a search that gives up in time: every algorithm of pack.ts is compared with it. Items go into bins
 * longest first; a branch ends as soon as the room that is still of use cannot hold what is left.
 * Source: branch and bound as in Martello and Toth, "Knapsack Problems", 1990, chapter 8, with simpler bounds.
 */
import { martelloTothLowerBound, sumLowerBound } from "./bounds";
import { type Bin, type Packing, pack } from "./pack";

export interface BestPacking {
  /** The best that was found. */
  packing: Packing;
  /** No packing has fewer bins than this. */
  lowerBound: number;
  /** Whether the packing is known to be a best one. */
  proven: boolean;
}

/** Placements that are tried before the search gives up: some tens of milliseconds. */
const MOST_PLACEMENTS = 25_000;

/**
 * @param lengths tokens of every item, as for `pack`; items longer than a bin are cut and stand alone
 * @throws RangeError that names the argument
 */
export function bestPacking(
  lengths: readonly number[],
  capacity: number,
  mostPlacements = MOST_PLACEMENTS,
): BestPacking {
  const found = [pack(lengths, capacity, "ffd"), pack(lengths, capacity, "bf")].sort(
    (a, b) => a.bins.length - b.bins.length,
  );
  const start = found[0] as Packing;
  const bound = martelloTothLowerBound(lengths, capacity);
  if (start.bins.length === bound) return { packing: start, lowerBound: bound, proven: true };

  // What is cut has a bin of its own whatever happens.
  const alone: Bin[] = start.truncated.map((item) => ({ items: [item], used: capacity }));
  const cut = new Set(start.truncated);
  const items = lengths
    .map((_, item) => item)
    .filter((item) => !cut.has(item))
    .sort((a, b) => (lengths[b] as number) - (lengths[a] as number));
  const search = new Search(items, lengths, capacity, start.bins.length - alone.length, bound - alone.length);
  search.run(mostPlacements);
  const proven = search.complete || search.best?.length === bound - alone.length;
  const bins = search.best ? [...alone, ...search.best] : start.bins;
  const used = bins.reduce((sum, bin) => sum + bin.used, 0);
  return {
    packing: {
      bins,
      capacity,
      lowerBound: sumLowerBound(lengths, capacity),
      utilization: bins.length === 0 ? 0 : used / (bins.length * capacity),
      truncated: start.truncated,
    },
    lowerBound: proven ? bins.length : bound,
    proven,
  };
}

class Search {
  /** Better than what was known at the start. */
  best: Bin[] | undefined;
  /** Every branch was seen or shown to be no better. */
  complete = false;
  private readonly bins: Bin[] = [];
  private readonly left: number[];
  private placements = 0;
  private limit = 0;

  constructor(
    /** Longest first. */
    private readonly items: readonly number[],
    private readonly lengths: readonly number[],
    private readonly capacity: number,
    /** Bins of the best packing that is known. */
    private fewest: number,
    private readonly bound: number,
  ) {
    /** left[n]: tokens of the items from the n-th on. */
    this.left = [0];
    for (const item of [...items].reverse()) this.left.unshift((this.left[0] as number) + (lengths[item] as number));
  }

  run(limit: number): void {
    this.limit = limit;
    this.complete = this.place(0, 0);
  }

  /**
   * Places the n-th item and all after it. An item as long as the one before it goes no further left than that one.
   * Returns false when the search was cut short.
   */
  private place(n: number, from: number): boolean {
    if (n === this.items.length) {
      this.best = this.bins.map(({ items, used }) => ({ items: [...items], used }));
      this.fewest = this.bins.length;
      return true;
    }
    if (!this.canImprove(n)) return true;
    const item = this.items[n] as number;
    const length = this.lengths[item] as number;
    const next = this.items[n + 1];
    const twin = next !== undefined && this.lengths[next] === length;
    const seen = new Set<number>();
    for (let at = from; at < this.bins.length; at++) {
      const bin = this.bins[at] as Bin;
      const free = this.capacity - bin.used;
      // Bins that are equally full are one and the same to the search.
      if (length > free || seen.has(free)) continue;
      seen.add(free);
      if (!this.with(bin, item, length, () => this.place(n + 1, twin ? at : 0))) return false;
      // Nothing longer is left, so nothing could use this room better than what fills it.
      if (length === free || this.fewest <= this.bound) return true;
    }
    if (this.bins.length + 1 >= this.fewest) return true;
    const opened: Bin = { items: [], used: 0 };
    this.bins.push(opened);
    const finished = this.with(opened, item, length, () => this.place(n + 1, twin ? this.bins.length - 1 : 0));
    this.bins.pop();
    return finished;
  }

  private with(bin: Bin, item: number, length: number, then: () => boolean): boolean {
    if (++this.placements > this.limit) return false;
    bin.items.push(item);
    bin.used += length;
    const finished = then();
    bin.items.pop();
    bin.used -= length;
    return finished;
  }

  /** Whether the items from the n-th on could end in fewer bins than the best packing has. */
  private canImprove(n: number): boolean {
    const shortest = this.lengths[this.items.at(-1) as number] as number;
    let useful = 0;
    for (const { used } of this.bins) {
      const free = this.capacity - used;
      if (free >= shortest) useful += free;
    }
    const further = Math.max(0, Math.ceil(((this.left[n] as number) - useful) / this.capacity));
    return this.bins.length + further < this.fewest;
  }
}
