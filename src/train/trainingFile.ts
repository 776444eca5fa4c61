/**
 * A training run as one safetensors file: a set of links (src/links/linkSet.ts) that can be used as it is, and with it
 * the optimizer's moments and everything that decides how the run goes on. A run that is resumed from it gives the same
 * losses as one that was never interrupted.
 */
import { z } from "zod";
import { parseSafetensors, type SafetensorsTensor, writeSafetensors } from "../checkpoint/safetensors";
import { type LinkSet, readLinkSet, TRAINING_PREFIX, writeLinkSet } from "../links/linkSet";
import type { StoredLink } from "../links/release";
import { TrainingError, type TrainingSettings, trainingSettingsSchema } from "./settings";

/** Moments of a trained link's parameters, in their order. */
export type LinkMoments = readonly { first: Float32Array; second: Float32Array }[];

export interface TrainingState {
  settings: TrainingSettings;
  /** Steps taken. */
  step: number;
  /** What the agents' prompts call them, in the order of the set's agents. */
  roles: readonly string[];
  links: LinkSet;
  /** By the names of the trained links, see `linkNames`. */
  moments: ReadonlyMap<string, LinkMoments>;
}

const METADATA = "twinloop.training";

const stateSchema = z.strictObject({
  version: z.literal(1),
  settings: trainingSettingsSchema,
  step: z.int().min(0),
  roles: z.array(z.string()),
  /** Names of the trained links. */
  trained: z.array(z.string()),
});

/** The links of a set by the names that events and files give them: inner/<agent>, outer/<from>/<to>. */
export function namedLinks({ inner, outer }: LinkSet): Map<string, StoredLink> {
  return new Map([
    ...inner.map(({ agent, link }): [string, StoredLink] => [innerName(agent), link]),
    ...outer.map(({ from, to, link }): [string, StoredLink] => [outerName(from, to), link]),
  ]);
}

export const innerName = (agent: string) => `inner/${agent}`;
export const outerName = (from: string, to: string) => `outer/${from}/${to}`;

const momentName = (order: "first" | "second", link: string, parameter: string) =>
  `${TRAINING_PREFIX}${order}/${link}/${parameter}`;

export function writeTrainingFile({ settings, step, roles, links, moments }: TrainingState): Uint8Array<ArrayBuffer> {
  const { tensors, metadata } = parseSafetensors("links", writeLinkSet(links));
  const byName = namedLinks(links);
  const further = [...moments].flatMap(([name, ofLink]) =>
    (byName.get(name) as StoredLink).tensors.flatMap(({ name: parameter, shape }, i) => {
      const { first, second } = ofLink[i] as LinkMoments[number];
      return [
        tensorOf(momentName("first", name, parameter), shape, first),
        tensorOf(momentName("second", name, parameter), shape, second),
      ];
    }),
  );
  const state = { version: 1, settings, step, roles, trained: [...moments.keys()] };
  return writeSafetensors([...tensors, ...further], { ...metadata, [METADATA]: JSON.stringify(state) });
}

/** Whether a set of links is a training run as well. @throws CheckpointError when it is no safetensors file at all */
export function isTrainingFile(bytes: Uint8Array, file = "training file"): boolean {
  return parseSafetensors(file, bytes).metadata[METADATA] !== undefined;
}

/**
 * @param file what it is called in errors
 * @throws TrainingError naming the file and what is wrong with it: no safetensors file, no set of links, no training
 * run, a tensor that is missing, unknown, of a wrong shape or not finite
 */
export function readTrainingFile(bytes: Uint8Array, file = "training file"): TrainingState {
  try {
    return readState(bytes, file);
  } catch (error) {
    if (error instanceof TrainingError) throw new TrainingError(`${file}: ${error.message}`);
    throw new TrainingError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

function readState(bytes: Uint8Array, file: string): TrainingState {
  const { tensors, metadata } = parseSafetensors(file, bytes);
  const text = metadata[METADATA];
  if (text === undefined) {
    throw new TrainingError(`its metadata have no "${METADATA}": it is no training run, links at most`);
  }
  const { settings, step, roles, trained } = parseState(text);
  const links = readLinkSet(file, bytes);
  if (roles.length !== links.agents.length) {
    throw new TrainingError(`${METADATA}: ${roles.length} roles for ${links.agents.length} agents`);
  }
  const byName = namedLinks(links);
  const left = new Map(
    tensors.filter(({ name }) => name.startsWith(TRAINING_PREFIX)).map((tensor) => [tensor.name, tensor]),
  );
  const take = (name: string, shape: readonly number[]): Float32Array => {
    const tensor = left.get(name);
    if (!tensor) throw new TrainingError(`the tensor "${name}" is missing`);
    left.delete(name);
    if (tensor.dtype !== "F32" || tensor.shape.join() !== shape.join()) {
      const found = `${tensor.dtype} [${tensor.shape.join(", ")}]`;
      throw new TrainingError(`"${name}" is ${found} instead of F32 [${shape.join(", ")}]`);
    }
    const values = new Float32Array(new Uint8Array(tensor.bytes).buffer);
    if (!values.every(Number.isFinite)) throw new TrainingError(`"${name}" holds numbers that are not finite`);
    return values;
  };
  const moments = new Map(
    trained.map((name): [string, LinkMoments] => {
      const link = byName.get(name);
      if (!link) throw new TrainingError(`${METADATA}: trained: there is no link ${name}`);
      const ofLink = link.tensors.map(({ name: parameter, shape }) => ({
        first: take(momentName("first", name, parameter), shape),
        second: take(momentName("second", name, parameter), shape),
      }));
      return [name, ofLink];
    }),
  );
  if (left.size > 0) throw new TrainingError(`it has moments of no trained link: "${[...left.keys()].join('", "')}"`);
  return { settings, step, roles, links, moments };
}

function parseState(text: string) {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new TrainingError(`${METADATA}: no valid JSON: ${(error as Error).message}`);
  }
  const parsed = stateSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join(".") || "state"}: ${message}`);
  throw new TrainingError(`${METADATA}: ${problems.join("; ")}`);
}

function tensorOf(name: string, shape: readonly number[], values: Float32Array): SafetensorsTensor {
  return { name, dtype: "F32", shape, bytes: new Uint8Array(values.buffer, values.byteOffset, values.byteLength) };
}
