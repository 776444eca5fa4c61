/**
 * PDF: the text of all pages, by pdf.js, in whatever thread calls. Lines are joined to paragraphs, words that were
 * divided at line ends are mended, page numbers and running heads are dropped; each character knows its page.
 */
import type { PDFDocumentProxy } from "pdfjs-dist";
import { collapse, type Marks, type ParseOptions, type Parser, stemOf, UnreadableFile } from "./parsed";
import { joinPages, type PdfLine } from "./pdfText";

const MOST_PDF_PAGES = 5_000;
/** The dots of a table of contents. */
const LEADERS = /(?: ?\.){4,}/g;

export const parsePdf: Parser = async (bytes, name, options) => {
  const { signal } = options;
  const pdfjs = await loadPdfjs();
  signal?.throwIfAborted();
  const task = pdfjs.getDocument({
    // pdf.js takes the buffer away from its owner.
    data: bytes.slice(),
    verbosity: pdfjs.VerbosityLevel.ERRORS,
    BinaryDataFactory: binaryData(options),
    // What follows is for drawing pages, which nobody does here, or would reach out for files.
    disableFontFace: true,
    useSystemFonts: false,
    useWorkerFetch: false,
    useWasm: false,
    isOffscreenCanvasSupported: false,
    isImageDecoderSupported: false,
    isEvalSupported: false,
  });
  const abort = () => void task.destroy();
  signal?.addEventListener("abort", abort, { once: true });
  try {
    return await readDocument(await task.promise, name, signal);
  } catch (error) {
    signal?.throwIfAborted();
    throw error instanceof UnreadableFile ? error : new UnreadableFile(reasonOf(error as Error));
  } finally {
    signal?.removeEventListener("abort", abort);
    await task.destroy();
  }
};

async function readDocument(pdf: PDFDocumentProxy, name: string, signal: AbortSignal | undefined) {
  const warnings: string[] = [];
  const count = Math.min(pdf.numPages, MOST_PDF_PAGES);
  if (count < pdf.numPages) warnings.push(`only the first ${count} of ${pdf.numPages} pages were read`);
  const pages: PdfLine[][] = [];
  const failed: number[] = [];
  for (let number = 1; number <= count; number++) {
    signal?.throwIfAborted();
    try {
      const page = await pdf.getPage(number);
      const { items } = await page.getTextContent();
      pages.push(linesOf(items as TextItem[]));
      page.cleanup();
    } catch {
      signal?.throwIfAborted();
      failed.push(number);
      pages.push([]);
    }
  }
  if (failed.length > 0) warnings.push(`pages that could not be read: ${failed.join(", ")}`);
  const { text, starts } = joinPages(pages);
  if (text === "") throw new UnreadableFile(failed.length > 0 ? "is damaged" : "holds no text, only pictures of it");
  const empty = pages.filter((lines) => lines.length === 0).length - failed.length;
  if (empty > 0) warnings.push(`${empty} of ${count} pages hold no text`);
  const marks: Marks = { unit: "page", at: starts };
  const title = (await titleOf(pdf)) ?? stemOf(name);
  return { title, text, sections: [{ title: "", start: 0, end: text.length }], marks, warnings };
}

/** The title that the file states; programs that print to PDF state file names and "untitled". */
async function titleOf(pdf: PDFDocumentProxy): Promise<string | undefined> {
  const { info } = await pdf.getMetadata().catch(() => ({ info: {} }));
  const stated = (info as { Title?: unknown }).Title;
  const title = typeof stated === "string" ? collapse(stated) : "";
  return title.length < 3 || /^(untitled|title|document\d*)$|^microsoft |\.\w{2,5}$|^</i.test(title)
    ? undefined
    : title;
}

/** What is used of pdf.js's text items; items that mark content have none of it. */
interface TextItem {
  str?: string;
  hasEOL?: boolean;
  height?: number;
  transform?: number[];
}

function linesOf(items: readonly TextItem[]): PdfLine[] {
  const lines: PdfLine[] = [];
  let line: PdfLine = { text: "", y: 0, height: 0 };
  const end = () => {
    const text = collapse(line.text).replace(LEADERS, " …");
    if (text) lines.push({ ...line, text });
    line = { text: "", y: 0, height: 0 };
  };
  for (const { str, hasEOL, height = 0, transform } of items) {
    if (str === undefined) continue;
    if (str.trim() !== "" && line.height === 0) line = { text: line.text, y: transform?.[5] ?? 0, height };
    line.text += str;
    if (hasEOL) end();
  }
  end();
  return lines;
}

type Pdfjs = typeof import("pdfjs-dist/legacy/build/pdf.mjs");
let loaded: Promise<Pdfjs> | undefined;

/**
 * The legacy build, which brings what Node 20 and older browsers lack. The module of the worker makes itself known, and
 * pdf.js then works in this thread: whoever parses is a worker already.
 */
function loadPdfjs(): Promise<Pdfjs> {
  loaded ??= import("./pdfWorker").then(() => import("pdfjs-dist/legacy/build/pdf.mjs"));
  // A download that failed may work the next time.
  loaded.catch(() => {
    loaded = undefined;
  });
  return loaded;
}

/** pdf.js asks this for files beside its code: tables of characters are given, fonts are not needed for text. */
function binaryData({ readCMap }: ParseOptions) {
  return class {
    async fetch({ kind, filename }: { kind: string; filename: string }): Promise<Uint8Array> {
      if (kind !== "cMapUrl" || !readCMap) throw new Error(`${filename} is not at hand`);
      return readCMap(filename);
    }
  };
}

function reasonOf({ name, message }: Error): string {
  if (name === "PasswordException") return "needs a password";
  if (name === "InvalidPDFException") return "is no valid PDF";
  return `could not be read as PDF (${message})`;
}
