/** Reads System 1's quotes, `[2] a sentence`, and finds each in the document that it names. */
import type { TraceDocument } from "../../../src/index";

export interface QuoteSegment {
  text: string;
  /** Index of the document in the tool's result, when the segment is a quote with a number that exists. */
  document?: number;
}

/** Splits a text at its line ends and `[n]` marks; `[n]` counts only when there is such a document. Blanks are dropped. */
export function splitQuotes(text: string, documents: number): QuoteSegment[] {
  return text.split("\n").flatMap((line) => splitLine(line, documents));
}

function splitLine(line: string, documents: number): QuoteSegment[] {
  const marks = [...line.matchAll(/\[(\d{1,3})\]/g)].filter((mark) => {
    const number = Number(mark[1]);
    return number >= 1 && number <= documents;
  });
  const segments: QuoteSegment[] = [];
  const before = line.slice(0, marks[0]?.index).trim();
  if (before) segments.push({ text: before });
  for (const [i, mark] of marks.entries()) {
    const words = line.slice(mark.index + mark[0].length, marks[i + 1]?.index).trim();
    segments.push({ text: words, document: Number(mark[1]) - 1 });
  }
  return segments;
}

/** Where a quote stands in its document, [start, end) in characters; undefined when it was not quoted word for word. */
export function locateQuote(document: Pick<TraceDocument, "text">, quote: string): [number, number] | undefined {
  if (!quote) return undefined;
  const start = document.text.indexOf(quote);
  return start < 0 ? undefined : [start, start + quote.length];
}
