/**
 * What is proven about the algorithms of pack.ts: the most bins they ever take where the best packing takes `optimum`.
 * Sources: Next Fit: any two neighbouring bins hold more than one bin's worth (Johnson, "Near-optimal bin packing
 * algorithms", 1973). First Fit: Dósa and Sgall, "First Fit bin packing: A tight analysis", STACS 2013. Best Fit: Dósa
 * and Sgall, "Optimal analysis of Best Fit bin packing", ICALP 2014. First Fit Decreasing: Dósa, "The tight bound of
 * First Fit Decreasing bin-packing algorithm is FFD(I) <= 11/9 OPT(I) + 6/9", ESCAPE 2007.
 */
import type { PackingAlgorithm } from "./pack";

/**
 * The most bins of an algorithm, rounded down to whole bins; undefined for `one`, which takes as many as there are
 * items. All items have at least one token.
 */
export function guaranteedBins(algorithm: PackingAlgorithm, optimum: number): number | undefined {
  if (algorithm === "one") return undefined;
  if (optimum === 0) return 0;
  if (algorithm === "nf") return 2 * optimum - 1;
  // In whole numbers: 1.7 times 10 is not 17 in floating point.
  if (algorithm === "ffd") return Math.floor((11 * optimum + 6) / 9);
  return Math.floor((17 * optimum) / 10);
}
