/** Where checkpoints come from in a browser and anywhere else: memory, and files that a person picked or dropped. */
import type { CheckpointSource } from "./checkpoint";
import { CheckpointError, checkRange } from "./errors";

export { urlSource } from "./urlSource";

/** Files that are already in memory, by name; strings are taken as UTF-8. Readers get copies. */
export function memorySource(files: Readonly<Record<string, Uint8Array | string>>, label = "memory"): CheckpointSource {
  const contents = new Map<string, Uint8Array>();
  for (const [name, content] of Object.entries(files)) {
    contents.set(name, typeof content === "string" ? new TextEncoder().encode(content) : content);
  }
  return {
    label,
    async file(name, signal) {
      signal?.throwIfAborted();
      return contents.get(name)?.slice();
    },
    async range(name, start, end, signal) {
      signal?.throwIfAborted();
      const content = contents.get(name);
      if (!content) {
        throw new CheckpointError(`${label}: ${name} is missing`);
      }
      checkRange(label, name, start, end, content.length);
      return content.slice(start, end);
    },
    async size(name) {
      return contents.get(name)?.length;
    },
  };
}

/** What this needs of a DOM File; `webkitRelativePath` is set when a whole folder was picked. */
export interface PickedFile {
  readonly name: string;
  readonly size: number;
  readonly webkitRelativePath?: string;
  /** Milliseconds since 1970: tells one content from another. */
  readonly lastModified?: number;
  slice(start: number, end: number): { arrayBuffer(): Promise<ArrayBuffer> };
}

const folderOf = (file: PickedFile) => (file.webkitRelativePath ?? "").split("/").slice(0, -1).join("/");

/** The folder of the topmost config.json: a picked folder may be that of several models, or hold a model's folder. */
function rootOf(files: readonly PickedFile[]): string {
  const configs = files.filter((file) => file.name === "config.json").map(folderOf);
  return configs.sort((a, b) => a.split("/").length - b.split("/").length)[0] ?? "";
}

/** Paths of picked files below the folder of their topmost config.json. */
export function pickedPaths(files: Iterable<PickedFile>): string[] {
  const all = [...files];
  const root = rootOf(all);
  const prefix = root === "" ? "" : `${root}/`;
  const paths = all.map((file) => `${folderOf(file)}/${file.name}`.replace(/^\//, ""));
  return paths.filter((path) => path.startsWith(prefix)).map((path) => path.slice(prefix.length));
}

/**
 * Files picked or dropped by a person, read lazily. Of a picked folder, the files beside its topmost config.json count.
 * @param options.folder below that one, such as "onnx"
 * @throws CheckpointError when two of those files have the same name.
 */
export function fileListSource(
  files: Iterable<PickedFile>,
  label = "dropped files",
  { folder = "" }: { folder?: string } = {},
): CheckpointSource {
  const all = [...files];
  const root = [rootOf(all), folder].filter((part) => part !== "").join("/");
  const byName = new Map<string, PickedFile>();
  for (const file of all.filter((candidate) => folderOf(candidate) === root)) {
    if (byName.has(file.name)) {
      throw new CheckpointError(`${label}: ${file.name} is there twice`);
    }
    byName.set(file.name, file);
  }
  const read = async (file: PickedFile, start: number, end: number) =>
    new Uint8Array(await file.slice(start, end).arrayBuffer());
  return {
    label,
    async file(name, signal) {
      signal?.throwIfAborted();
      const file = byName.get(name);
      return file && read(file, 0, file.size);
    },
    async range(name, start, end, signal) {
      signal?.throwIfAborted();
      const file = byName.get(name);
      if (!file) {
        throw new CheckpointError(`${label}: ${name} is missing`);
      }
      checkRange(label, name, start, end, file.size);
      return read(file, start, end);
    },
    async size(name) {
      return byName.get(name)?.size;
    },
    version: (name) => byName.get(name)?.lastModified?.toString(),
  };
}
