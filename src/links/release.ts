/**
 * Links as files: safetensors with the tensor names and shapes of the released checkpoints' state dictionaries, and the
 * release's manifests `innerlink_config.json`, `adapter_config.json` and `outerlink_config.json`. Pure functions over
 * bytes. The release keeps its weights as PyTorch archives (.pt), which run code when they are read: convert them once,
 * with `safetensors.torch.save_file(torch.load(path, weights_only=True), ...)`; names and shapes stay.
 * What is ours: the tensor `output_scale` [1] and, in the file's metadata, `adapter_type` and `hidden_size`. The released
 * code refuses tensors that it does not know: `foldOutputScale` turns a link into one without.
 * Source: the released RecursiveMAS code (modeling.py, hf_resolver.py, train/model.py), from which the names come.
 */
import { z } from "zod";
import { decodeTensor, encodeTensor } from "../checkpoint/dtype";
import { parseSafetensors, type SafetensorsTensor, writeSafetensors } from "../checkpoint/safetensors";
import {
  defaultHiddenSize,
  isOneLayer,
  isResidual,
  LINK_FORMS,
  LINK_KINDS,
  type LinkConfig,
  LinkError,
  type LinkForm,
  type LinkKind,
  normNames,
  OUTPUT_SCALE,
  parseLinkConfig,
} from "./linkConfig";
import { checkLinkTensors, type LinkTensor } from "./linkTensors";

/** A link that is not on a device. */
export interface StoredLink {
  config: LinkConfig;
  tensors: LinkTensor[];
}

/** The release's names of the forms; "paper_adapter" is ours, as the release has no links without biases. */
const ADAPTER_TYPES: Readonly<Record<LinkForm, string>> = {
  paper: "paper_adapter",
  released: "ln_res_adapter",
  "1layer": "linear_adapter",
  "1layerRes": "linear_res_adapter",
  "2layer": "adapter",
  "2layerRes": "res_adapter",
};

/** The release's name of a kind and form: `ln_res_adapter`, `outer_ln_res_adapter` and so on. */
export function adapterTypeOf({ kind, form }: Pick<LinkConfig, "kind" | "form">): string {
  return kind === "outer" ? `outer_${ADAPTER_TYPES[form]}` : ADAPTER_TYPES[form];
}

/** @throws LinkError listing the types there are */
export function parseAdapterType(type: string, label: string): { kind: LinkKind; form: LinkForm } {
  const known = LINK_KINDS.flatMap((kind) => LINK_FORMS.map((form) => ({ kind, form })));
  const found = known.find((candidate) => adapterTypeOf(candidate) === type);
  if (found) return found;
  throw new LinkError(`${label}: unknown adapter_type "${type}"; there are ${known.map(adapterTypeOf).join(", ")}`);
}

/** One link as a safetensors file, f32. @throws LinkError when the tensors do not fit the config */
export function writeLink(
  { config, tensors }: StoredLink,
  metadata: Readonly<Record<string, string>> = {},
): Uint8Array<ArrayBuffer> {
  return writeSafetensors(encodeLinkTensors({ config, tensors }), { ...metadata, ...linkMetadata(config) });
}

/** What a config has that the tensors' names and shapes do not tell, or not to every reader. */
function linkMetadata(config: LinkConfig): Record<string, string> {
  const isOwnWidth = config.hiddenSize !== defaultHiddenSize(config);
  return {
    format: "pt",
    adapter_type: adapterTypeOf(config),
    ...(isOwnWidth ? { hidden_size: String(config.hiddenSize) } : {}),
  };
}

/** @param prefix of the names, in files of several links */
export function encodeLinkTensors({ config, tensors }: StoredLink, prefix = ""): SafetensorsTensor[] {
  return Array.from(checkLinkTensors(config, tensors).values(), ({ name, shape, values }) => {
    return { name: prefix + name, dtype: "F32", shape, bytes: encodeTensor("F32", values) };
  });
}

export interface ReadLinkOptions {
  /** What the link must be; default: what the file's metadata say, or else its names, if only one form has them. */
  adapterType?: string;
  /** Widths that the link must have: those of the agents. */
  inputSize?: number;
  outputSize?: number;
  /** Output scale of a link that has none; default: it goes on without. */
  outputScale?: number;
}

/**
 * One link from a safetensors file: f32, bf16 or f16.
 * @param file name for messages
 * @throws CheckpointError, LinkError naming the file and what is wrong: a PyTorch archive, an unknown adapter type, a
 * tensor that is missing, unused, of a wrong shape or type, or has values that are not finite
 */
