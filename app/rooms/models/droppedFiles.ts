/** The files of what was dropped: plain files, or those directly within one dropped folder. */

/** What browsers call the entry of a dropped folder; it is no standard, but all have it. */
interface FolderEntry {
  readonly isDirectory: true;
  readonly name: string;
  createReader(): { readEntries(done: (entries: Entry[]) => void, failed: (error: unknown) => void): void };
}
interface FileEntry {
  readonly isDirectory: false;
  readonly name: string;
  file(done: (file: File) => void, failed: (error: unknown) => void): void;
}
type Entry = FolderEntry | FileEntry;

/** @returns the name of the dropped folder, or nothing for loose files */
export async function droppedFiles({ items, files }: DataTransfer): Promise<{ name: string; files: File[] }> {
  // The items are gone once this returns, so that all entries are taken first.
  const entries = [...items].map((item) => item.webkitGetAsEntry() as Entry | null);
  const plain = [...files];
  const folder = entries.find((entry) => entry?.isDirectory === true);
  if (folder?.isDirectory !== true) return { name: "", files: plain };
  const inside = (await entriesOf(folder)).filter((entry) => entry.isDirectory === false);
  const read = (entry: FileEntry) => new Promise<File>((done, failed) => entry.file(done, failed));
  return { name: folder.name, files: await Promise.all(inside.map(read)) };
}

/** A reader gives some entries at a time. */
async function entriesOf(folder: FolderEntry): Promise<Entry[]> {
  const reader = folder.createReader();
  const all: Entry[] = [];
  for (;;) {
    const some = await new Promise<Entry[]>((done, failed) => reader.readEntries(done, failed));
    if (some.length === 0) return all;
    all.push(...some);
  }
}
