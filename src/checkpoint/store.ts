/**
 * Checkpoints kept on the visitor's machine after the first load, one folder each: its manifest and its files. A file
 * is written under a temporary name and gets its own when it is whole, so that half a file is never taken for a whole
 * one; sizes are checked again before use. Knows no browser: the file system comes through `StoreFolder`.
 */
import { z } from "zod";
import type { CheckpointSource } from "./checkpoint";
import { CheckpointError, StorageError } from "./errors";
import { OTHER_FILES } from "./hub";
import type { ListedFile } from "./listing";
import { fileListSource } from "./sources";
import type { StoreFolder } from "./storeFolder";

/** Of an export in ONNX: the path of its .onnx file below the model's folder. */
const graph = z.string().optional();
const originSchema = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("hub"),
    id: z.string(),
    revision: z.string().optional(),
    host: z.string().optional(),
    commit: z.string(),
    graph,
  }),
  z.object({ kind: z.literal("url"), url: z.string(), graph }),
  z.object({ kind: z.literal("files"), name: z.string(), graph }),
]);
/** Where a kept checkpoint came from; never with an access token. */
export type KeptOrigin = z.infer<typeof originSchema>;

const manifestSchema = z.object({
  format: z.literal(1),
  name: z.string(),
  origin: originSchema,
  files: z.array(z.object({ name: z.string(), bytes: z.int().nonnegative(), version: z.string().optional() })),
  savedAt: z.number(),
});
type Manifest = z.infer<typeof manifestSchema>;

export interface StoredCheckpoint {
  /** Of the folder; what `open` and `remove` take. */
  key: string;
  name: string;
  /** Absent for what is left of something that cannot be read any more. */
  origin?: KeptOrigin;
  /** As they were listed at their origin. */
  files?: readonly ListedFile[];
  /** On disk, of whatever is there. */
  bytes: number;
  /** Of all files once they are there. */
  wantedBytes: number;
  /** Whether every file is there with its size; else what is wrong with the first that is not. */
  problem?: string;
  /** Milliseconds since 1970. */
  savedAt?: number;
}

export interface KeepOptions {
  signal?: AbortSignal;
  /** Bytes that are kept by now, of all that will be. */
  onProgress?: (loadedBytes: number, totalBytes: number) => void;
  /** Looks at the files that describe the model before its weights are copied; what it throws ends the copy. */
  check?: (files: CheckpointSource) => Promise<void>;
}

export interface KeepRequest {
  name: string;
  origin: KeptOrigin;
  files: readonly ListedFile[];
}

const MANIFEST = "manifest.json";
const PART = ".part";
const READ_BYTES = 2 ** 23;

export class CheckpointStore {
  private readonly busy = new Set<string>();

  /** @param open the store's own folder, opened with the first use */
  constructor(private readonly open: () => Promise<StoreFolder>) {}

  async list(): Promise<StoredCheckpoint[]> {
    const root = await this.open();
    const keys = await root.folders();
    const entries = await Promise.all(keys.map(async (key) => entryOf(key, await root.folder(key))));
    return entries.sort((a, b) => (b.savedAt ?? 0) - (a.savedAt ?? 0));
  }

  /** The entry of an origin, whole or not. */
  async find(origin: KeptOrigin): Promise<StoredCheckpoint | undefined> {
    const root = await this.open();
    const key = keyOf(origin);
    return (await root.folders()).includes(key) ? entryOf(key, await root.folder(key)) : undefined;
  }

  /** Whether exactly these files are there, each whole. */
  async holds({ origin, files }: Omit<KeepRequest, "name">): Promise<boolean> {
    const entry = await this.find(origin);
    if (!entry || entry.problem !== undefined) return false;
    const root = await this.open();
    return sameFiles((await manifestOf(await root.folder(entry.key)))?.files ?? [], files);
  }

