/**
 * The origin's private file system as a folder of the store, for workers: the fast handles exist there only.
 * Source: File System Standard, https://fs.spec.whatwg.org.
 */
import type { PickedFile } from "./sources";
import type { StoreFile, StoreFolder, StoreWriter } from "./storeFolder";

/** A handle of which the page's types know nothing: the library is compiled for both. */
interface SyncAccess {
  write(bytes: Uint8Array, options: { at: number }): number;
  truncate(size: number): void;
  getSize(): number;
  flush(): void;
  close(): void;
}
interface FileHandle {
  readonly kind: "file";
  getFile(): Promise<PickedFile>;
  createSyncAccessHandle(): Promise<SyncAccess>;
  /** Not in every browser. */
  move?(name: string): Promise<void>;
}
interface FolderHandle {
  readonly kind: "directory";
  entries(): AsyncIterable<[string, FileHandle | FolderHandle]>;
  getDirectoryHandle(name: string, options?: { create: boolean }): Promise<FolderHandle>;
  getFileHandle(name: string, options?: { create: boolean }): Promise<FileHandle>;
  removeEntry(name: string, options?: { recursive: boolean }): Promise<void>;
}

const COPY_BYTES = 2 ** 23;
const WRITE_BYTES = 2 ** 22;

/**
 * A folder of this origin's private file system.
 * @throws Error where the browser has none, or forbids it, as in some private windows
 */
export async function openOpfs(name: string): Promise<StoreFolder> {
  const storage = (globalThis.navigator as { storage?: { getDirectory?(): Promise<unknown> } }).storage;
  if (!storage?.getDirectory) throw new Error("this browser has no private file system for pages");
  const root = (await storage.getDirectory()) as FolderHandle;
  return folderOf(await root.getDirectoryHandle(name, { create: true }));
}

function folderOf(handle: FolderHandle): StoreFolder {
  const folder: StoreFolder = {
    async folders() {
      const names: string[] = [];
      for await (const [name, { kind }] of handle.entries()) if (kind === "directory") names.push(name);
      return names;
    },
    folder: async (name) => folderOf(await handle.getDirectoryHandle(name, { create: true })),
    async files() {
      const files: StoreFile[] = [];
      for await (const [name, entry] of handle.entries()) {
        if (entry.kind === "file") files.push({ name, bytes: (await entry.getFile()).size });
      }
      return files;
    },
    async read(name) {
      const file = await unlessMissing(handle.getFileHandle(name));
      return file && (await file.getFile());
    },
    async write(name) {
      const access = await (await handle.getFileHandle(name, { create: true })).createSyncAccessHandle();
      access.truncate(0);
      let at = 0;
      // The browser asks for room with each write that makes the file longer, so that many small ones take long.
      const waiting = new Uint8Array(WRITE_BYTES);
      let held = 0;
      const put = (bytes: Uint8Array) => {
        // One call may take less than all of it.
        for (let done = 0; done < bytes.length; ) {
          const written = access.write(bytes.subarray(done), { at });
          if (written === 0) throw full();
          done += written;
          at += written;
        }
        // Chromium's private windows say that all was written when the room for it has ended.
        if (access.getSize() < at) throw full();
      };
      const writer: StoreWriter = {
        async write(chunk) {
          for (let taken = 0; taken < chunk.length; ) {
            const part = chunk.subarray(taken, taken + WRITE_BYTES - held);
            waiting.set(part, held);
            held += part.length;
            taken += part.length;
            if (held === WRITE_BYTES) {
              put(waiting);
              held = 0;
            }
          }
        },
        async close() {
          try {
            put(waiting.subarray(0, held));
            access.flush();
          } finally {
            access.close();
          }
        },
      };
      return writer;
    },
    async rename(from, to) {
      await folder.remove(to);
      const file = await handle.getFileHandle(from);
      if (file.move) await file.move(to);
      else await copy(folder, from, to);
    },
    async remove(name) {
      await unlessMissing(handle.removeEntry(name, { recursive: true }));
    },
  };
  return folder;
}

/** What other browsers throw when there is no room left. */
function full(): Error {
  return Object.assign(new Error("the browser took no more bytes"), { name: "QuotaExceededError" });
}

/** Where a browser cannot rename; what reads the store checks sizes, so that a copy cut short is noticed. */
async function copy(folder: StoreFolder, from: string, to: string): Promise<void> {
  const file = await folder.read(from);
  if (!file) throw new Error(`${from} is not there`);
  const writer = await folder.write(to);
  try {
    for (let start = 0; start < file.size; start += COPY_BYTES) {
      const end = Math.min(file.size, start + COPY_BYTES);
      await writer.write(new Uint8Array(await file.slice(start, end).arrayBuffer()));
    }
  } finally {
    await writer.close();
  }
  await folder.remove(from);
}

async function unlessMissing<T>(promise: Promise<T>): Promise<T | undefined> {
  try {
    return await promise;
  } catch (error) {
    if ((error as Error).name === "NotFoundError") return undefined;
    throw error;
  }
}
