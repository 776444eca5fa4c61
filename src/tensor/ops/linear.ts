/** y = x W^T + b, with a frozen or a trainable weight. */
import { matrixRowBytes } from "../../checkpoint/quantize";
import type { Gpu } from "../../gpu/device";
import type { Binding } from "../../gpu/kernel";
import type { QueueBinding } from "../queue";
import { fixedSubgroup, SUBGROUP_PRODUCT_ROWS } from "../rowKernels";
import { kernel, type ShaderName } from "../shaders";
import type { Tape } from "../tape";
import { padded, type Tensor } from "../tensor";
import { add } from "./elementwise";

/** Bits of `Product.kind` in shaders/common/matmulOutput.wgsl. */
const HAS_BIAS = 1;

/** Rows of a weight and where they begin; whole unless `linearRows` takes a part. */
export interface WeightRows {
  weight: Tensor;
  start: number;
  count: number;
}

/**
 * @param x [R, K]
 * @param weight [N, K] as in checkpoints; frozen ones may be in a smaller format
 * @param bias [1, N], the same for all rows
 * @param plus [R, N], added to the product: what a residual connection goes around
 * @returns [R, N]
 * @throws RangeError when the shapes do not fit
 */
export function linear(x: Tensor, weight: Tensor, bias?: Tensor, plus?: Tensor): Tensor {
  const { tape } = x;
  // The kernel adds one of them.
  if (bias && plus) return add(plus, linear(x, weight, bias));
  if (x.columns !== weight.columns) {
    throw new RangeError(
      `linear: ${x.label} is [${x.rows}, ${x.columns}], ${weight.label} is [${weight.rows}, ${weight.columns}]`,
    );
  }
  for (const [added, rows] of [
    [bias, 1],
    [plus, x.rows],
  ] as const) {
    if (added && (added.rows !== rows || added.columns !== weight.rows)) {
      const { label, columns } = added;
      throw new RangeError(`linear: ${label} is [${added.rows}, ${columns}] instead of [${rows}, ${weight.rows}]`);
    }
  }
  const output = tape.empty(`${weight.label} product`, x.rows, weight.rows, tape.needsGrad(x, weight, bias, plus));
  const whole = { weight, start: 0, count: weight.rows };
  productForward(tape, x, whole, output, bias, plus);
  tape.record([output], [weight.requiresGrad ? x : undefined, weight], (savedX, savedWeight) => {
    const dOutput = output.grad as Tensor;
    const rows = { ...whole, weight: savedWeight };
    productBackwardInput(tape, dOutput, rows, tape.gradTarget(x));
    if (savedX) productBackwardWeight(tape, dOutput, savedX, tape.gradTarget(weight));
    if (bias) columnSums(tape, dOutput, tape.gradTarget(bias));
    if (plus) tape.addGrad(plus, dOutput);
  });
  return output;
}

/**
 * y = x W: each row is a sum of W's rows, weighted by x.
 * @param x [R, N]
 * @param weight [N, K]; frozen ones may be bf16 or f16
 * @returns [R, K]
 * @throws RangeError when the shapes do not fit
 */
export function weightedRows(x: Tensor, weight: Tensor): Tensor {
  const { tape } = x;
  if (x.columns !== weight.rows) {
    throw new RangeError(
      `weightedRows: ${x.label} is [${x.rows}, ${x.columns}], ${weight.label} is [${weight.rows}, ${weight.columns}]`,
    );
  }
  const output = tape.empty(`rows of ${weight.label}, weighted`, x.rows, weight.columns, tape.needsGrad(x, weight));
  const rowsOf = (own: Tensor) => ({ weight: own, start: 0, count: own.rows });
  productBackwardInput(tape, x, rowsOf(weight), { buffer: output.buffer, accumulates: 0 });
  tape.record([output], [weight.requiresGrad ? x : undefined, weight], (savedX, savedWeight) => {
    const dOutput = output.grad as Tensor;
    if (x.requiresGrad) {
      const dX = tape.empty("gradient of weights of rows", x.rows, x.columns);
      productForward(tape, dOutput, rowsOf(savedWeight), dX);
      tape.addGrad(x, dX);
    }
    if (savedX) productBackwardWeight(tape, savedX, dOutput, tape.gradTarget(weight));
  });
  return output;
}

type Target = ReturnType<Tape["gradTarget"]>;