  /**
   * The files of an entry.
   * @throws CheckpointError naming the file that is missing or has another size than it had when it was kept
   */
  async source(key: string): Promise<CheckpointSource> {
    const root = await this.open();
    const isThere = (await root.folders()).includes(key);
    const folder = isThere ? await root.folder(key) : undefined;
    const entry = folder && (await entryOf(key, folder));
    if (!folder || !entry) throw new CheckpointError(`${key}: there is no such checkpoint in this browser's store`);
    if (entry.problem !== undefined) throw new CheckpointError(`${entry.name}: ${entry.problem}`);
    const { files, name } = (await manifestOf(folder)) as Manifest;
    const kept = await Promise.all(files.map((file) => folder.read(file.name)));
    return fileListSource(
      kept.filter((file) => file !== undefined),
      name,
    );
  }

  /**
   * Copies the files of a source, one after the other and never more than some megabytes in memory. Files of the same
   * checkpoint that an earlier, interrupted call has finished are not fetched again.
   * @returns the key of the entry
   * @throws CheckpointError naming the file: what the source says, another size than was listed, storage that is full
   */
  async keep(request: KeepRequest, source: CheckpointSource, options: KeepOptions = {}): Promise<string> {
    const key = keyOf(request.origin);
    if (this.busy.has(key)) throw new CheckpointError(`${request.name}: it is being copied already`);
    this.busy.add(key);
    try {
      await this.copyAll(key, request, source, options);
      return key;
    } finally {
      this.busy.delete(key);
    }
  }

  async remove(key: string): Promise<void> {
    if (this.busy.has(key)) throw new CheckpointError(`${key}: it is being copied; cancel that first`);
    const root = await this.open();
    await stored(key, "the folder", () => root.remove(key));
  }

  private async copyAll(
    key: string,
    { name, origin, files }: KeepRequest,
    source: CheckpointSource,
    { signal, onProgress, check }: KeepOptions,
  ): Promise<void> {
    const root = await this.open();
    const before = await root.folder(key);
    const isOther = !sameFiles((await manifestOf(before))?.files ?? [], files);
    if (isOther) await stored(name, "the folder", () => root.remove(key));
    const folder = await root.folder(key);
    const manifest: Manifest = {
      format: 1,
      name,
      origin,
      files: files.map((file) => ({ ...file })),
      savedAt: Date.now(),
    };
    await stored(name, MANIFEST, () => writeWhole(folder, MANIFEST, [encode(manifest)]));
    const there = new Map((await folder.files()).map((file) => [file.name, file.bytes]));
    const totalBytes = files.reduce((sum, { bytes }) => sum + bytes, 0);
    let loadedBytes = 0;
    const add = (bytes: number) => {
      loadedBytes += bytes;
      onProgress?.(loadedBytes, totalBytes);
    };
    add(0);
    // In their order: what describes the model comes first.
    const weights = files.find((file) => !OTHER_FILES.includes(file.name));
    for (const file of files) {
      if (file === weights && check) await check(await keptFiles(folder, name));
      if (there.get(file.name) === file.bytes) {
        add(file.bytes);
        continue;
      }
      await stored(name, file.name, () => copyFile(folder, file, source, signal, add));
    }
  }
}

/** Whatever is in the folder now. */
async function keptFiles(folder: StoreFolder, label: string): Promise<CheckpointSource> {
  const files = await Promise.all((await folder.files()).map((file) => folder.read(file.name)));
  return fileListSource(
    files.filter((file) => file !== undefined),
    label,
  );
}

async function copyFile(
  folder: StoreFolder,
  { name, bytes }: ListedFile,
  source: CheckpointSource,
  signal: AbortSignal | undefined,
  add: (bytes: number) => void,
): Promise<void> {
  let arrived = 0;
  const counted = async function* () {
    for await (const chunk of chunksOf(source, name, bytes, signal)) {
      signal?.throwIfAborted();
      arrived += chunk.length;
      if (arrived > bytes) break;
      yield chunk;
      add(chunk.length);
    }
    signal?.throwIfAborted();
    if (arrived !== bytes) {
      const found = arrived > bytes ? "more" : String(arrived);
      throw new CheckpointError(
        `${source.label}: ${name} has another size than was listed: ${found} of ${bytes} bytes`,
      );
    }
  };
  await writeWhole(folder, name, counted());
}

