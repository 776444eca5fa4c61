/**
 * All links of a recursion in one file: a safetensors file whose tensors are named `inner/<agent>/<parameter>` and
 * `outer/<from>/<to>/<parameter>`, with a JSON manifest in its metadata that says which agents the links belong to and
 * how they were trained. Shipped sets (public/links/<id>/) have the manifest beside it once more, to be read first.
 * The file of a training run (src/train/trainingFile.ts) is such a set with further tensors, named `training/...`.
 */
import { z } from "zod";
import { parseSafetensors, type SafetensorsTensor, writeSafetensors } from "../checkpoint/safetensors";
import { type LinkConfig, LinkError, linkConfigSchema } from "./linkConfig";
import { checkLinkTensors } from "./linkTensors";
import { decodeLinkTensors, encodeLinkTensors, type Files, type StoredLink } from "./release";

export interface LinkSetAgent {
  /** Unique within the set: letters, digits, "-", "_" and ".". */
  id: string;
  /** Its model, as in public/models. */
  model: string;
  /** Width of the model. */
  hiddenSize: number;
}

export interface LinkSet {
  id: string;
  /** What the links were trained on, "relay" for instance. */
  task: string;
  /** In the order of the loop. */
  agents: readonly LinkSetAgent[];
  inner: readonly { agent: string; link: StoredLink }[];
  outer: readonly { from: string; to: string; link: StoredLink }[];
  /** By purpose: initial values, data, evaluation. */
  seeds: Readonly<Record<string, number>>;
  /** How they were trained: settings, steps, losses, commands; any JSON. */
  training: Readonly<Record<string, unknown>>;
}

const id = z.string().regex(/^[A-Za-z0-9_.-]+$/, "letters, digits, -, _ and . only");

const manifestSchema = z.strictObject({
  format: z.literal("twinloop-links"),
  version: z.literal(1),
  id,
  task: z.string(),
  agents: z.array(z.strictObject({ id, model: z.string().min(1), hiddenSize: z.int().positive() })).min(1),
  inner: z.array(z.strictObject({ agent: z.string(), config: linkConfigSchema })),
  outer: z.array(z.strictObject({ from: z.string(), to: z.string(), config: linkConfigSchema })),
  seeds: z.record(z.string(), z.number()),
  training: z.record(z.string(), z.json()),
});

export type LinkSetManifest = z.infer<typeof manifestSchema>;

export const LINK_SET_MANIFEST = "links.json";
export const LINK_SET_WEIGHTS = "links.safetensors";
const METADATA = "twinloop.links";

/** Begins the names of tensors that a training run needs to go on, and that are no part of the set. */
export const TRAINING_PREFIX = "training/";

const innerPrefix = (agent: string) => `inner/${agent}/`;
const outerPrefix = (from: string, to: string) => `outer/${from}/${to}/`;

/** @throws LinkError naming the field that is wrong */
export function parseLinkSetManifest(file: string, text: string): LinkSetManifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new LinkError(`${file}: no valid JSON: ${(error as Error).message}`);
  }
  const parsed = manifestSchema.safeParse(value);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => `${path.join(".") || "manifest"}: ${message}`);
    throw new LinkError(`${file}: ${problems.join("; ")}`);
  }
  checkAgents(file, parsed.data);
  return parsed.data;
}

/** Each link stands once, between agents of the set, and has their widths. */
function checkAgents(file: string, { agents, inner, outer }: LinkSetManifest): void {
  const sizes = new Map<string, number>();
  for (const agent of agents) {
    if (sizes.has(agent.id)) throw new LinkError(`${file}: agents: "${agent.id}" is there twice`);
    sizes.set(agent.id, agent.hiddenSize);
  }
  const seen = new Set<string>();
  const check = (label: string, kind: LinkConfig["kind"], config: LinkConfig, from: string, to: string) => {
    if (seen.has(label)) throw new LinkError(`${file}: ${label} is there twice`);
    seen.add(label);
    if (config.kind !== kind) throw new LinkError(`${file}: ${label}: config.kind is ${config.kind}`);
    for (const [agent, field] of [
      [from, "inputSize"],
      [to, "outputSize"],
    ] as const) {
      const size = sizes.get(agent);
      if (size === undefined) throw new LinkError(`${file}: ${label}: there is no agent "${agent}"`);
      if (config[field] !== size) {
        throw new LinkError(`${file}: ${label}: config.${field} is ${config[field]}, and "${agent}" is ${size} wide`);
      }
    }
  };
  for (const { agent, config } of inner) check(`inner link of "${agent}"`, "inner", config, agent, agent);
  for (const { from, to, config } of outer) check(`outer link "${from}" -> "${to}"`, "outer", config, from, to);
}

