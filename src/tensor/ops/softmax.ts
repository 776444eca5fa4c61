/** Softmax over rows, also over their largest entries alone. */
import { rowLanes } from "../rowKernels";
import { kernel } from "../shaders";
import type { Tensor } from "../tensor";

/**
 * exp(x) over its sum, row by row.
 * @param x [R, C]
 * @param topK only the largest entries of each row, and whatever ties with the last of them; the rest is 0 and gets no
 * gradient. 1 gives the largest entry alone, and no gradient at all. Default: all
 * @throws RangeError for a topK that is no positive whole number
 */
export function softmax(x: Tensor, topK?: number): Tensor {
  const { tape } = x;
  const { queue, gpu } = tape;
  if (topK !== undefined && !(Number.isInteger(topK) && topK >= 1)) {
    throw new RangeError(`softmax: topK is ${topK} instead of a positive whole number`);
  }
  const output = tape.empty("softmax", x.rows, x.columns, tape.needsGrad(x));
  const lanes = rowLanes(gpu);
  const workgroups = Math.ceil(x.rows / lanes.ROWS);
  const shape = (accumulates: number) => queue.uniform([x.rows, x.columns, x.pitch, topK ?? 0, accumulates]);
  queue.dispatch(kernel("softmax", "forward", { constants: lanes }), [shape(0), x.buffer, output.buffer], workgroups);
  tape.record([output], [output], (result) => {
    const target = tape.gradTarget(x);
    if (!target) return;
    queue.dispatch(
      kernel("softmax", "backward_input", { constants: lanes }),
      [shape(target.accumulates), result.buffer, (output.grad as Tensor).buffer, target.buffer],
      workgroups,
    );
  });
  return output;
}