/** A file under its own name once it is whole; nothing of it stays when that fails. */
async function writeWhole(
  folder: StoreFolder,
  name: string,
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<void> {
  const part = name + PART;
  const writer = await folder.write(part);
  try {
    try {
      for await (const chunk of chunks) await writer.write(chunk);
    } finally {
      await writer.close();
    }
    await folder.rename(part, name);
  } catch (error) {
    await folder.remove(part).catch(() => {});
    throw error;
  }
}

async function* chunksOf(
  source: CheckpointSource,
  name: string,
  bytes: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  if (!source.stream) {
    for (let start = 0; start < bytes; start += READ_BYTES) {
      yield await source.range(name, start, Math.min(bytes, start + READ_BYTES), signal);
    }
    return;
  }
  const reader = (await source.stream(name, signal)).getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    // Also when the reader of these chunks has had enough.
    await reader.cancel().catch(() => {});
  }
}

/** Gives what a file system throws the name of the file, in words that say what to do. */
async function stored<T>(label: string, file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { name, message } = error as Error;
    if (name === "QuotaExceededError") {
      throw new StorageError("full", `${label}: ${file}: the browser's storage for this page is full`, {
        cause: error,
      });
    }
    if (name === "NoModificationAllowedError") {
      throw new StorageError("busy", `${label}: ${file}: another tab is using it`, { cause: error });
    }
    if (error instanceof CheckpointError || name === "AbortError") throw error;
    throw new CheckpointError(`${label}: ${file}: ${message}`, { cause: error });
  }
}

async function entryOf(key: string, folder: StoreFolder): Promise<StoredCheckpoint> {
  const files = await folder.files();
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const manifest = await manifestOf(folder);
  if (!manifest) return { key, name: key, bytes, wantedBytes: bytes, problem: "what is there cannot be read" };
  const { name, origin, savedAt } = manifest;
  const sizes = new Map(files.map((file) => [file.name, file.bytes]));
  const wantedBytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
  const wrong = manifest.files.find((file) => sizes.get(file.name) !== file.bytes);
  const found = wrong && sizes.get(wrong.name);
  const problem =
    wrong && (found === undefined ? `${wrong.name} is missing` : `${wrong.name} has ${found} of ${wrong.bytes} bytes`);
  const rest = { bytes, wantedBytes, savedAt, ...(problem !== undefined && { problem }) };
  return { key, name, origin, files: manifest.files, ...rest };
}

/** `undefined` when there is none that can be read. */
async function manifestOf(folder: StoreFolder): Promise<Manifest | undefined> {
  const file = await folder.read(MANIFEST);
  if (!file) return undefined;
  try {
    const text = new TextDecoder().decode(await file.slice(0, file.size).arrayBuffer());
    return manifestSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function encode(manifest: Manifest): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(manifest));
}

/** Tells whether two openings are of the same bytes, as far as origins tell. */
export function identityOf(origin: KeptOrigin, files: readonly ListedFile[]): string {
  return JSON.stringify([keyOf(origin), files.map(({ name, bytes, version }) => [name, bytes, version ?? null])]);
}

function sameFiles(a: readonly ListedFile[], b: readonly ListedFile[]): boolean {
  const tell = (files: readonly ListedFile[]) =>
    JSON.stringify(files.map(({ name, bytes, version }) => [name, bytes, version ?? null]));
  return tell(a) === tell(b);
}

/** A readable folder name, and a number that keeps origins apart whose readable parts are the same. */
function keyOf(origin: KeptOrigin): string {
  const place =
    origin.kind === "hub"
      ? ["hub", origin.host ?? "", origin.id, origin.revision ?? ""]
      : [origin.kind, origin.kind === "url" ? origin.url : origin.name];
  const identity = JSON.stringify(origin.graph === undefined ? place : [...place, origin.graph]);
  const readable = origin.kind === "hub" ? origin.id : origin.kind === "url" ? origin.url : origin.name;
  // FNV-1a, 32 bits: https://www.rfc-editor.org/rfc/rfc9923.
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(identity)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return `${readable
    .replace(/^https?:\/\//, "")
    .replace(/[^\w.-]+/g, "_")
    .slice(-60)}-${hash.toString(16)}`;
}
