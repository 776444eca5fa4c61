/** Files and folders of the disk as a corpus. */
import { readdir, readFile, realpath, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { join, sep } from "node:path";
import { type InputFile, isHiddenPath } from "../corpus/readCorpus";
import { UsageError } from "./options";

/**
 * The files at some paths: a file is itself, a folder all files below it, in the order of their names; hidden ones
 * (`.git`, `node_modules`) only when they are named. Links are followed.
 * @throws UsageError that names a path where nothing is
 */
export async function filesAt(paths: readonly string[]): Promise<InputFile[]> {
  const files: InputFile[] = [];
  for (const path of paths) {
    const found = await stat(path).catch(() => undefined);
    if (!found) throw new UsageError(`--corpus: there is no file or folder "${path}"`);
    if (found.isDirectory()) await walk(path, path, files, new Set());
    else files.push(fileAt(path, found.size));
  }
  return files;
}

async function walk(folder: string, root: string, files: InputFile[], seen: Set<string>): Promise<void> {
  // A link may lead back up.
  const real = await realpath(folder);
  if (seen.has(real)) return;
  seen.add(real);
  for (const name of (await readdir(folder)).sort()) {
    const path = join(folder, name);
    if (isHiddenPath(name)) continue;
    const found = await stat(path).catch(() => undefined);
    if (found?.isDirectory()) await walk(path, root, files, seen);
    // A link to nowhere is a file that cannot be opened, and is told as one.
    else if (!found || found.isFile()) files.push(fileAt(path, found?.size ?? 0));
  }
}

function fileAt(path: string, size: number): InputFile {
  return { name: path.split(sep).join("/"), size, bytes: async () => new Uint8Array(await readFile(path)) };
}

/** pdf.js's tables of characters, which some PDF files in Chinese, Japanese and Korean need. */
export async function readCMap(name: string): Promise<Uint8Array> {
  const pdfjs = createRequire(import.meta.url).resolve("pdfjs-dist/package.json");
  return new Uint8Array(await readFile(join(pdfjs, "..", "cmaps", name)));
}