export function readLink(file: string, bytes: Uint8Array, options: ReadLinkOptions = {}): StoredLink {
  if (bytes[0] === 0x50 && bytes[1] === 0x4b) {
    throw new LinkError(`${file} is a PyTorch archive: convert it to safetensors (see docs/links.md)`);
  }
  const { tensors, metadata } = parseSafetensors(file, bytes);
  const type = agreed(file, "adapter_type", options.adapterType, metadata.adapter_type) ?? typeByNames(file, tensors);
  const decoded = decodeLinkTensors(file, tensors);
  if (options.outputScale !== undefined && !decoded.some(({ name }) => name === OUTPUT_SCALE)) {
    decoded.push({ name: OUTPUT_SCALE, shape: [1], values: Float32Array.of(options.outputScale) });
  }
  const config = configOf(file, parseAdapterType(type, file), decoded, metadata.hidden_size);
  for (const side of ["inputSize", "outputSize"] as const) {
    const wanted = options[side];
    if (wanted !== undefined && config[side] !== wanted) {
      throw new LinkError(`${file}: ${side} is ${config[side]} instead of ${wanted}`);
    }
  }
  return { config, tensors: [...named(file, () => checkLinkTensors(config, decoded)).values()] };
}

/** Two sources of one fact. @throws LinkError when they differ */
function agreed(file: string, field: string, given: string | undefined, own: string | undefined): string | undefined {
  if (given !== undefined && own !== undefined && given !== own) {
    throw new LinkError(`${file}: ${field} is "${given}" by the manifest, and "${own}" by the file`);
  }
  return given ?? own;
}

/** The layer norms' names belong to one form each. */
function typeByNames(file: string, tensors: readonly { name: string }[]): string {
  if (tensors.some(({ name }) => name.startsWith("pre_ln."))) return "ln_res_adapter";
  if (tensors.some(({ name }) => name.startsWith("ln_source."))) return "outer_ln_res_adapter";
  throw new LinkError(
    `${file}: it has no layer norms, so that its adapter_type must be given: several have such names`,
  );
}

export function decodeLinkTensors(file: string, tensors: readonly SafetensorsTensor[]): LinkTensor[] {
  return tensors.map(({ name, dtype, shape, bytes }) => {
    const values = Float32Array.from(decodeTensor(dtype, bytes));
    const odd = values.find((value) => !Number.isFinite(value));
    if (odd !== undefined) throw new LinkError(`${file}: tensor "${name}" has a value of ${odd}`);
    return { name, shape, values };
  });
}

/** The widths stand in the matrices' shapes; everything else is checked against them. */
function configOf(
  file: string,
  { kind, form }: { kind: LinkKind; form: LinkForm },
  tensors: readonly LinkTensor[],
  ownHiddenSize: string | undefined,
): LinkConfig {
  const matrix = (name: string): readonly [number, number] => {
    const tensor = tensors.find((candidate) => candidate.name === name);
    if (!tensor) throw new LinkError(`${file}: "${name}" is missing`);
    if (tensor.shape.length !== 2) throw new LinkError(`${file}: "${name}" is [${tensor.shape.join(", ")}], no matrix`);
    return tensor.shape as unknown as readonly [number, number];
  };
  const [first, inputSize] = matrix("proj1.weight");
  const outputSize = isOneLayer(form) ? first : matrix("proj2.weight")[0];
  const hiddenSize = isOneLayer(form) ? 0 : first;
  const usual = defaultHiddenSize({ kind, form, outputSize });
  if (ownHiddenSize !== undefined && !/^\d+$/.test(ownHiddenSize)) {
    throw new LinkError(`${file}: metadata hidden_size is "${ownHiddenSize}", no whole number`);
  }
  const wanted = ownHiddenSize === undefined ? usual : Number(ownHiddenSize);
  if (hiddenSize !== wanted) {
    throw new LinkError(
      `${file}: "proj1.weight" is [${first}, ${inputSize}] instead of [${wanted}, ${inputSize}]: ` +
        `${adapterTypeOf({ kind, form })} of ${outputSize} outputs has a hidden width of ${wanted}`,
    );
  }
  const outputScale = tensors.some(({ name }) => name === OUTPUT_SCALE);
  return parseLinkConfig({ kind, form, inputSize, outputSize, hiddenSize, outputScale }, file);
}

function named<T>(file: string, fn: () => T): T {
  try {
    return fn();
  } catch (error) {
    if (error instanceof LinkError) throw new LinkError(`${file}: ${error.message}`);
    throw error;
  }
}

/**
 * The same function without an output scale, for readers that know none: the scale goes into the last layer norm, or
 * into the matrices that are added up.
 * @throws LinkError for inner links whose shortcut is the hidden state itself, without a norm after: nothing can hold it
 */
