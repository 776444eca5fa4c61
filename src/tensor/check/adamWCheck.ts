/** AdamW's steps on the device against the f64 reference: on parameters of awkward sizes, with clipping and without. */
import { Random } from "../../random/random";
import { type AdamWState, adamWStep as referenceStep } from "../../reference/adamW";
import { adamWStep } from "../ops/adamW";
import type { Tape } from "../tape";
import { relativeError } from "./runCase";

const SETTINGS = { learningRate: 0.01, beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weightDecay: 0.1, maxNorm: 2 };
const SIZES = [
  [1, 1],
  [3, 7],
  [19, 67],
] as const;
const STEPS = 3;

export const ADAMW_CHECK_SIZE = `${SIZES.map((size) => size.join(" x ")).join(", ")}, ${STEPS} steps`;

/** @returns the largest relative error of a weight or a moment after the last step */
export async function checkAdamW(tape: Tape, seed = 1): Promise<number> {
  const random = new Random(seed, 4);
  const normals = (count: number, spread = 1) =>
    Float64Array.from({ length: count }, () => Math.fround(spread * random.normal()));
  const states: AdamWState[] = SIZES.map(([rows, columns]) => ({
    weight: normals(rows * columns),
    firstMoment: new Float64Array(rows * columns),
    secondMoment: new Float64Array(rows * columns),
  }));
  const parameters = SIZES.map(([rows, columns], i) => ({
    weight: tape.tensor((states[i] as AdamWState).weight, rows, columns, { requiresGrad: true }),
    firstMoment: tape.zeros("first moment", rows, columns),
    secondMoment: tape.zeros("second moment", rows, columns),
  }));
  try {
    for (let step = 1; step <= STEPS; step++) {
      // The last step's gradients are small, so that nothing is clipped.
      const gradients = SIZES.map(([rows, columns]) => normals(rows * columns, step === STEPS ? 1e-3 : 1));
      referenceStep(states, gradients, step, SETTINGS);
      const loss = tape.tensor([step], 1, 1);
      tape.scope(() => {
        parameters.forEach(({ weight }, i) => {
          weight.clearGrad();
          tape.addGrad(weight, tape.tensor(gradients[i] as Float64Array, weight.rows, weight.columns));
        });
      });
      await adamWStep(tape, parameters, loss, step, SETTINGS)();
      loss.dispose();
    }
    let worst = 0;
    for (const [i, { weight, firstMoment, secondMoment }] of parameters.entries()) {
      const state = states[i] as AdamWState;
      for (const [found, wanted] of [
        [weight, state.weight],
        [firstMoment, state.firstMoment],
        [secondMoment, state.secondMoment],
      ] as const) {
        worst = Math.max(worst, relativeError(await found.read(), wanted));
      }
    }
    return worst;
  } finally {
    for (const { weight, firstMoment, secondMoment } of parameters) {
      weight.clearGrad();
      for (const tensor of [weight, firstMoment, secondMoment]) tensor.dispose();
    }
  }
}
