/** Files and folders that commands write. */
import { access, constants, mkdir, open, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { UsageError } from "./options";

/**
 * Refuses a path that cannot become a file, before any work is done. A file that is not there yet is made and removed
 * again: systems of files differ in what they refuse, and some only tell when it is tried.
 * @throws UsageError that names the option
 */
export async function checkWritable(path: string, option: string): Promise<void> {
  const existing = await found(path, option);
  if (existing?.isDirectory()) throw new UsageError(`--${option}: ${path} is a folder`);
  if (existing) return checkAccess(path, option);
  await checkFolder(dirname(path), option);
  const file = await open(path, "wx").catch((error) => {
    throw refusal(path, option, error);
  });
  await file.close();
  await rm(path);
}

/**
 * Makes a folder, with those above it that are missing, if it is not there yet. One by one: Node's own recursive mkdir
 * never returns where a folder exists and nothing can be made in it, as in /proc.
 * @throws UsageError that names the option
 */
export async function makeFolder(path: string, option: string): Promise<void> {
  const missing: string[] = [];
  let above = resolve(path);
  for (; !(await found(above, option)); above = dirname(above)) missing.unshift(above);
  await checkFolder(above, option);
  for (const folder of missing) {
    await mkdir(folder).catch((error) => {
      throw refusal(folder, option, error);
    });
  }
}

/** Writes a file whole or not at all; devices and pipes are written to, not replaced. */
export async function replaceFile(path: string, content: Uint8Array | string): Promise<void> {
  const existing = await stat(path).catch(() => undefined);
  if (existing && !existing.isFile()) return writeFile(path, content);
  const target = existing ? await realpath(path) : path;
  const unfinished = `${target}.${process.pid}.tmp`;
  try {
    await writeFile(unfinished, content);
    await rename(unfinished, target);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}

async function checkFolder(path: string, option: string): Promise<void> {
  const folder = await found(path, option);
  if (!folder) throw new UsageError(`--${option}: there is no folder ${path}`);
  if (!folder.isDirectory()) throw new UsageError(`--${option}: ${path} is no folder`);
  await checkAccess(path, option);
}

async function checkAccess(path: string, option: string): Promise<void> {
  await access(path, constants.W_OK).catch((error) => {
    throw refusal(path, option, error);
  });
}

/** What is at a path; `undefined` for nothing. */
async function found(path: string, option: string) {
  return stat(path).catch((error: NodeJS.ErrnoException) => {
    // Below something that is no folder, there is nothing either.
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
    throw refusal(path, option, error);
  });
}

const REASONS: Record<string, string> = {
  EACCES: "you have no right to write there",
  EPERM: "you have no right to write there",
  EROFS: "it can only be read",
  ENOENT: "nothing can be made there",
  EEXIST: "its name is taken",
  ENAMETOOLONG: "its name is too long",
  ELOOP: "its links lead in a circle",
  ENOSPC: "the disk is full",
};

function refusal(path: string, option: string, error: NodeJS.ErrnoException): UsageError {
  const why = REASONS[error.code ?? ""] ?? error.message;
  return new UsageError(`--${option}: ${path} cannot be written: ${why}`, { cause: error });
}
