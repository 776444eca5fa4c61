/** What was dropped on the page, or chosen, as files with their folders in their names. Hidden files are left out. */
import { isHiddenPath } from "../../src/index";

export interface NamedFile {
  name: string;
  file: File;
}

export interface PickedFiles {
  files: NamedFile[];
  /** Files and folders that their owner hardly means: hidden ones, `node_modules`. */
  hidden: number;
}

/** Files of a file dialog; of a folder's dialog with their folders. */
export function pickedFiles(list: Iterable<File>): PickedFiles {
  return sorted([...list].map((file) => ({ name: file.webkitRelativePath || file.name, file })));
}

/**
 * Files of a drop, folders walked to the bottom. What cannot be opened is left out of the walk, and costs no other file.
 * Must be called within the event: a browser forgets afterwards what was dropped.
 */
export async function droppedFiles(transfer: DataTransfer): Promise<PickedFiles> {
  const roots = [...transfer.items]
    .filter(({ kind }) => kind === "file")
    .map((item) => ({ entry: item.webkitGetAsEntry(), file: item.getAsFile() }));
  const files: NamedFile[] = [];
  let hidden = 0;
  const walk = async (entry: FileSystemEntry): Promise<void> => {
    if (isHiddenPath(entry.name)) {
      hidden++;
    } else if (entry.isFile) {
      const file = await fileOf(entry as FileSystemFileEntry);
      if (file) files.push({ name: entry.fullPath.replace(/^\//, ""), file });
    } else {
      for (const child of await childrenOf(entry as FileSystemDirectoryEntry)) await walk(child);
    }
  };
  for (const { entry, file } of roots) {
    if (entry) await walk(entry);
    else if (file) files.push({ name: file.name, file });
  }
  const picked = sorted(files);
  return { files: picked.files, hidden: hidden + picked.hidden };
}

function sorted(files: NamedFile[]): PickedFiles {
  const shown = files.filter(({ name }) => !isHiddenPath(name));
  shown.sort((a, b) => a.name.localeCompare(b.name, "en"));
  return { files: shown, hidden: files.length - shown.length };
}

function fileOf(entry: FileSystemFileEntry): Promise<File | undefined> {
  return new Promise((resolve) => entry.file(resolve, () => resolve(undefined)));
}

/** A reader hands out a folder in parts; an empty part is the end. */
async function childrenOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const children: FileSystemEntry[] = [];
  for (;;) {
    const part = await new Promise<FileSystemEntry[]>((resolve) => reader.readEntries(resolve, () => resolve([])));
    if (part.length === 0) return children;
    children.push(...part);
  }
}
