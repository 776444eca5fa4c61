/** What the store of checkpoints needs of a file system: folders, files that are written in order, and renaming. */
import type { PickedFile } from "./sources";

export interface StoreFile {
  name: string;
  bytes: number;
}

export interface StoreWriter {
  write(chunk: Uint8Array): Promise<void>;
  /** What was written is on disk when this resolves. */
  close(): Promise<void>;
}

export interface StoreFolder {
  folders(): Promise<string[]>;
  /** A folder within this one; it is made where it does not exist. */
  folder(name: string): Promise<StoreFolder>;
  files(): Promise<StoreFile[]>;
  /** `undefined` when there is no such file. */
  read(name: string): Promise<PickedFile | undefined>;
  /** An empty file, in place of one that is there. */
  write(name: string): Promise<StoreWriter>;
  /** Takes the place of a file that has the new name. */
  rename(from: string, to: string): Promise<void>;
  /** A file, or a folder with all that is in it; nothing happens when there is none. */
  remove(name: string): Promise<void>;
}
