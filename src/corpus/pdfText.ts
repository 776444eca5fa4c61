/** The text of a PDF out of the lines of its pages: paragraphs, mended words, no page numbers, no running heads. */

export interface PdfLine {
  /** Not empty; single blanks. */
  text: string;
  /** Height of its base above the bottom of the page, and of its letters, in points. */
  y: number;
  height: number;
}

/** Lines further apart than this many letter heights begin a paragraph. */
const PARAGRAPH_GAP = 1.9;
/** Pages of fewer lines have no heads: their few words are all that they say. */
const LEAST_LINES = 3;
/**
 * A first or last line is a running head when as many of the pages around it have the same. Heads of left and of right
 * pages may differ, and change from chapter to chapter.
 */
const NEIGHBOURS = 2;
const PAGES_AROUND = 2;

const PAGE_NUMBER =
  /^(?:page|p\.|seite)?\s*[-–—]?\s*(?:\d{1,4}|[ivxlc]{1,7})\s*[-–—]?(?:\s*(?:\/|of|von)\s*\d{1,4})?$/i;
const SENTENCE_END = /[.!?:;]["'”’)\]]*$/;

/** `starts[i]` is where page i + 1 begins. A sentence that goes on over pages stays whole. */
export function joinPages(pages: readonly (readonly PdfLine[])[]): { text: string; starts: number[] } {
  const edges = pages.map(edgesOf);
  const starts: number[] = [];
  let text = "";
  for (const [number, page] of pages.entries()) {
    const around = edges.filter((_, other) => other !== number && Math.abs(other - number) <= PAGES_AROUND);
    const lines = page.filter((line, i) => {
      const atEdge = i === 0 || i === page.length - 1;
      if (!atEdge) return true;
      if (PAGE_NUMBER.test(line.text)) return false;
      const same = pattern(line.text);
      return page.length < LEAST_LINES || around.filter((edge) => edge.has(same)).length < NEIGHBOURS;
    });
    let previous: PdfLine | undefined;
    if (lines.length === 0) starts.push(text.length);
    for (const line of lines) {
      const joint = text === "" ? "" : previous ? jointOf(previous, line) : SENTENCE_END.test(text) ? "\n\n" : " ";
      const mended = joint === "\n\n" ? undefined : mend(text, line.text);
      text = mended ?? text + joint;
      if (!previous) starts.push(text.length);
      text += line.text;
      previous = line;
    }
  }
  return { text, starts };
}

function jointOf(above: PdfLine, below: PdfLine): " " | "\n\n" {
  const gap = above.y - below.y;
  // Upwards is the next column.
  if (gap < 0) return SENTENCE_END.test(above.text) ? "\n\n" : " ";
  return gap > PARAGRAPH_GAP * Math.max(above.height, below.height, 1) ? "\n\n" : " ";
}

/** The text without its last hyphen when that divides a word that the next line goes on with. */
function mend(text: string, next: string): string | undefined {
  return /\p{Ll}[-‐\u00ad]$/u.test(text) && /^\p{Ll}/u.test(next) ? text.slice(0, -1) : undefined;
}

/** Patterns of the first and last line of a page that has more to say than these. */
function edgesOf(page: readonly PdfLine[]): Set<string> {
  if (page.length < LEAST_LINES) return new Set();
  return new Set([page[0], page.at(-1)].flatMap((line) => (line ? [pattern(line.text)] : [])));
}

/** The same for "3 | Rivers" and "4 | Rivers". */
function pattern(text: string): string {
  return text.replace(/\d+/g, "#").toLowerCase();
}
