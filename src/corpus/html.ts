/** HTML: what a reader sees of a page, a section for each heading, with the lines of the source. */
import { Parser as HtmlParser } from "htmlparser2";
import { decodeText } from "./decode";
import { collapse, HeadingPath, lineMarks, numberAt, type Parser, type Section, stemOf } from "./parsed";

/** Elements whose content nobody reads, or that only lead elsewhere. */
const SKIPPED = new Set(
  (
    "script style noscript template svg math canvas audio video iframe object embed head nav footer button select " +
    "textarea datalist dialog"
  ).split(" "),
);
const PARAGRAPHS = new Set(
  (
    "address article aside blockquote body center dd details div dl dt fieldset figcaption figure form h1 h2 h3 h4 h5 " +
    "h6 header hr html li main ol p pre section summary table tbody tfoot thead ul"
  ).split(" "),
);
/** Elements without an end, which must not be counted as open. */
const VOID = new Set("area base br col embed hr img input link meta source track wbr".split(" "));
/** How far a page may say its encoding, in bytes, as browsers have it. */
const ENCODING_WITHIN = 1024;

export const parseHtml: Parser = async (bytes, name) => {
  const { text: source, warnings } = decodeText(bytes, declaredEncoding(bytes));
  const page = new Page();
  const parser = new HtmlParser(
    {
      onopentag: (tag, attributes) => page.open(tag, attributes),
      onclosetag: (tag) => page.close(tag),
      ontext: (text) => page.write(text, parser.startIndex),
    },
    { decodeEntities: true, lowerCaseTags: true },
  );
  parser.write(source);
  parser.end();
  const { text, headings, at, sources } = page.finish();
  const title = collapse(page.title) || headings.find(({ depth }) => depth === 1)?.text || stemOf(name);
  const lines = lineMarks(source);
  return {
    title,
    text,
    sections: sectionsOf(text, headings, title),
    marks: { unit: "line", at, numbers: sources.map((offset) => numberAt(lines, offset) ?? 1) },
    warnings,
  };
};

function declaredEncoding(bytes: Uint8Array): string | undefined {
  const start = new TextDecoder("windows-1252").decode(bytes.subarray(0, ENCODING_WITHIN));
  return (
    /<meta[^>]+charset\s*=\s*["']?([\w-]+)/i.exec(start)?.[1] ?? /<\?xml[^>]+encoding=["']([\w-]+)/.exec(start)?.[1]
  );
}

interface HeadingPlace {
  depth: number;
  text: string;
  /** Characters [start, end) of the text. */
  start: number;
  end: number;
}

/** Collects the readable text of a page while its tags go by. */
class Page {
  title = "";
  private text = "";
  private readonly headings: HeadingPlace[] = [];
  private readonly at: number[] = [];
  private readonly sources: number[] = [];
  /** Open elements that are skipped; text counts at 0. */
  private skipping = 0;
  /** Names of all open elements within the outermost skipped one. */
  private readonly skipped: string[] = [];
  private inTitle = false;
  private preformatted = 0;
  /** What stands between the text so far and the next. */
  private gap: "" | " " | "\n" | "\n\n" = "";
  private heading: { depth: number; start: number } | undefined;

  open(tag: string, attributes: Record<string, string>): void {
    // Pictures have titles, too.
    if (tag === "title" && !this.title && !this.skipped.includes("svg")) this.inTitle = true;
    if (this.skipping > 0) {
      if (!VOID.has(tag)) this.skip(tag);
      return;
    }
    if (!VOID.has(tag) && (SKIPPED.has(tag) || "hidden" in attributes || attributes["aria-hidden"] === "true")) {
      this.skip(tag);
      return;
    }
    if (tag === "br" || tag === "tr") this.widen("\n");
    else if (tag === "td" || tag === "th") this.cell();
    else if (PARAGRAPHS.has(tag)) this.widen("\n\n");
    if (tag === "pre") this.preformatted++;
    const depth = headingDepth(tag);
    if (depth) this.heading = { depth, start: this.text.length };
  }

  close(tag: string): void {
    if (tag === "title") this.inTitle = false;
    if (this.skipping > 0) {
      // The parser closes what was left open, so names come in order; stray ends are dropped by it.
      if (this.skipped.at(-1) === tag) {
        this.skipped.pop();
        this.skipping--;
      }
      return;
    }
    if (tag === "pre") this.preformatted = Math.max(0, this.preformatted - 1);
    if (headingDepth(tag) && this.heading) {
      const { depth, start } = this.heading;
      const text = collapse(this.text.slice(start));
      if (text) this.headings.push({ depth, text, start, end: this.text.length });
      this.heading = undefined;
    }
    if (tag === "tr") this.widen("\n");
    else if (PARAGRAPHS.has(tag)) this.widen("\n\n");
  }

  write(text: string, source: number): void {
    if (this.inTitle) this.title += text;
    if (this.inTitle || this.skipping > 0) return;
    const words = this.preformatted > 0 ? text : text.replace(/\s+/g, " ");
    if (words.startsWith(" ") && this.preformatted === 0) this.widen(" ");
    const body = this.preformatted > 0 ? words : words.trim();
    if (body === "") return;
    if (this.text !== "") this.text += this.gap;
    this.gap = this.preformatted === 0 && words.endsWith(" ") ? " " : "";
    this.at.push(this.text.length);
    this.sources.push(source);
    this.text += body;
  }

  finish() {
    const { text, headings, at, sources } = this;
    return { text, headings, at, sources };
  }

  private skip(tag: string): void {
    this.skipped.push(tag);
    this.skipping++;
  }

  /** Cells of a row stand beside each other. */
  private cell(): void {
    if (this.text === "" || this.gap.includes("\n")) return;
    this.text += " |";
    this.gap = " ";
  }

  private widen(gap: " " | "\n" | "\n\n"): void {
    if (gap.length > this.gap.length || (gap === "\n" && this.gap === " ")) this.gap = gap;
  }
}

function headingDepth(tag: string): number | undefined {
  return /^h[1-6]$/.test(tag) ? Number(tag[1]) : undefined;
}

function sectionsOf(text: string, headings: readonly HeadingPlace[], title: string): Section[] {
  const path = new HeadingPath(title);
  const sections: Section[] = [];
  const add = (section: Section) => {
    if (text.slice(section.start, section.end).trim() !== "") sections.push(section);
  };
  add({ title: "", start: 0, end: headings[0]?.start ?? text.length });
  for (const [i, { depth, text: words, start, end }] of headings.entries()) {
    const next = headings[i + 1];
    const heading = path.enter(depth, words);
    const body = { title: heading, start: end, end: next?.start ?? text.length };
    if (text.slice(body.start, body.end).trim() !== "") add(body);
    // A heading with nothing below it says something by itself.
    else if ((next?.depth ?? 0) <= depth) add({ title: heading, start, end });
  }
  return sections;
}
