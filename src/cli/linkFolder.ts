/** Sets of links in folders: the shipped ones, and others. */
import { existsSync, readdirSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { LINK_SET_MANIFEST, LINK_SET_WEIGHTS, type LinkSet, readLinkSet, readLinkSetFiles } from "../links/linkSet";
import { UsageError } from "./options";

const SHIPPED = fileURLToPath(new URL("../../public/links", import.meta.url));

/**
 * Links out of a folder, or out of one file as training writes it.
 * @param option that named the place
 * @throws UsageError for a place without them; LinkError, CheckpointError for files that are wrong
 */
export async function readLinkSetPath(path: string, option: string): Promise<LinkSet> {
  const place = await stat(path).catch(() => undefined);
  if (!place) throw new UsageError(`--${option}: there is no file or folder ${path}`);
  return place.isDirectory() ? readLinkSetFolder(path, option) : readLinkSet(path, await readFile(path));
}

async function readLinkSetFolder(folder: string, option: string): Promise<LinkSet> {
  const files = new Map<string, Uint8Array>();
  for (const name of [LINK_SET_MANIFEST, LINK_SET_WEIGHTS]) {
    const bytes = await readFile(join(folder, name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT" || error.code === "ENOTDIR") {
        throw new UsageError(`--${option}: there is no ${name} in ${folder}`);
      }
      throw error;
    });
    files.set(name, bytes);
  }
  return readLinkSetFiles(files);
}

/** The first shipped set that was trained on a task, for so many agents; undefined without one. */
export async function shippedLinkSet(task: string, agents: number, shipped = SHIPPED): Promise<LinkSet | undefined> {
  if (!existsSync(shipped)) return undefined;
  const folders = readdirSync(shipped, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  for (const { name } of folders.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const set = await readLinkSetFolder(join(shipped, name), "links-dir");
    if (set.task === task && set.agents.length === agents) return set;
  }
  return undefined;
}
