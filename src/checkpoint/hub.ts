/**
 * Models of the Hugging Face hub (or a mirror of it): which files there are, at one commit, and where their bytes come
 * from. Source: the hub's own interface, https://huggingface.co/docs/hub/api, `GET /api/models/{id}/revision/{revision}`.
 */
import { z } from "zod";
import { decodedPart, parseAddress } from "./address";
import type { CheckpointSource } from "./checkpoint";
import { CheckpointError, DeliveryError, someOf, weightLike } from "./errors";
import { urlSource } from "./urlSource";

export const HUB_HOST = "https://huggingface.co";

export interface HubModel {
  /** "organisation/name". */
  id: string;
  /** A branch, tag or commit. Default "main". */
  revision?: string;
  /** Of the visitor, for models behind a licence. Kept nowhere, and sent to `host` only. */
  token?: string;
  /** Default HUB_HOST. */
  host?: string;
}

export interface HubFile {
  /** With its folders, as "onnx/model.onnx". */
  name: string;
  bytes: number;
  /** Of files kept in large-file storage. */
  sha256?: string;
}

export interface HubListing {
  /** The commit that the revision means now. */
  commit: string;
  files: readonly HubFile[];
}

export interface HubOptions {
  /** Takes the place of fetch. */
  fetchFile?: typeof fetch;
  signal?: AbortSignal;
}

const listingSchema = z.looseObject({
  sha: z.string().regex(/^[0-9a-f]{40}$/),
  siblings: z.array(
    z.looseObject({
      rfilename: z.string(),
      size: z.int().nonnegative().nullish(),
      lfs: z.looseObject({ sha256: z.string().nullish(), size: z.int().nonnegative().nullish() }).nullish(),
    }),
  ),
});

const NAME = "[\\w.-]+";
const HUB_ID = new RegExp(`^(${NAME}/${NAME})(?:@([\\w./-]+))?/?$`);
/** Of a page's address: the branch, tag or commit ends at a slash, but for "refs/pr/1"; a folder or file may follow. */
const HUB_PATH = new RegExp(`^/(${NAME}/${NAME})(?:/(?:tree|resolve|blob)/(refs/[^/]+/[^/]+|[^/]+)(?:/.*)?)?/?$`);
/** Names of the hub itself, which browsers may show and copy without the scheme. */
const HUB_HOSTS = ["huggingface.co", "www.huggingface.co", "hf.co"];

/**
 * What a person types: "org/name", "org/name@revision", or the address of the model's page, or of a folder or file of
 * it, on the hub or on a mirror (`host`).
 * @returns `undefined` for everything else
 */
export function parseHubId(text: string): Pick<HubModel, "id" | "revision" | "host"> | undefined {
  const typed = text.trim();
  const isBareHost = HUB_HOSTS.some((host) => typed.startsWith(`${host}/`));
  const address = parseAddress(isBareHost ? `https://${typed}` : typed);
  const url = address && new URL(address.url);
  const match = url ? HUB_PATH.exec(url.pathname) : (HUB_ID.exec(typed) ?? HUB_PATH.exec(`/${typed}`));
  if (!match?.[1] || match[1].split("/").some((part) => /^\.+$/.test(part))) return undefined;
  const revision = match[2] && decodedPart(match[2]);
  const isMirror = url !== undefined && !HUB_HOSTS.includes(url.host);
  return { id: match[1], ...(revision && { revision }), ...(isMirror && { host: url.origin }) };
}

/**
 * The files of a model, without their contents.
 * @throws CheckpointError that says whether the model is not there, needs a token, or the hub cannot be reached
 */
export async function listHubModel(
  model: HubModel,
  { fetchFile = fetch, signal }: HubOptions = {},
): Promise<HubListing> {
  const { id, revision = "main", host = HUB_HOST } = model;
  const label = `${id}@${revision}`;
  const url = `${host}/api/models/${id}/revision/${encodeURIComponent(revision)}?blobs=true`;
  let response: Response;
  let body: unknown;
  try {
    response = await fetchFile(url, { headers: authorization(model), ...(signal && { signal }) });
    body = await response.json().catch(() => undefined);
  } catch (error) {
    signal?.throwIfAborted();
    throw new CheckpointError(`${label}: ${host} cannot be reached: ${(error as Error).message}`, { cause: error });
  }
  if (!response.ok) throw new DeliveryError(response.status, `${label}: ${refusal(response, model)}`);
  const listing = listingSchema.safeParse(body);
  if (!listing.success) {
    throw new DeliveryError(response.status, `${label}: ${host} answered with something else than a list of files`);
  }
  const files = listing.data.siblings.map(({ rfilename, size, lfs }): HubFile => {
    const bytes = lfs?.size ?? size;
    if (bytes === undefined || bytes === null)
      throw new CheckpointError(`${label}: the size of ${rfilename} is missing`);
    return { name: rfilename, bytes, ...(lfs?.sha256 && { sha256: lfs.sha256 }) };
  });
  return { commit: listing.data.sha, files };
}