/** Writes x W^T (+ bias or what is given for each row) of some rows of W to `output`. */
export function productForward(
  tape: Tape,
  x: Tensor,
  rows: WeightRows,
  output: Tensor,
  bias?: Tensor,
  plus?: Tensor,
): void {
  const { queue, gpu } = tape;
  const { dtype } = rows.weight;
  const added = bias ?? plus;
  const kind = added ? HAS_BIAS : 0;
  // Kernels write pairs of columns and leave the rest of the padding alone.
  if (padded(output.columns) - output.columns >= 2) queue.clear(output.buffer, output.bytes);
  const product = queue.uniform([x.pitch / 4, output.columns, output.pitch / 2, 0, kind, plus ? plus.pitch : 0]);
  const pass = queue.uniform([x.rows, 0, 0]);
  const bindings: QueueBinding[] = [pass, x.buffer, binding(rows), added?.buffer ?? x.buffer, output.buffer, product];
  const SUBGROUP = fixedSubgroup(gpu);
  if (SUBGROUP) {
    const ROWS = SUBGROUP_PRODUCT_ROWS.find((rows) => x.rows <= rows) ?? Math.max(...SUBGROUP_PRODUCT_ROWS);
    queue.dispatch(
      kernel("matmulSubgroup", "forward", { weights: dtype, constants: { ROWS, LANES: 32, SUBGROUP } }),
      bindings,
      [Math.ceil(output.columns / 128), Math.ceil(x.rows / ROWS)],
    );
    return;
  }
  const lanes = gpu.isSoftware ? { COL_LANES: 32, K_LANES: 1 } : { COL_LANES: 8, K_LANES: 8 };
  queue.dispatch(kernel("matmul", "forward", { weights: dtype, constants: { ROWS: 4, ...lanes } }), bindings, [
    Math.ceil(output.columns / (4 * lanes.COL_LANES)),
    Math.ceil(x.rows / 4),
  ]);
}

/** Adds dY W of some rows of W to the gradient of x. */
export function productBackwardInput(tape: Tape, dOutput: Tensor, rows: WeightRows, target: Target): void {
  if (!target) return;
  const in4 = rows.weight.pitch / 4;
  const { name, constants, rows: tileRows } = gradientKernel(tape.gpu);
  tape.queue.dispatch(
    kernel(name, "backward_input", { weights: rows.weight.dtype, constants }),
    [
      tape.queue.uniform([dOutput.rows, in4, rows.count, dOutput.pitch / 4, target.accumulates]),
      dOutput.buffer,
      binding(rows),
      target.buffer,
    ],
    [Math.ceil(in4 / 32), Math.ceil(dOutput.rows / tileRows)],
  );
}

/** Adds dY^T x to the gradient of a weight, from its row `start` on. */
export function productBackwardWeight(tape: Tape, dOutput: Tensor, x: Tensor, target: Target, start = 0): void {
  if (!target) return;
  const in4 = x.pitch / 4;
  const bytes = dOutput.columns * in4 * 16;
  const { name, constants, rows: tileRows } = gradientKernel(tape.gpu);
  tape.queue.dispatch(
    kernel(name, "backward_weight", { weights: "F32", constants }),
    [
      tape.queue.uniform([dOutput.rows, in4, dOutput.columns, dOutput.pitch / 4, target.accumulates]),
      dOutput.buffer,
      x.buffer,
      { buffer: target.buffer, offset: start * in4 * 16, size: bytes },
    ],
    [Math.ceil(in4 / 32), Math.ceil(dOutput.columns / tileRows)],
  );
}

/** Adds the sums of columns to the gradient of a bias [1, N]. */
export function columnSums(tape: Tape, dOutput: Tensor, target: Target): void {
  if (!target) return;
  const lanes = tape.gpu.isSoftware ? { BIAS_COLUMNS: 32, BIAS_LANES: 1 } : { BIAS_COLUMNS: 8, BIAS_LANES: 16 };
  const out4 = dOutput.pitch / 4;
  tape.queue.dispatch(
    kernel("linear", "backward_bias", { weights: "F32", constants: lanes }),
    [tape.queue.uniform([dOutput.rows, 0, dOutput.columns, out4, target.accumulates]), dOutput.buffer, target.buffer],
    Math.ceil(out4 / lanes.BIAS_COLUMNS),
  );
}

/** The shader of both gradients and the rows that an invocation of it takes. */
function gradientKernel(gpu: Gpu): { name: ShaderName; constants: Record<string, number>; rows: number } {
  const SUBGROUP = fixedSubgroup(gpu);
  return SUBGROUP
    ? { name: "linearSubgroup", constants: { SUBGROUP }, rows: 16 }
    : { name: "linear", constants: {}, rows: 8 };
}

/** A run of rows; those that begin elsewhere than at 0 must begin at a multiple of 64, for the device's alignment. */
function binding({ weight, start, count }: WeightRows): Binding {
  if (start === 0 && count === weight.rows) return weight.buffer;
  const rowBytes = matrixRowBytes(weight.dtype, weight.pitch);
  return { buffer: weight.buffer, offset: start * rowBytes, size: count * rowBytes };
}
