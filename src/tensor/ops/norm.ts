/** RMSNorm and LayerNorm over rows. */
import { floatBits } from "../queue";
import { columnLanes, rowLanes } from "../rowKernels";
import { kernel } from "../shaders";
import type { Tensor } from "../tensor";
import { columnSums } from "./linear";

/**
 * x / sqrt(mean of x^2 + epsilon) * weight, row by row.
 * @param x [R, C]
 * @param weight [1, C], f32
 * @throws RangeError when the shapes do not fit
 */
export function rmsNorm(x: Tensor, weight: Tensor, epsilon: number): Tensor {
  const { tape } = x;
  checkVector("rmsNorm", x, weight);
  const { queue, gpu } = tape;
  const output = tape.empty("normed", x.rows, x.columns, tape.needsGrad(x, weight));
  const lanes = rowLanes(gpu);
  const workgroups = Math.ceil(x.rows / lanes.ROWS);
  const WIDTH4 = x.pitch / 4;
  queue.dispatch(
    kernel("rmsNorm", "forward", { constants: { WIDTH: x.columns, WIDTH4, EPSILON: epsilon, ...lanes } }),
    [queue.uniform([x.rows, 0, 0]), x.buffer, weight.buffer, output.buffer],
    workgroups,
  );
  tape.record([output], [x, weight], (savedX, savedWeight) => {
    const dOutput = output.grad as Tensor;
    const shape = (accumulates: number) => queue.uniform([x.rows, x.columns, WIDTH4, floatBits(epsilon), accumulates]);
    const target = tape.gradTarget(x);
    if (target) {
      queue.dispatch(
        kernel("rmsNormGradient", "backward_input", { constants: lanes }),
        [shape(target.accumulates), savedX.buffer, dOutput.buffer, savedWeight.buffer, target.buffer],
        workgroups,
      );
    }
    const weightTarget = tape.gradTarget(weight);
    if (weightTarget) {
      const scales = tape.empty("scales of rows", 1, x.rows);
      queue.dispatch(
        kernel("rmsNormGradient", "scales", { constants: lanes }),
        [shape(0), savedX.buffer, scales.buffer],
        workgroups,
      );
      const { columns, lanes: WEIGHT_LANES } = columnLanes(gpu);
      queue.dispatch(
        kernel("rmsNormGradient", "backward_weight", { constants: { WEIGHT_COLUMNS: columns, WEIGHT_LANES } }),
        [shape(weightTarget.accumulates), savedX.buffer, dOutput.buffer, scales.buffer, weightTarget.buffer],
        Math.ceil(WIDTH4 / columns),
      );
    }
  });
  return output;
}

/**
 * (x - mean) / sqrt(variance + epsilon) * weight + bias, row by row.
 * @param x [R, C]
 * @param weight [1, C], f32, as is `bias`
 * @throws RangeError when the shapes do not fit
 */
export function layerNorm(x: Tensor, weight: Tensor, bias: Tensor, epsilon = 1e-5): Tensor {
  const { tape } = x;
  checkVector("layerNorm", x, weight);
  checkVector("layerNorm", x, bias);
  const { queue, gpu } = tape;
  const output = tape.empty("layer-normed", x.rows, x.columns, tape.needsGrad(x, weight, bias));
  const statistics = tape.empty("mean and scale of rows", 1, 2 * x.rows);
  const lanes = rowLanes(gpu);
  const workgroups = Math.ceil(x.rows / lanes.ROWS);
  const shape = (accumulates: number) =>
    queue.uniform([x.rows, x.columns, x.pitch / 4, floatBits(epsilon), accumulates]);
  queue.dispatch(
    kernel("layerNorm", "forward", { constants: lanes }),
    [shape(0), x.buffer, weight.buffer, bias.buffer, statistics.buffer, output.buffer],
    workgroups,
  );
  tape.record([output], [x, weight, statistics], (savedX, savedWeight, savedStatistics) => {
    const dOutput = output.grad as Tensor;
    const target = tape.gradTarget(x);
    if (target) {
      queue.dispatch(
        kernel("layerNorm", "backward_input", { constants: lanes }),
        [
          shape(target.accumulates),
          savedX.buffer,
          savedWeight.buffer,
          savedStatistics.buffer,
          dOutput.buffer,
          target.buffer,
        ],
        workgroups,
      );
    }
    const weightTarget = tape.gradTarget(weight);
    if (weightTarget) {
      const { columns, lanes: WEIGHT_LANES } = columnLanes(gpu);
      queue.dispatch(
        kernel("layerNorm", "backward_weight", { constants: { WEIGHT_COLUMNS: columns, WEIGHT_LANES } }),
        [shape(weightTarget.accumulates), savedX.buffer, weightTarget.buffer, savedStatistics.buffer, dOutput.buffer],
        Math.ceil(x.pitch / 4 / columns),
      );
    }
    columnSums(tape, dOutput, tape.gradTarget(bias));
  });
  statistics.dispose();
  return output;
}

function checkVector(op: string, x: Tensor, vector: Tensor): void {
  if (vector.rows !== 1 || vector.columns !== x.columns || vector.dtype !== "F32") {
    const { label, dtype, rows, columns } = vector;
    throw new RangeError(`${op}: ${label} is ${dtype} [${rows}, ${columns}] instead of F32 [1, ${x.columns}]`);
  }
}
