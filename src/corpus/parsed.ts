/** What every reader of a file format makes of a file: readable text, its sections, and the way back to the file. */

export type FileKind = "text" | "markdown" | "html" | "csv" | "json" | "jsonl" | "pdf";

/** A part of the text that must not share a passage with another part. */
export interface Section {
  /** Headings above it, outermost first, joined by " / "; may be empty. */
  title: string;
  /** Characters [start, end) of the text. */
  start: number;
  end: number;
}

/** Which line, page or row of the file a character comes from. Plain data, so that it can cross to another thread. */
export interface Marks {
  unit: "line" | "page" | "row";
  /** Offsets in the text, ascending. */
  at: number[];
  /** Number (from 1) that begins at each offset. Default: 1, 2, 3, ... */
  numbers?: number[];
}

export interface ParsedFile {
  /** What the file calls itself, or its name without folders and extension. */
  title: string;
  /** The readable text: the file itself where it is text or Markdown, what a person would read of it otherwise. */
  text: string;
  sections: Section[];
  marks: Marks;
  /** What was lost or guessed, for the visitor. */
  warnings: string[];
}

export interface ParseOptions {
  signal?: AbortSignal;
  /**
   * Reads a file of pdfjs-dist's folder `cmaps`, for instance "UniJIS-UCS2-H.bcmap". Without it, PDF files that name
   * such a table instead of holding it (some Chinese, Japanese and Korean ones) lose their text.
   */
  readCMap?: (name: string) => Promise<Uint8Array>;
}

/** @throws UnreadableFile, or the signal's reason after an abort */
export type Parser = (bytes: Uint8Array, name: string, options: ParseOptions) => ParsedFile | Promise<ParsedFile>;

/** The file cannot be read; the message is the reason, a clause to put after the file's name. */
export class UnreadableFile extends Error {
  override name = "UnreadableFile";
}

/** The file's name without folders and extension. */
export function stemOf(name: string): string {
  const base = name.slice(name.lastIndexOf("/") + 1);
  return base.replace(/(?<=.)\.[^.]*$/, "") || base;
}

/** Marks of a text whose own lines count. A line ends at \n, \r\n or \r. */
export function lineMarks(text: string): Marks {
  const at = [0];
  for (const { index, 0: ending } of text.matchAll(/\r\n|\n|\r/g)) at.push(index + ending.length);
  return { unit: "line", at };
}

/** The number of the line, page or row that holds a character; undefined in a file without any. */
export function numberAt({ at, numbers }: Marks, offset: number): number | undefined {
  let [low, high] = [0, at.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((at[middle] as number) <= offset) low = middle + 1;
    else high = middle;
  }
  if (low === 0) return undefined;
  return numbers ? numbers[low - 1] : low;
}

/** Runs of white space become one blank; none at the ends. */
export function collapse(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/** Keeps the headings above the text as a reader goes down a file. */
export class HeadingPath {
  private readonly open: { depth: number; text: string }[] = [];

  /** `title` is left out of paths: it stands before them anyway. */
  constructor(private readonly title: string) {}

  /** Enters a heading of a depth from 1 to 6 and gives its path. */
  enter(depth: number, text: string): string {
    while ((this.open.at(-1)?.depth ?? 0) >= depth) this.open.pop();
    this.open.push({ depth, text });
    return this.open
      .flatMap((heading) => (heading.text && heading.text !== this.title ? [heading.text] : []))
      .join(" / ");
  }
}
