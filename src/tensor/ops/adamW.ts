/** One step of AdamW over many parameters, with clipping and a stop for numbers that are not finite, on the device. */
import { floatBits } from "../queue";
import { kernel } from "../shaders";
import type { Tape } from "../tape";
import type { Tensor } from "../tensor";

export interface AdamWSettings {
  learningRate: number;
  beta1: number;
  beta2: number;
  epsilon: number;
  weightDecay: number;
  /** The gradients' common norm is brought down to this; 0: never. */
  maxNorm: number;
}

export interface AdamWParameter {
  /** A leaf; without a gradient it counts as having one of zeros. */
  weight: Tensor;
  firstMoment: Tensor;
  secondMoment: Tensor;
}

/** Workgroups that share the sum of squares of one gradient. */
const PARTS = 32;

/**
 * Changes weights and moments in place, unless a gradient or the loss is not finite.
 * @param step counted from 1
 * @param loss [1, 1], to be read back with the rest
 * @returns [1, 4]: loss, norm of all gradients before clipping, the factor that clips them, how many numbers are not
 * finite (0: the step was taken)
 */
export function adamWStep(
  tape: Tape,
  parameters: readonly AdamWParameter[],
  loss: Tensor,
  step: number,
  settings: AdamWSettings,
): Tensor {
  const { queue, gpu } = tape;
  const { learningRate, beta1, beta2, epsilon, weightDecay, maxNorm } = settings;
  const constants = { LANES: gpu.isSoftware ? 8 : 64 };
  const statistics = tape.empty("statistics of a step", 1, 4);
  tape.scope(() => {
    let parts = 0;
    const shapes = parameters.map(({ weight }) => {
      const vec4s = (weight.rows * weight.pitch) / 4;
      const own = Math.min(PARTS, Math.ceil(vec4s / 64));
      parts += own;
      return { vec4s, own, uniform: queue.uniform([vec4s, own, parts - own]) };
    });
    const gradients = parameters.map(
      ({ weight }) => weight.grad ?? tape.zeros(`no gradient of ${weight.label}`, weight.rows, weight.columns),
    );
    const sums = tape.empty("sums of squares", 1, 2 * parts);
    shapes.forEach(({ own, uniform }, i) => {
      const bindings = [uniform, (gradients[i] as Tensor).buffer, sums.buffer];
      queue.dispatch(kernel("adamW", "square_sums", { constants }), bindings, own);
    });
    const words = [learningRate, beta1, beta2, epsilon, weightDecay, 1 - beta1 ** step, 1 - beta2 ** step, maxNorm];
    const settingsBuffer = tape.integers([...words.map(floatBits), parts], "settings of a step").buffer;
    queue.dispatch(
      kernel("adamW", "finish_norm", { constants }),
      [settingsBuffer, sums.buffer, loss.buffer, statistics.buffer],
      1,
    );
    parameters.forEach(({ weight, firstMoment, secondMoment }, i) => {
      const { uniform, vec4s } = shapes[i] as (typeof shapes)[number];
      queue.dispatch(
        kernel("adamW", "update", { constants }),
        [
          settingsBuffer,
          uniform,
          statistics.buffer,
          (gradients[i] as Tensor).buffer,
          weight.buffer,
          firstMoment.buffer,
          secondMoment.buffer,
        ],
        Math.ceil(vec4s / 64),
      );
    });
  });
  return statistics;
}
