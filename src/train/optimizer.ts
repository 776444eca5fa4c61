/** AdamW over a set of trainable tensors: its state, its steps, and saving and restoring both. */
import { type AdamWParameter, type AdamWSettings, adamWStep } from "../tensor/ops/adamW";
import type { Tape } from "../tensor/tape";
import type { Tensor } from "../tensor/tensor";

export type OptimizerSettings = Partial<Omit<AdamWSettings, "learningRate">>;

export interface StepStatistics {
  loss: number;
  /** Norm of all gradients before clipping. */
  gradientNorm: number;
  /** False: a gradient or the loss was not finite, and nothing has been changed. */
  isTaken: boolean;
  /** Norm of each parameter's gradient before clipping, in the order of the parameters. */
  norms: number[];
  /** Norm of each observed tensor. */
  observed: number[];
}

/** The optimizer's memory, for saving; arrays in the order of the parameters. */
export interface OptimizerState {
  step: number;
  firstMoments: Float32Array[];
  secondMoments: Float32Array[];
}

export class AdamW {
  /** Steps taken. */
  step = 0;
  private readonly parameters: AdamWParameter[];
  private readonly settings: Omit<AdamWSettings, "learningRate">;

  /**
   * @param weights leaves that require gradients; they stay the caller's
   * @param settings default: betas 0.9 and 0.95, epsilon 1e-8, no decay, norm clipped to 1
   */
  constructor(
    private readonly tape: Tape,
    weights: readonly Tensor[],
    settings: OptimizerSettings = {},
    state?: OptimizerState,
  ) {
    this.settings = { beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weightDecay: 0, maxNorm: 1, ...settings };
    const moment = (weight: Tensor, saved: Float32Array | undefined) =>
      saved
        ? tape.tensor(saved, weight.rows, weight.columns, { label: `moment of ${weight.label}` })
        : tape.zeros(`moment of ${weight.label}`, weight.rows, weight.columns);
    this.parameters = weights.map((weight, i) => {
      if (!weight.requiresGrad) throw new Error(`${weight.label} cannot be trained: it requires no gradient`);
      return {
        weight,
        firstMoment: moment(weight, state?.firstMoments[i]),
        secondMoment: moment(weight, state?.secondMoments[i]),
      };
    });
    this.step = state?.step ?? 0;
  }

  /**
   * Takes a step with the gradients that have been added up, clears them, and reads back what the step was like.
   * @param loss [1, 1]
   * @param observed further tensors whose norms are wanted, of any shape; they decide nothing
   * @throws GpuOutOfMemoryError, GpuFailure, DeviceLostError
   */
  async update(loss: Tensor, learningRate: number, observed: readonly Tensor[] = []): Promise<StepStatistics> {
    const settings = { ...this.settings, learningRate };
    const read = adamWStep(this.tape, this.parameters, loss, this.step + 1, settings, observed);
    this.clearGradients();
    const { faults, factor: _, ...statistics } = await read();
    const isTaken = faults === 0;
    if (isTaken) this.step++;
    return { ...statistics, isTaken };
  }

  clearGradients(): void {
    for (const { weight } of this.parameters) weight.clearGrad();
  }

  async save(): Promise<OptimizerState> {
    const state: OptimizerState = { step: this.step, firstMoments: [], secondMoments: [] };
    for (const { firstMoment, secondMoment } of this.parameters) {
      state.firstMoments.push(await firstMoment.read());
      state.secondMoments.push(await secondMoment.read());
    }
    return state;
  }

  dispose(): void {
    for (const { firstMoment, secondMoment } of this.parameters) {
      firstMoment.dispose();
      secondMoment.dispose();
    }
  }
}
