/** What a packing costs: the numbers by which algorithms are compared. Lengths and capacity are tokens. */
import { type Packing, type PackingAlgorithm, packingSteps } from "./pack";

export interface PackingFigures {
  bins: number;
  /** How often an algorithm asked whether an item fits into a bin. */
  comparisons: number;
  /** Used over available tokens of all bins, 0 to 1; 0 without bins. */
  utilization: number;
  /** Tokens that stay empty in all bins. */
  waste: number;
  /** Tokens of the fullest bin: bins are read side by side, so the longest one decides when all are read. */
  longestBin: number;
  /** Items longer than a bin. */
  truncated: number;
  /** Tokens of those items that nobody reads. */
  cut: number;
}

/** Packs and counts. @throws RangeError that names the argument, as `pack` */
export function packingFigures(
  lengths: readonly number[],
  capacity: number,
  algorithm: PackingAlgorithm,
): PackingFigures & { packing: Packing } {
  let comparisons = 0;
  const steps = packingSteps(lengths, capacity, algorithm);
  let step = steps.next();
  while (!step.done) {
    if (step.value.type === "compare") comparisons++;
    step = steps.next();
  }
  return { packing: step.value, ...figuresOf(step.value, lengths), comparisons };
}

/** The figures of a packing that is there, by whatever way it was found. */
export function figuresOf(packing: Packing, lengths: readonly number[]): Omit<PackingFigures, "comparisons"> {
  const { bins, capacity, utilization, truncated } = packing;
  return {
    bins: bins.length,
    utilization,
    waste: bins.reduce((sum, { used }) => sum + capacity - used, 0),
    longestBin: bins.reduce((most, { used }) => Math.max(most, used), 0),
    truncated: truncated.length,
    cut: truncated.reduce((sum, item) => sum + (lengths[item] as number) - capacity, 0),
  };
}