export function foldOutputScale({ config, tensors }: StoredLink): StoredLink {
  const factor = tensors.find(({ name }) => name === OUTPUT_SCALE)?.values[0];
  if (factor === undefined) return { config, tensors };
  const { kind, form } = config;
  if (kind === "inner" && isResidual(form) && form !== "released") {
    throw new LinkError(
      `an inner link of the form ${form} hands on its hidden state as it is: no scale goes into that`,
    );
  }
  const last = form === "released" ? [normNames(kind).after] : [isOneLayer(form) ? "proj1" : "proj2", "residual_proj"];
  const scaled = tensors.filter(({ name }) => name !== OUTPUT_SCALE);
  return {
    config: { ...config, outputScale: false },
    tensors: scaled.map((tensor) => {
      const isLast = last.some((layer) => tensor.name.startsWith(`${layer}.`));
      return isLast ? { ...tensor, values: tensor.values.map((value) => factor * value) } : tensor;
    }),
  };
}

export const INNER_MANIFEST = "innerlink_config.json";
export const OUTER_MANIFEST = "outerlink_config.json";
const ADAPTER_CONFIG = "adapter_config.json";

/** A folder: contents by file name. */
export type Files = ReadonlyMap<string, Uint8Array>;

const innerManifestSchema = z.looseObject({
  // The key is the release's, also where the file is no .pt.
  tasks: z.record(z.string(), z.looseObject({ "adapter.pt": z.string() })).default({}),
});
const adapterConfigSchema = z.looseObject({ adapter_type: z.string() });
const outerEntrySchema = z.looseObject({
  legacy_key: z.string(),
  filename: z.string(),
  source_role: z.string().optional(),
  target_role: z.string().optional(),
  adapter_type: z.string().optional(),
  in_dim: z.int().positive().optional(),
  out_dim: z.int().positive().optional(),
});
const outerManifestSchema = z.looseObject({
  format_version: z.literal(1).optional(),
  paradigm: z.string().optional(),
  variant: z.string().optional(),
  adapters: z.array(outerEntrySchema).optional(),
  tasks: z.record(z.string(), z.looseObject({ adapters: z.array(outerEntrySchema) })).optional(),
});

/** An agent's inner links, one for each task, as a folder of the release. */
export function writeInnerRelease(links: Readonly<Record<string, StoredLink>>): Map<string, Uint8Array> {
  const types = new Set(Object.values(links).map(({ config }) => adapterTypeOf(config)));
  const [type] = types;
  if (!type || types.size > 1) throw new LinkError(`${ADAPTER_CONFIG}: one adapter_type, not ${[...types].join(", ")}`);
  const files = new Map<string, Uint8Array>();
  const tasks: Record<string, unknown> = {};
  for (const [task, link] of Object.entries(links)) {
    if (link.config.kind !== "inner") throw new LinkError(`${task}: an outer link among inner ones`);
    const name = `adapter(${task}).safetensors`;
    tasks[task] = { "adapter.pt": name };
    files.set(name, writeLink(link));
  }
  files.set(INNER_MANIFEST, json({ tasks }));
  files.set(ADAPTER_CONFIG, json({ adapter_type: type }));
  return files;
}

/**
 * The inner link of a folder of the release. Where the manifest names a .pt, its safetensors of the same name is read.
 * @param task default: the only one, or the folder's `adapter.safetensors`
 * @throws as `readLink`, also naming the manifest's field, the task or the file that is missing
 */
export function readInnerRelease(
  files: Files,
  task?: string,
  options: Omit<ReadLinkOptions, "adapterType"> = {},
): StoredLink {
  const manifest = files.get(INNER_MANIFEST);
  const tasks = manifest ? parseJson(INNER_MANIFEST, manifest, innerManifestSchema).tasks : {};
  const names = Object.keys(tasks);
  const chosen = task ?? (names.length === 1 ? names[0] : undefined);
  if (chosen !== undefined && manifest && !Object.hasOwn(tasks, chosen)) {
    throw new LinkError(`${INNER_MANIFEST}: tasks.${chosen} is missing; there are ${names.join(", ") || "none"}`);
  }
  if (chosen === undefined && names.length > 1) {
    throw new LinkError(`${INNER_MANIFEST}: choose a task of ${names.join(", ")}`);
  }
  const named = chosen === undefined ? "adapter.pt" : (tasks[chosen]?.["adapter.pt"] ?? `adapter(${chosen}).pt`);
  const config = files.get(ADAPTER_CONFIG);
  const adapterType = config && parseJson(ADAPTER_CONFIG, config, adapterConfigSchema).adapter_type;
  const file = weightsFile(files, named);
  const link = readLink(file.name, file.bytes, { ...options, adapterType });
  if (link.config.kind !== "inner") throw new LinkError(`${file.name}: an outer link where an inner one belongs`);
  return link;
}

