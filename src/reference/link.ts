/**
 * The RecursiveLink in f64, forward and backward, from its formulas (arXiv 2604.25917, and the released checkpoints):
 * y = scale * N2(S + W2 gelu(W1 N1(h) + b1) + b2), where each part but W1 may be absent; S is h itself or W3 h + b3.
 */
import { gelu, geluBackward } from "./gelu";
import { layerNorm, layerNormBackward } from "./layerNorm";
import { linear, linearBackward } from "./linear";

/** Parameters by the released checkpoints' names; those that a form lacks are not there. */
export type ReferenceLink = {
  inputSize: number;
  outputSize: number;
  /** Whether the hidden state itself is added, when there is no residual_proj. */
  addsInput: boolean;
  weights: ReadonlyMap<string, Float64Array>;
};

const EPSILON = 1e-5;
const NORM_BEFORE = ["pre_ln", "ln_source"];
const NORM_AFTER = ["post_ln", "ln_target"];

function normOf({ weights }: ReferenceLink, names: readonly string[]) {
  const name = names.find((candidate) => weights.has(`${candidate}.weight`));
  if (name === undefined) return undefined;
  return { name, weight: weights.get(`${name}.weight`)!, bias: weights.get(`${name}.bias`)! };
}

/** Everything on the way, for the gradients. */
function run(link: ReferenceLink, hidden: Float64Array) {
  const { weights, inputSize, addsInput } = link;
  const apply = (x: Float64Array, name: string, size: number) =>
    linear(x, weights.get(`${name}.weight`)!, size, weights.get(`${name}.bias`));
  const before = normOf(link, NORM_BEFORE);
  const normed = before ? layerNorm(hidden, before.weight, before.bias, EPSILON) : hidden;
  const first = apply(normed, "proj1", inputSize);
  const rows = hidden.length / inputSize;
  const middle = weights.has("proj2.weight") ? gelu(first) : undefined;
  const branch = middle ? apply(middle, "proj2", first.length / rows) : first;
  const shortcut = weights.has("residual_proj.weight")
    ? apply(hidden, "residual_proj", inputSize)
    : addsInput
      ? hidden
      : undefined;
  const sum = shortcut ? branch.map((value, i) => value + shortcut[i]!) : branch;
  const after = normOf(link, NORM_AFTER);
  const unscaled = after ? layerNorm(sum, after.weight, after.bias, EPSILON) : sum;
  const factor = weights.get("output_scale")?.[0];
  const output = factor === undefined ? unscaled : unscaled.map((value) => factor * value);
  return { before, normed, first, middle, sum, after, unscaled, factor, output, rows };
}

/**
 * @param hidden [R, inputSize]
 * @returns [R, outputSize]
 */
export function linkForward(link: ReferenceLink, hidden: Float64Array): Float64Array {
  return run(link, hidden).output;
}

/**
 * Gradients of `linkForward`, of the input and of each parameter by its name.
 * @param dOutput [R, outputSize]
 */
export function linkBackward(
  link: ReferenceLink,
  hidden: Float64Array,
  dOutput: Float64Array,
): { dHidden: Float64Array; gradients: Map<string, Float64Array> } {
  const { weights, inputSize } = link;
  const { before, normed, first, middle, sum, after, unscaled, factor, rows } = run(link, hidden);
  const gradients = new Map<string, Float64Array>();
  const back = (dY: Float64Array, x: Float64Array, name: string, size: number) => {
    const { dX, dWeight, dBias } = linearBackward(dY, x, weights.get(`${name}.weight`)!, size);
    gradients.set(`${name}.weight`, dWeight);
    if (weights.has(`${name}.bias`)) gradients.set(`${name}.bias`, dBias);
    return dX;
  };
  const backNorm = (dY: Float64Array, x: Float64Array, norm: NonNullable<ReturnType<typeof normOf>>) => {
    const { dX, dWeight, dBias } = layerNormBackward(dY, x, norm.weight, EPSILON);
    gradients.set(`${norm.name}.weight`, dWeight);
    gradients.set(`${norm.name}.bias`, dBias);
    return dX;
  };
  let d = dOutput;
  if (factor !== undefined) {
    const total = dOutput.reduce((running, value, i) => running + value * unscaled[i]!, 0);
    gradients.set("output_scale", Float64Array.of(total));
    d = dOutput.map((value) => factor * value);
  }
  if (after) d = backNorm(d, sum, after);
  const dShortcut = weights.has("residual_proj.weight")
    ? back(d, hidden, "residual_proj", inputSize)
    : link.addsInput
      ? d
      : undefined;
  const dFirst = middle ? geluBackward(back(d, middle, "proj2", first.length / rows), first) : d;
  const dNormed = back(dFirst, normed, "proj1", inputSize);
  const dBranch = before ? backNorm(dNormed, hidden, before) : dNormed;
  return { dHidden: dShortcut ? dBranch.map((value, i) => value + dShortcut[i]!) : dBranch, gradients };
}
