/** One step of AdamW over many parameters, with clipping and a stop for numbers that are not finite, on the device. */
import { floatBits } from "../queue";
import { kernel } from "../shaders";
import type { Tape } from "../tape";
import type { Tensor } from "../tensor";
import { concatRows } from "./rows";

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

/** What a step was like, read back at once. */
export interface AdamWStatistics {
  loss: number;
  /** Norm of all gradients before clipping. */
  gradientNorm: number;
  /** The factor that clips the gradients. */
  factor: number;
  /** How many numbers are not finite; 0: the step was taken. */
  faults: number;
  /** Norm of each parameter's gradient before clipping, in the order of the parameters. */
  norms: number[];
  /** Norm of each observed tensor. */
  observed: number[];
}

/**
 * Changes weights and moments in place, unless a gradient or the loss is not finite.
 * @param step counted from 1
 * @param loss [1, 1], to be read back with the rest
 * @param observed further tensors whose norms are wanted; they decide nothing
 * @returns reads the statistics back, once; until then it holds a small buffer
 */
export function adamWStep(
  tape: Tape,
  parameters: readonly AdamWParameter[],
  loss: Tensor,
  step: number,
  settings: AdamWSettings,
  observed: readonly Tensor[] = [],
): () => Promise<AdamWStatistics> {
  const { queue, gpu } = tape;
  const { learningRate, beta1, beta2, epsilon, weightDecay, maxNorm } = settings;
  const constants = { LANES: gpu.isSoftware ? 8 : 64 };
  let parts = 0;
  const share = ({ rows, pitch }: Tensor) => {
    const vec4s = (rows * pitch) / 4;
    const own = Math.min(PARTS, Math.ceil(vec4s / 64));
    parts += own;
    return { vec4s, own, first: parts - own, uniform: queue.uniform([vec4s, own, parts - own]) };
  };
  const shapes = parameters.map(({ weight }) => share(weight));
  // Only the parts of the parameters count for the norm that clips.
  const countedParts = parts;
  const observedShapes = observed.map(share);
  const results = tape.scope(() => {
    const gradients = parameters.map(
      ({ weight }) => weight.grad ?? tape.zeros(`no gradient of ${weight.label}`, weight.rows, weight.columns),
    );
    const statistics = tape.empty("statistics of a step", 1, 4);
    const sums = tape.empty("sums of squares", Math.ceil(parts / 2), 4);
    [...shapes, ...observedShapes].forEach(({ own, uniform }, i) => {
      const squared = gradients[i] ?? (observed[i - gradients.length] as Tensor);
      queue.dispatch(kernel("adamW", "square_sums", { constants }), [uniform, squared.buffer, sums.buffer], own);
    });
    const words = [learningRate, beta1, beta2, epsilon, weightDecay, 1 - beta1 ** step, 1 - beta2 ** step, maxNorm];
    const settingsBuffer = tape.integers([...words.map(floatBits), countedParts], "settings of a step").buffer;
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
    return concatRows([statistics, sums]);
  });
  tape.keep(results);
  return async () => {
    const read = await results.read().finally(() => results.dispose());
    const [value, gradientNorm, factor, faults] = read as unknown as [number, number, number, number];
    const normOf = ({ first, own }: (typeof shapes)[number]) => {
      let sum = 0;
      for (let part = first; part < first + own; part++) sum += read[4 + 2 * part] as number;
      return Math.sqrt(sum);
    };
    return {
      loss: value,
      gradientNorm,
      factor,
      faults,
      norms: shapes.map(normOf),
      observed: observedShapes.map(normOf),
    };
  };
}