/** An outer link with the release's name for its edge (`outer_12`) and the roles at its ends. */
export interface OuterEntry {
  key: string;
  sourceRole?: string;
  targetRole?: string;
  link: StoredLink;
}

export interface OuterRelease {
  /** sequential, mixture, distillation, deliberation. */
  paradigm: string;
  variant?: string;
  /** Manifests are with or without tasks. */
  task?: string;
  links: readonly OuterEntry[];
}

/** All outer links of a recursion as a folder of the release. */
export function writeOuterRelease({ paradigm, variant, task, links }: OuterRelease): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  const adapters = links.map(({ key, sourceRole, targetRole, link }) => {
    if (link.config.kind !== "outer") throw new LinkError(`${key}: an inner link among outer ones`);
    const edge = sourceRole && targetRole ? `${sourceRole}-${targetRole}-Outerlink` : key;
    const filename = `${edge}${task === undefined ? "" : `(${task})`}.safetensors`;
    if (files.has(filename)) throw new LinkError(`${key}: another link is in ${filename}`);
    files.set(filename, writeLink(link));
    return {
      legacy_key: key,
      filename,
      source_role: sourceRole,
      target_role: targetRole,
      adapter_type: adapterTypeOf(link.config),
      in_dim: link.config.inputSize,
      out_dim: link.config.outputSize,
    };
  });
  const head = { format_version: 1, paradigm, variant };
  const body = task === undefined ? { adapters } : { tasks: { [task]: { task, adapters } } };
  files.set(OUTER_MANIFEST, json({ ...head, ...body }));
  return files;
}

/**
 * All outer links of a folder of the release.
 * @param task of manifests with several
 * @throws as `readInnerRelease`
 */
export function readOuterRelease(
  files: Files,
  task?: string,
  { outputScale }: Pick<ReadLinkOptions, "outputScale"> = {},
): OuterRelease {
  const bytes = files.get(OUTER_MANIFEST);
  if (!bytes) throw new LinkError(`${OUTER_MANIFEST} is missing`);
  const manifest = parseJson(OUTER_MANIFEST, bytes, outerManifestSchema);
  const { tasks } = manifest;
  const names = Object.keys(tasks ?? {});
  const chosen = tasks && (task ?? (names.length === 1 ? names[0] : undefined));
  if (tasks && (chosen === undefined || !Object.hasOwn(tasks, chosen))) {
    const asked = task === undefined ? "choose a task of" : `tasks.${task} is missing; there are`;
    throw new LinkError(`${OUTER_MANIFEST}: ${asked} ${names.join(", ") || "none"}`);
  }
  const entries = chosen === undefined ? manifest.adapters : tasks?.[chosen]?.adapters;
  if (!entries || entries.length === 0) throw new LinkError(`${OUTER_MANIFEST}: adapters: there are none`);
  const links = entries.map((entry): OuterEntry => {
    const file = weightsFile(files, entry.filename);
    const link = readLink(file.name, file.bytes, {
      adapterType: entry.adapter_type,
      inputSize: entry.in_dim,
      outputSize: entry.out_dim,
      outputScale,
    });
    if (link.config.kind !== "outer") throw new LinkError(`${file.name}: an inner link where an outer one belongs`);
    return { key: entry.legacy_key, sourceRole: entry.source_role, targetRole: entry.target_role, link };
  });
  const repeated = links.find(({ key }, i) => links.findIndex((other) => other.key === key) !== i);
  if (repeated) throw new LinkError(`${OUTER_MANIFEST}: the legacy_key ${repeated.key} is there twice`);
  return { paradigm: manifest.paradigm ?? "sequential", variant: manifest.variant, task: chosen, links };
}

function weightsFile(files: Files, name: string): { name: string; bytes: Uint8Array } {
  const converted = name.replace(/\.pt$/, ".safetensors");
  for (const candidate of [converted, name]) {
    const bytes = files.get(candidate);
    if (bytes) return { name: candidate, bytes };
  }
  throw new LinkError(`${converted} is missing`);
}

function parseJson<T>(file: string, bytes: Uint8Array, schema: z.ZodType<T>): T {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    throw new LinkError(`${file}: no valid JSON: ${(error as Error).message}`);
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join(".") || "manifest"}: ${message}`);
  throw new LinkError(`${file}: ${problems.join("; ")}`);
}

const json = (value: unknown) => new TextEncoder().encode(`${JSON.stringify(value, undefined, 2)}\n`);
