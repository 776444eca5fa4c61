/** A link's parameters outside of the device: their first values, and whether they fit a config. */
import { Random } from "../random/random";
import { isOneLayer, type LinkConfig, LinkError, type LinkParameterShape, linkParameters } from "./linkConfig";

/** A parameter outside of the device. */
export interface LinkTensor {
  name: string;
  /** As PyTorch has it: [out, in] of a weight, [size] of a vector. */
  shape: readonly number[];
  values: Float32Array;
}

/**
 * How a link begins.
 * - "pytorch": as PyTorch's Linear and LayerNorm do, which is what the released links began with;
 * - "shortcut": the branch adds nothing yet (its last matrix and biases are zero), so that the link hands on its
 *   shortcut: h in inner links (through the layer norm in the released form), `matrix` h in outer ones. `matrix` is
 *   [outputSize, inputSize], a ridge fit for instance, and the identity by default, where the widths are equal. The form
 *   1layer, all shortcut, begins as that matrix; 2layer has no shortcut.
 */
export type LinkStart = "pytorch" | { shortcut: ArrayLike<number> | "identity" };

/** First of the generator's streams that draw initial values: one for each parameter. */
const FIRST_STREAM = 0x11a0;

/** @throws LinkError naming a parameter that is missing, repeated, unknown, or of a wrong shape */
export function checkLinkTensors(config: LinkConfig, tensors: readonly LinkTensor[]): Map<string, LinkTensor> {
  const given = new Map<string, LinkTensor>();
  for (const tensor of tensors) {
    if (given.has(tensor.name)) throw new LinkError(`the tensor "${tensor.name}" is there twice`);
    given.set(tensor.name, tensor);
  }
  const what = `${config.kind} link of the form ${config.form}`;
  const wanted = linkParameters(config);
  const missing = wanted.filter(({ name }) => !given.has(name)).map(({ name }) => name);
  if (missing.length > 0) throw new LinkError(`${what}: missing ${quoted(missing)}`);
  const known = new Set(wanted.map(({ name }) => name));
  const unused = [...given.keys()].filter((name) => !known.has(name));
  if (unused.length > 0) throw new LinkError(`${what}: it has no parameters ${quoted(unused)}`);
  const checked = new Map<string, LinkTensor>();
  for (const { name, shape } of wanted) {
    const tensor = given.get(name) as LinkTensor;
    const fits = tensor.shape.length === shape.length && shape.every((size, i) => size === tensor.shape[i]);
    if (!fits) {
      throw new LinkError(`${what}: "${name}" is [${tensor.shape.join(", ")}] instead of [${shape.join(", ")}]`);
    }
    const count = shape.reduce((a, b) => a * b, 1);
    if (tensor.values.length !== count) {
      throw new LinkError(`${what}: "${name}" [${shape.join(", ")}] has ${tensor.values.length} values`);
    }
    checked.set(name, tensor);
  }
  return checked;
}

const quoted = (names: readonly string[]) => names.map((name) => `"${name}"`).join(", ");

/**
 * First values of a link's parameters, each from a stream of its own.
 * Source: PyTorch draws weights and biases of Linear from U(-1 / sqrt(fan in), 1 / sqrt(fan in)).
 * @throws LinkError as `RecursiveLink.create`
 */
export function initialLinkTensors(
  config: LinkConfig,
  { seed, outputScale, start = "pytorch" }: { seed: number; outputScale?: number; start?: LinkStart },
): LinkTensor[] {
  if (outputScale !== undefined && !config.outputScale) {
    throw new LinkError(`outputScale: ${outputScale} is given, and the config has no output scale`);
  }
  if (outputScale !== undefined && !(Number.isFinite(outputScale) && outputScale !== 0)) {
    throw new LinkError(`outputScale: ${outputScale} is no length of embeddings over sqrt(d)`);
  }
  const tensors = linkParameters(config).map((parameter, index): LinkTensor => {
    const random = new Random(seed, FIRST_STREAM + index);
    const { name, shape } = parameter;
    const length = shape.reduce((a, b) => a * b, 1);
    return { name, shape, values: Float32Array.from({ length }, () => firstValue(parameter, random, outputScale)) };
  });
  if (start !== "pytorch") startAsShortcut(config, tensors, start.shortcut);
  return tensors;
}

function firstValue({ role, fanIn }: LinkParameterShape, random: Random, outputScale = 1): number {
  switch (role) {
    case "weight":
    case "bias":
      return (2 * random.uniform() - 1) / Math.sqrt(fanIn);
    case "normWeight":
      return 1;
    case "normBias":
      return 0;
    case "scale":
      return outputScale;
  }
}

function startAsShortcut(config: LinkConfig, tensors: LinkTensor[], matrix: ArrayLike<number> | "identity"): void {
  const { kind, form, inputSize, outputSize } = config;
  if (form === "2layer") throw new LinkError("start: the form 2layer has no shortcut");
  const set = (name: string, values: ArrayLike<number>) =>
    tensors.find((tensor) => tensor.name === name)?.values.set(values);
  const clear = (name: string) => tensors.find((tensor) => tensor.name === name)?.values.fill(0);
  const last = isOneLayer(form) ? "proj1" : "proj2";
  clear(`${last}.weight`);
  clear(`${last}.bias`);
  const shortcut = form === "1layer" ? "proj1" : "residual_proj";
  if (kind === "inner" && form !== "1layer") {
    if (matrix !== "identity") throw new LinkError(`start: the shortcut of an inner link ${form} is the identity`);
    return;
  }
  if (matrix === "identity" && inputSize !== outputSize) {
    throw new LinkError(`start: no identity from ${inputSize} to ${outputSize}; give a matrix`);
  }
  const values = matrix === "identity" ? identity(inputSize) : matrix;
  if (values.length !== outputSize * inputSize) {
    throw new LinkError(`start: a shortcut of ${values.length} values for [${outputSize}, ${inputSize}]`);
  }
  set(`${shortcut}.weight`, values);
  clear(`${shortcut}.bias`);
}

function identity(size: number): Float32Array {
  const values = new Float32Array(size * size);
  for (let i = 0; i < size; i++) values[i * size + i] = 1;
  return values;
}
