/**
 * The shape of a RecursiveLink: which of the forms it has, its widths, and the names and shapes of its parameters.
 * Forms: the paper's (RecursiveMAS, arXiv 2604.25917, section 3), the released one, and the released trainer's ablation.
 */
import { z } from "zod";

export const LINK_KINDS = ["inner", "outer"] as const;
/** Inner links feed an agent's hidden states back to itself, outer links hand them to another agent. */
export type LinkKind = (typeof LINK_KINDS)[number];

export const LINK_FORMS = ["paper", "released", "1layer", "1layerRes", "2layer", "2layerRes"] as const;
/**
 * With h the hidden state, s its shortcut (h for inner links, W3 h + b3 for outer ones):
 * - paper: s + W2 gelu(W1 h), without biases;
 * - released: LN(s + W2 gelu(W1 LN(h) + b1) + b2), the trainer's "2layer_ln_res";
 * - 1layer: W1 h + b1; 1layerRes: s + W1 h + b1;
 * - 2layer: W2 gelu(W1 h + b1) + b2; 2layerRes: s + W2 gelu(W1 h + b1) + b2.
 * Each is multiplied by the output scale where the link has one.
 */
export type LinkForm = (typeof LINK_FORMS)[number];

export interface LinkConfig {
  kind: LinkKind;
  form: LinkForm;
  /** Width of the hidden states that come in. */
  inputSize: number;
  /** Width of the vectors that go out: that of the receiving agent's embeddings. */
  outputSize: number;
  /** Rows of W1; 0 in forms of one layer. */
  hiddenSize: number;
  /** Whether the output is multiplied by a learned scalar; the released checkpoints have none. */
  outputScale: boolean;
}

export interface LinkParameterShape {
  /** As in the released checkpoints' state dictionaries; `output_scale` is ours. */
  name: string;
  /** As PyTorch has it: [out, in] of a weight, [size] of a vector. */
  shape: readonly number[];
  role: "weight" | "bias" | "normWeight" | "normBias" | "scale";
  /** Inputs of the linear layer that the parameter belongs to, for its initial spread. */
  fanIn: number;
}

export const OUTPUT_SCALE = "output_scale";

/** LayerNorm's epsilon in the released links (PyTorch's default). */
export const LINK_NORM_EPSILON = 1e-5;

export const isResidual = (form: LinkForm): boolean => form !== "1layer" && form !== "2layer";
export const isOneLayer = (form: LinkForm): boolean => form === "1layer" || form === "1layerRes";

/** The width of the hidden layer in the released code: d for inner links, d_out or, with layer norms, 2 d_out. */
export function defaultHiddenSize({
  kind,
  form,
  outputSize,
}: Pick<LinkConfig, "kind" | "form" | "outputSize">): number {
  if (isOneLayer(form)) return 0;
  return kind === "outer" && form === "released" ? 2 * outputSize : outputSize;
}

const width = z.int().positive();

export const linkConfigSchema = z
  .strictObject({
    kind: z.enum(LINK_KINDS),
    form: z.enum(LINK_FORMS),
    inputSize: width,
    outputSize: width,
    hiddenSize: z.int().nonnegative(),
    outputScale: z.boolean(),
  })
  .superRefine(({ kind, form, inputSize, outputSize, hiddenSize }, context) => {
    const problem = (path: string, message: string) => context.addIssue({ code: "custom", path: [path], message });
    if (kind === "inner" && inputSize !== outputSize) {
      problem("outputSize", `an inner link of ${inputSize} inputs has as many outputs, not ${outputSize}`);
    }
    if (isOneLayer(form) && hiddenSize !== 0) {
      problem("hiddenSize", `the form ${form} has no hidden layer: 0, not ${hiddenSize}`);
    }
    if (!isOneLayer(form) && hiddenSize === 0) problem("hiddenSize", `the form ${form} has a hidden layer`);
  });

/** Checks a config from outside. @throws LinkError naming the fields that are wrong */
export function parseLinkConfig(value: unknown, label = "link config"): LinkConfig {
  const parsed = linkConfigSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join(".") || "config"}: ${message}`);
  throw new LinkError(`${label}: ${problems.join("; ")}`);
}

/**
 * A config with the released code's hidden width and a learned output scale, unless given otherwise.
 * @throws LinkError naming the fields that are wrong
 */
export function linkConfig(
  fields: Pick<LinkConfig, "kind" | "form" | "inputSize" | "outputSize"> & Partial<LinkConfig>,
): LinkConfig {
  return parseLinkConfig({ hiddenSize: defaultHiddenSize(fields), outputScale: true, ...fields });
}

/** Names and shapes of a link's parameters, in the order of the released state dictionaries; the scale comes last. */
export function linkParameters({
  kind,
  form,
  inputSize,
  outputSize,
  hiddenSize,
  outputScale,
}: LinkConfig): LinkParameterShape[] {
  const linear = (name: string, rows: number, columns: number): LinkParameterShape[] => {
    const weight = { name: `${name}.weight`, shape: [rows, columns], role: "weight", fanIn: columns } as const;
    return form === "paper"
      ? [weight]
      : [weight, { name: `${name}.bias`, shape: [rows], role: "bias", fanIn: columns } as const];
  };
  const norm = (name: string, size: number): LinkParameterShape[] => [
    { name: `${name}.weight`, shape: [size], role: "normWeight", fanIn: size },
    { name: `${name}.bias`, shape: [size], role: "normBias", fanIn: size },
  ];
  const layers = isOneLayer(form)
    ? linear("proj1", outputSize, inputSize)
    : [...linear("proj1", hiddenSize, inputSize), ...linear("proj2", outputSize, hiddenSize)];
  const names = normNames(kind);
  return [
    ...layers,
    ...(form === "released" ? [...norm(names.before, inputSize), ...norm(names.after, outputSize)] : []),
    ...(kind === "outer" && isResidual(form) ? linear("residual_proj", outputSize, inputSize) : []),
    ...(outputScale ? [{ name: OUTPUT_SCALE, shape: [1], role: "scale", fanIn: 1 } as const] : []),
  ];
}

/** The released names of the layer norms before and after. */
export function normNames(kind: LinkKind): { before: string; after: string } {
  return kind === "inner" ? { before: "pre_ln", after: "post_ln" } : { before: "ln_source", after: "ln_target" };
}

/** Multiply-adds of one vector's way through a link: its matrices. */
export function linkMultiplyAdds(config: LinkConfig): number {
  return linkParameters(config).reduce((sum, { role, shape }) => {
    return role === "weight" ? sum + (shape[0] as number) * (shape[1] as number) : sum;
  }, 0);
}

/** Number of a link's parameters. */
export function linkParameterCount(config: LinkConfig): number {
  return linkParameters(config).reduce((sum, { shape }) => sum + shape.reduce((a, b) => a * b, 1), 0);
}

/** What links throw for files, configs and sizes that do not fit; the message names the field or the tensor. */
export class LinkError extends Error {
  override readonly name = "LinkError";
}
