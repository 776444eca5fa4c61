/** Learning rates over a run. */

export interface CosineSchedule {
  /** The highest rate. */
  learningRate: number;
  /** Steps of a linear rise from 0. */
  warmupSteps: number;
  /** Steps of the whole run; later ones have the final rate. */
  steps: number;
  /** The final rate, as a share of the highest. Default 0. */
  finalShare?: number;
}

/**
 * The rate of a step, counted from 1: a linear rise, then half a cosine down (Loshchilov and Hutter 2017).
 * The first step already has a rate above 0.
 */
export function cosineRate(step: number, { learningRate, warmupSteps, steps, finalShare = 0 }: CosineSchedule): number {
  if (step <= warmupSteps) return (learningRate * step) / warmupSteps;
  const progress = Math.min(1, (step - warmupSteps) / Math.max(1, steps - warmupSteps));
  return learningRate * (finalShare + ((1 - finalShare) * (1 + Math.cos(Math.PI * progress))) / 2);
}