/** @throws LinkError naming what does not fit */
export function linkSetManifest({ inner, outer, ...rest }: LinkSet): LinkSetManifest {
  const manifest = {
    format: "twinloop-links",
    version: 1,
    ...rest,
    inner: inner.map(({ agent, link }) => ({ agent, config: link.config })),
    outer: outer.map(({ from, to, link }) => ({ from, to, config: link.config })),
  };
  return parseLinkSetManifest(`link set "${rest.id}"`, JSON.stringify(manifest));
}

/** The whole set as one file. @throws LinkError naming what does not fit */
export function writeLinkSet(set: LinkSet): Uint8Array<ArrayBuffer> {
  const manifest = linkSetManifest(set);
  const tensors = [
    ...set.inner.flatMap(({ agent, link }) => encodeLinkTensors(link, innerPrefix(agent))),
    ...set.outer.flatMap(({ from, to, link }) => encodeLinkTensors(link, outerPrefix(from, to))),
  ];
  return writeSafetensors(tensors, { [METADATA]: JSON.stringify(manifest) });
}

/**
 * A set from one file.
 * @param file name for messages
 * @throws CheckpointError, LinkError naming the file and the field, link or tensor that is wrong
 */
export function readLinkSet(file: string, bytes: Uint8Array): LinkSet {
  const { tensors, metadata } = parseSafetensors(file, bytes);
  const text = metadata[METADATA];
  if (text === undefined) {
    throw new LinkError(`${file}: its metadata have no "${METADATA}": it is no set of links`);
  }
  const { format: _, version: __, inner, outer, ...rest } = parseLinkSetManifest(file, text);
  const unused = new Set(tensors.filter((tensor) => !tensor.name.startsWith(TRAINING_PREFIX)));
  const take = (label: string, prefix: string, config: LinkConfig): StoredLink => {
    const own: SafetensorsTensor[] = [];
    for (const tensor of tensors) {
      if (tensor.name.startsWith(prefix) && unused.delete(tensor)) {
        own.push({ ...tensor, name: tensor.name.slice(prefix.length) });
      }
    }
    const where = `${file}: ${label}`;
    const decoded = decodeLinkTensors(where, own);
    try {
      return { config, tensors: [...checkLinkTensors(config, decoded).values()] };
    } catch (error) {
      throw new LinkError(`${where}: ${(error as Error).message}`);
    }
  };
  const set: LinkSet = {
    ...rest,
    inner: inner.map(({ agent, config }) => {
      return { agent, link: take(`inner link of "${agent}"`, innerPrefix(agent), config) };
    }),
    outer: outer.map(({ from, to, config }) => {
      return { from, to, link: take(`outer link "${from}" -> "${to}"`, outerPrefix(from, to), config) };
    }),
  };
  if (unused.size > 0) {
    throw new LinkError(`${file}: no link has ${Array.from(unused, ({ name }) => `"${name}"`).join(", ")}`);
  }
  return set;
}

/** A set as a folder: the manifest, to be read first, and the file that has everything. */
export function writeLinkSetFiles(set: LinkSet): Map<string, Uint8Array> {
  const manifest = `${JSON.stringify(linkSetManifest(set), undefined, 2)}\n`;
  return new Map([
    [LINK_SET_MANIFEST, new TextEncoder().encode(manifest)],
    [LINK_SET_WEIGHTS, writeLinkSet(set)],
  ]);
}

/** @throws as `readLinkSet`; LinkError also when the two manifests differ */
export function readLinkSetFiles(files: Files): LinkSet {
  const [manifest, weights] = [files.get(LINK_SET_MANIFEST), files.get(LINK_SET_WEIGHTS)];
  if (!manifest) throw new LinkError(`${LINK_SET_MANIFEST} is missing`);
  if (!weights) throw new LinkError(`${LINK_SET_WEIGHTS} is missing`);
  const outside = parseLinkSetManifest(LINK_SET_MANIFEST, new TextDecoder().decode(manifest));
  const set = readLinkSet(LINK_SET_WEIGHTS, weights);
  if (JSON.stringify(outside) !== JSON.stringify(linkSetManifest(set))) {
    throw new LinkError(
      `${LINK_SET_MANIFEST} says something else than ${LINK_SET_WEIGHTS}: they are of different sets`,
    );
  }
  return set;
}
