/** A checkpoint in a folder, for Node only: kept apart so that no browser bundle ever sees node:fs. */
import { open, readFile, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import type { CheckpointSource } from "./checkpoint";
import { CheckpointError } from "./errors";

/** The files of a folder. A folder that does not exist reads as one in which every file is missing. */
export function folderSource(folder: string, label = folder): CheckpointSource {
  const pathOf = (name: string) => {
    if (basename(name) !== name || name === "..") {
      throw new CheckpointError(`${label}: "${name}" is no plain file name`);
    }
    return join(folder, name);
  };
  return {
    label,
    async file(name, signal) {
      const bytes = await undefinedIfMissing(readFile(pathOf(name), { signal }));
      return bytes && new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    },
    async range(name, start, end, signal) {
      signal?.throwIfAborted();
      const handle = await undefinedIfMissing(open(pathOf(name), "r"));
      if (!handle) {
        throw new CheckpointError(`${label}: ${name} is missing`);
      }
      try {
        const bytes = new Uint8Array(end - start);
        let filled = 0;
        // One read may return less than asked for, and never more than 2 GiB.
        while (filled < bytes.length) {
          const length = Math.min(bytes.length - filled, 2 ** 30);
          const { bytesRead } = await handle.read(bytes, filled, length, start + filled);
          if (bytesRead === 0) {
            throw new CheckpointError(`${label}: ${name} ends at byte ${start + filled}, before byte ${end}`);
          }
          filled += bytesRead;
          signal?.throwIfAborted();
        }
        return bytes;
      } finally {
        await handle.close();
      }
    },
    async size(name) {
      return (await undefinedIfMissing(stat(pathOf(name))))?.size;
    },
  };
}

async function undefinedIfMissing<T>(promise: Promise<T>): Promise<T | undefined> {
  try {
    return await promise;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT" || code === "ENOTDIR") {
      return undefined;
    }
    throw error;
  }
}
