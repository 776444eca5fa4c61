/**
 * One comparison over many seeds: how many bins more than the lower bound each algorithm takes. It goes seed by seed, so
 * that a page can stop between two of them.
 */
import { martelloTothLowerBound } from "./bounds";
import { packingFigures } from "./figures";
import type { PackingAlgorithm } from "./pack";

export interface StudyOptions {
  /** The lengths (tokens) of a seed. */
  draw: (seed: number) => readonly number[];
  capacity: number;
  algorithms: readonly PackingAlgorithm[];
  /** Seeds 1 to this number are used. */
  seeds: number;
}

export interface StudyRow {
  algorithm: PackingAlgorithm;
  /** counts[k]: seeds on which it took k bins more than the lower bound L2. */
  counts: number[];
  /** firstSeed[k]: the first such seed; a hole where there is none. */
  firstSeed: (number | undefined)[];
  /** Sums over all seeds, for means. */
  bins: number;
  extra: number;
  comparisons: number;
}

export class PackingStudy {
  /** Seeds that are done. */
  done = 0;
  readonly rows: StudyRow[];
  /** Sum of the lower bounds of all seeds. */
  lowerBounds = 0;

  constructor(readonly options: StudyOptions) {
    this.rows = options.algorithms.map((algorithm) => ({
      algorithm,
      counts: [],
      firstSeed: [],
      bins: 0,
      extra: 0,
      comparisons: 0,
    }));
  }

  get finished(): boolean {
    return this.done >= this.options.seeds;
  }

  /** Packs the items of the next seed. @throws RangeError for lengths that cannot be packed */
  next(): void {
    const { draw, capacity } = this.options;
    const seed = this.done + 1;
    const lengths = draw(seed);
    const bound = martelloTothLowerBound(lengths, capacity);
    this.lowerBounds += bound;
    for (const row of this.rows) {
      const { bins, comparisons } = packingFigures(lengths, capacity, row.algorithm);
      const extra = bins - bound;
      row.counts[extra] = (row.counts[extra] ?? 0) + 1;
      row.firstSeed[extra] ??= seed;
      row.bins += bins;
      row.extra += extra;
      row.comparisons += comparisons;
    }
    this.done = seed;
  }

  /** A copy that later seeds do not change. */
  rowsNow(): StudyRow[] {
    return this.rows.map((row) => ({
      ...row,
      counts: Array.from(row.counts, (count) => count ?? 0),
      firstSeed: [...row.firstSeed],
    }));
  }
}
