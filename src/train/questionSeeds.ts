/** Which questions are trained on and which are held out: ranges of seeds that never meet. */
import { randomU32 } from "../random/random";
import { RELAY_TRAINING_SEEDS } from "../world/relay";

/** Questions of training have seeds from here on. */
export const TRAINING_SEEDS = RELAY_TRAINING_SEEDS;

/** Held-out questions that training looks at begin here; those below are left to evaluations that are reported. */
export const VALIDATION_SEEDS = 900_000;

const QUESTION_STREAM = 0x7a1;

/**
 * Seeds of a step's questions: a function of the run's seed and the step alone, so that a resumed run gets the same.
 * @param step counted from 1
 */
export function trainingSeeds(seed: number, step: number, batch: number): number[] {
  const range = 2 ** 32 - TRAINING_SEEDS;
  return Array.from({ length: batch }, (_, i) => {
    return TRAINING_SEEDS + (randomU32(seed, QUESTION_STREAM, (step - 1) * batch + i) % range);
  });
}

/** Seeds of held-out questions, the same in every run. */
export function validationSeeds(count: number): number[] {
  return Array.from({ length: count }, (_, i) => VALIDATION_SEEDS + i);
}
