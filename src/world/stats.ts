/** How sure an accuracy is that was measured on n questions. */

/** The 97.5% quantile of the standard normal distribution. */
const Z95 = 1.959963984540054;

/**
 * Wilson's 95% score interval of a proportion, [low, high] within [0, 1]; honest near 0 and 1, and [0, 1] without trials.
 * Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", 1927.
 * @throws RangeError unless 0 <= successes <= trials, both whole numbers
 */
export function wilson95(successes: number, trials: number): [number, number] {
  if (!Number.isInteger(successes) || !Number.isInteger(trials) || successes < 0 || successes > trials) {
    throw new RangeError(`successes must be a whole number from 0 to trials; got ${successes} of ${trials}`);
  }
  if (trials === 0) return [0, 1];
  const p = successes / trials;
  const z2 = Z95 * Z95;
  const center = p + z2 / (2 * trials);
  const spread = Z95 * Math.sqrt((p * (1 - p)) / trials + z2 / (4 * trials * trials));
  const scale = 1 + z2 / trials;
  // At the ends the exact bound is 0 or 1; rounding must not miss it.
  const low = successes === 0 ? 0 : (center - spread) / scale;
  const high = successes === trials ? 1 : (center + spread) / scale;
  return [low, high];
}
