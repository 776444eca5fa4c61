/** Operations on single elements: SwiGLU, GELU, sums, scaling. */
import { floatBits } from "../queue";
import { kernel } from "../shaders";
import type { Tensor } from "../tensor";

/**
 * silu(gate) * up.
 * @param gateUp [R, 2 C]: the gates, then the ups
 * @returns [R, C]
 */
export function swiglu(gateUp: Tensor): Tensor {
  const { tape } = gateUp;
  const { queue } = tape;
  const width = gateUp.columns / 2;
  if (!Number.isInteger(width)) throw new RangeError(`swiglu: ${gateUp.label} has an odd width of ${gateUp.columns}`);
  const output = tape.empty("gated", gateUp.rows, width, tape.needsGrad(gateUp));
  const shape = (accumulates: number) => queue.uniform([gateUp.rows, width, gateUp.pitch, output.pitch, accumulates]);
  queue.dispatch(
    kernel("swiglu", "forward"),
    [shape(0), gateUp.buffer, output.buffer],
    Math.ceil(vec4sOf(output) / 64),
  );
  tape.record([output], [gateUp], (saved) => {
    const target = tape.gradTarget(gateUp);
    if (!target) return;
    queue.dispatch(
      kernel("swiglu", "backward_input"),
      [shape(target.accumulates), saved.buffer, (output.grad as Tensor).buffer, target.buffer],
      Math.ceil(vec4sOf(output) / 64),
    );
  });
  return output;
}

/** x times the normal distribution function of x, by the error function, not the tanh approximation. */
export function gelu(x: Tensor): Tensor {
  const { tape } = x;
  const { queue } = tape;
  const vec4s = vec4sOf(x);
  const output = tape.empty("gelu", x.rows, x.columns, tape.needsGrad(x));
  queue.dispatch(
    kernel("gelu", "forward"),
    [queue.uniform([vec4s, 0]), x.buffer, output.buffer],
    Math.ceil(vec4s / 64),
  );
  tape.record([output], [x], (saved) => {
    const target = tape.gradTarget(x);
    if (!target) return;
    queue.dispatch(
      kernel("gelu", "backward_input"),
      [queue.uniform([vec4s, target.accumulates]), saved.buffer, (output.grad as Tensor).buffer, target.buffer],
      Math.ceil(vec4s / 64),
    );
  });
  return output;
}

/** a + b, of one shape. */
export function add(a: Tensor, b: Tensor): Tensor {
  const { tape } = a;
  const { queue } = tape;
  if (a.rows !== b.rows || a.columns !== b.columns) {
    throw new RangeError(`add: ${a.label} is [${a.rows}, ${a.columns}], ${b.label} is [${b.rows}, ${b.columns}]`);
  }
  const output = tape.empty("sum", a.rows, a.columns, tape.needsGrad(a, b));
  const vec4s = vec4sOf(a);
  queue.dispatch(
    kernel("add", "forward"),
    [queue.uniform([vec4s]), a.buffer, b.buffer, output.buffer],
    Math.ceil(vec4s / 64),
  );
  tape.record([output], [], () => {
    tape.addGrad(a, output.grad as Tensor);
    tape.addGrad(b, output.grad as Tensor);
  });
  return output;
}

/** Workgroups that share the gradient of a learnable factor. */
const PARTS = 64;

/**
 * factor * x.
 * @param factor a number, or a learnable [1, 1]
 */
export function scale(x: Tensor, factor: number | Tensor): Tensor {
  const { tape } = x;
  const { queue, gpu } = tape;
  const learned = typeof factor === "number" ? undefined : factor;
  const constant = typeof factor === "number" ? factor : 1;
  if (learned && (learned.rows !== 1 || learned.columns !== 1)) {
    throw new RangeError(`scale: ${learned.label} is [${learned.rows}, ${learned.columns}] instead of [1, 1]`);
  }
  const factorTensor = learned ?? tape.tensor([1], 1, 1, { label: "one" });
  const output = tape.empty("scaled", x.rows, x.columns, tape.needsGrad(x, learned));
  const vec4s = vec4sOf(x);
  const shape = (accumulates: number, parts = 0) => queue.uniform([vec4s, floatBits(constant), accumulates, parts]);
  queue.dispatch(
    kernel("scale", "forward"),
    [shape(0), x.buffer, factorTensor.buffer, output.buffer],
    Math.ceil(vec4s / 64),
  );
  tape.record([output], [learned?.requiresGrad ? x : undefined, factorTensor], (savedX, savedFactor) => {
    const dOutput = output.grad as Tensor;
    const target = tape.gradTarget(x);
    if (target) {
      queue.dispatch(
        kernel("scale", "forward"),
        [shape(target.accumulates), dOutput.buffer, savedFactor.buffer, target.buffer],
        Math.ceil(vec4s / 64),
      );
    }
    const factorTarget = learned && tape.gradTarget(learned);
    if (factorTarget && savedX) {
      const parts = Math.min(PARTS, Math.ceil(vec4s / 64));
      const constants = { LANES: gpu.isSoftware ? 8 : 64 };
      const partials = tape.empty("partial sums", 1, parts);
      queue.dispatch(
        kernel("scale", "partial_sums", { constants }),
        [shape(0, parts), savedX.buffer, dOutput.buffer, partials.buffer],
        parts,
      );
      queue.dispatch(
        kernel("scale", "backward_weight", { constants }),
        [shape(factorTarget.accumulates, parts), partials.buffer, factorTarget.buffer],
        1,
      );
    }
  });
  if (!learned) factorTensor.dispose();
  return output;
}

function vec4sOf(x: Tensor): number {
  return (x.rows * x.pitch) / 4;
}
