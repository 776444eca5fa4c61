/** Reads System 1's lines, `- a sentence`, and finds each in the document that it was taken from. */
import { NOTHING_RELEVANT, type TraceDocument } from "../../../src/index";

export interface QuoteSegment {
  text: string;
  /** Index of the document in the tool's result, when the segment is a quote whose source is known. */
  document?: number;
  /** The line says that a bin holds nothing for the purpose. */
  nothing?: boolean;
}

/** Shorter beginnings of a line that is still being written stand in many documents. */
const SHORTEST_QUOTE = 6;

type Source = Pick<TraceDocument, "title" | "text">;

/**
 * Splits a text at its line ends. A line's source is the document that holds it word for word; models that cite the
 * number of a document, `[2] a sentence`, are taken at their word. Blanks are dropped.
 */
export function splitQuotes(text: string, documents: readonly Source[]): QuoteSegment[] {
  return text.split("\n").flatMap((line) => splitLine(line.replace(/^\s*[-*•]\s*/, "").trim(), documents));
}

function splitLine(line: string, documents: readonly Source[]): QuoteSegment[] {
  if (!line) return [];
  if (line.toLowerCase().includes(NOTHING_RELEVANT)) return [{ text: line, nothing: true }];
  const marks = [...line.matchAll(/\[(\d{1,3})\]/g)].filter((mark) => documents[Number(mark[1]) - 1] !== undefined);
  if (marks.length === 0) {
    const document = findSource(line, documents);
    return [document === undefined ? { text: line } : { text: line, document }];
  }
  const segments: QuoteSegment[] = [];
  const before = line.slice(0, marks[0]?.index).trim();
  if (before) segments.push({ text: before });
  for (const [i, mark] of marks.entries()) {
    const words = line.slice(mark.index + mark[0].length, marks[i + 1]?.index).trim();
    segments.push({ text: words, document: Number(mark[1]) - 1 });
  }
  return segments;
}

/** The document that holds the line; of several the one that is about what the line begins with. */
function findSource(line: string, documents: readonly Source[]): number | undefined {
  if (line.length < SHORTEST_QUOTE) return undefined;
  const holding = documents.flatMap((document, i) => (document.text.includes(line) ? [i] : []));
  return holding.find((i) => line.startsWith((documents[i] as Source).title)) ?? holding[0];
}

/** Where a quote stands in its document, [start, end) in characters; undefined when it was not quoted word for word. */
export function locateQuote(document: Pick<TraceDocument, "text">, quote: string): [number, number] | undefined {
  if (!quote) return undefined;
  const start = document.text.indexOf(quote);
  return start < 0 ? undefined : [start, start + quote.length];
}
