/** Sets of links in folders. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { LINK_SET_MANIFEST, LINK_SET_WEIGHTS, type LinkSet, readLinkSetFiles } from "../links/linkSet";
import { UsageError } from "./options";

/** @throws UsageError for a folder without the files; LinkError, CheckpointError for files that are wrong */
export async function readLinkSetFolder(folder: string): Promise<LinkSet> {
  const files = new Map<string, Uint8Array>();
  for (const name of [LINK_SET_MANIFEST, LINK_SET_WEIGHTS]) {
    const bytes = await readFile(join(folder, name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT" || error.code === "ENOTDIR") {
        throw new UsageError(`--links-dir: there is no ${name} in ${folder}`);
      }
      throw error;
    });
    files.set(name, bytes);
  }
  return readLinkSetFiles(files);
}
