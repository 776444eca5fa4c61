/** AdamW (Loshchilov and Hutter 2019) with clipping of the global norm, as PyTorch does both. */

export interface AdamWSettings {
  learningRate: number;
  beta1: number;
  beta2: number;
  epsilon: number;
  weightDecay: number;
  /** The gradients' common norm is brought down to this; 0: never. */
  maxNorm: number;
}

export interface AdamWState {
  weight: Float64Array;
  firstMoment: Float64Array;
  secondMoment: Float64Array;
}

/** Changes the states in place. @param step counted from 1. @returns the norm of all gradients before clipping */
export function adamWStep(
  states: readonly AdamWState[],
  gradients: readonly Float64Array[],
  step: number,
  settings: AdamWSettings,
): number {
  const { learningRate, beta1, beta2, epsilon, weightDecay, maxNorm } = settings;
  const norm = Math.sqrt(gradients.reduce((sum, own) => own.reduce((s, g) => s + g * g, sum), 0));
  const factor = maxNorm > 0 && norm > maxNorm ? maxNorm / (norm + 1e-6) : 1;
  states.forEach(({ weight, firstMoment, secondMoment }, p) => {
    for (let i = 0; i < weight.length; i++) {
      const g = gradients[p]![i]! * factor;
      firstMoment[i] = beta1 * firstMoment[i]! + (1 - beta1) * g;
      secondMoment[i] = beta2 * secondMoment[i]! + (1 - beta2) * g * g;
      const m = firstMoment[i]! / (1 - beta1 ** step);
      const v = secondMoment[i]! / (1 - beta2 ** step);
      weight[i] = weight[i]! - learningRate * (m / (Math.sqrt(v) + epsilon) + weightDecay * weight[i]!);
    }
  });
  return norm;
}