/**
 * The files of one folder of a model at the listing's commit; later commits change nothing.
 * @param folder such as "onnx"; default: the files outside of folders
 */
export function hubSource(
  model: HubModel,
  { commit, files }: HubListing,
  { folder = "", fetchFile = fetch }: { folder?: string; fetchFile?: typeof fetch } = {},
): CheckpointSource {
  const { id, host = HUB_HOST } = model;
  const prefix = folder === "" ? "" : `${folder}/`;
  const present = new Map(files.map(({ name, bytes }) => [name, bytes]));
  const source = urlSource(`${host}/${id}/resolve/${commit}/${prefix}`, {
    label: folder === "" ? id : `${id}/${folder}`,
    async fetchFile(input, init) {
      const response = await fetchFile(input, { ...init, headers: { ...headersOf(init), ...authorization(model) } });
      // The list of a model behind a licence is public; its files are not.
      if (response.status !== 401 && response.status !== 403) return response;
      await response.body?.cancel();
      throw new Error(`the server answered ${response.status}: ${gate(response.status, model)}`);
    },
  });
  const ofFile = new Map(files.map(({ name, sha256 }) => [name, sha256]));
  const sizeOf = (name: string) => present.get(prefix + name);
  return {
    label: source.label,
    // What the list lacks is not asked for: consoles would show an error for each optional file.
    file: async (name, signal) => (sizeOf(name) === undefined ? undefined : source.file(name, signal)),
    async range(name, start, end, signal) {
      if (sizeOf(name) === undefined) throw new CheckpointError(`${source.label}: ${name} is missing`);
      return source.range(name, start, end, signal);
    },
    size: async (name) => sizeOf(name),
    async stream(name, signal) {
      if (sizeOf(name) === undefined) throw new CheckpointError(`${source.label}: ${name} is missing`);
      return (source.stream as NonNullable<CheckpointSource["stream"]>)(name, signal);
    },
    // At one commit a name means one content.
    version: (name) => ofFile.get(prefix + name) ?? commit,
    absence: (name) => source.absence?.(name) ?? `the model has no such file at ${commit.slice(0, 8)}`,
  };
}

export interface HubCheckpoint {
  /** safetensors files with their index. */
  weights: HubFile[];
  weightBytes: number;
  /** Configuration, tokenizer and template. */
  others: HubFile[];
}

/** Files beside the weights that are read where they exist. */
export const OTHER_FILES = [
  "config.json",
  "generation_config.json",
  "tokenizer.json",
  "tokenizer_config.json",
  "chat_template.jinja",
];

/**
 * The files that opening a checkpoint reads.
 * @throws CheckpointError naming what the model lacks
 */
export function checkpointFiles({ id }: Pick<HubModel, "id">, { files }: HubListing): HubCheckpoint {
  const byName = new Map(files.map((file) => [file.name, file]));
  const single = byName.get("model.safetensors");
  const index = byName.get("model.safetensors.index.json");
  const shards = files.filter(({ name }) => /^model-\d+-of-\d+\.safetensors$/.test(name));
  const weights = single ? [single] : index ? [index, ...shards] : [];
  if (weights.length === 0) {
    const others = weightLike(byName.keys());
    const hint = others.length > 0 ? `; it has ${someOf(others)}` : "";
    throw new CheckpointError(`${id}: it has no model.safetensors and no model.safetensors.index.json${hint}`);
  }
  for (const name of ["config.json", "tokenizer.json"]) {
    if (!byName.has(name)) throw new CheckpointError(`${id}: it has no ${name}`);
  }
  const others = OTHER_FILES.flatMap((name) => byName.get(name) ?? []);
  return { weights, weightBytes: weights.reduce((sum, { bytes }) => sum + bytes, 0), others };
}

function authorization({ token }: HubModel): Record<string, string> {
  return token ? { Authorization: `Bearer ${token}` } : {};
}

function headersOf(init: RequestInit | undefined): Record<string, string> {
  return Object.fromEntries(new Headers(init?.headers));
}

function refusal({ status, statusText }: Response, { token, host = HUB_HOST }: HubModel): string {
  // Without a token the hub answers 401 for names that do not exist, too.
  if (status === 401 && !token) return "there is no such model, or it is private and needs an access token";
  if (status === 401) return "there is no such model, or the access token does not open it";
  if (status === 403) return gate(status, { token, host });
  if (status === 404) return "there is no such model or revision";
  if (status === 429) return `${host} asks to wait: too many requests`;
  return `${host} answered ${status} ${statusText}`;
}

/** What opens a model whose files are refused. */
function gate(status: number, { token, host = HUB_HOST }: Pick<HubModel, "token" | "host">): string {
  if (status === 403 || !token) {
    return `its owner wants a licence to be accepted on ${host} first, and then an access token`;
  }
  return "the access token is not valid, or does not open this model";
}
