/** Finds what a model quoted from a passage in the file that the passage comes from. */
import type { CorpusFile } from "./readCorpus";
import { placeOf } from "./readCorpus";
import type { FileSource } from "./source";

/**
 * Where a quote stands in a text between two characters, as [start, end); white space may differ, because passages
 * have single blanks where a file has line ends. Undefined when the words are not there.
 */
export function findQuote(text: string, quote: string, start = 0, end = text.length): [number, number] | undefined {
  const words = quote.trim().split(/\s+/);
  if (words[0] === "") return undefined;
  const pattern = words.map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join("\\s+");
  const match = new RegExp(pattern).exec(text.slice(start, end));
  return match ? [start + match.index, start + match.index + match[0].length] : undefined;
}

/** The place of a quote from a passage, to the line, page or row; undefined when the passage does not hold it. */
export function quoteSource(file: CorpusFile, passage: FileSource, quote: string): FileSource | undefined {
  const found = findQuote(file.text, quote, passage.start, passage.end);
  if (!found) return undefined;
  const [start, end] = found;
  return { kind: "file", file: file.name, start, end, ...placeOf(file, start) };
}
