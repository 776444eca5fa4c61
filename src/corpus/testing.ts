/** What the tests of the readers share: files out of strings, and a count of tokens that can be checked by hand. */
import type { Corpus, CorpusOptions, InputFile } from "./readCorpus";
import { readCorpus } from "./readCorpus";

/** A token is a word. */
export const countWords = ({ title, text }: { title: string; text: string }) =>
  `${title} ${text}`.split(/\s+/).filter((word) => word !== "").length;

export function fileOf(name: string, content: string | Uint8Array): InputFile {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  return { name, size: bytes.length, bytes: async () => bytes };
}

/** Reads files given by name, with passages of 100 words. */
export function read(
  files: Record<string, string | Uint8Array>,
  options: Partial<CorpusOptions> = {},
): Promise<Corpus> {
  const inputs = Object.entries(files).map(([name, content]) => fileOf(name, content));
  return readCorpus(inputs, { countTokens: countWords, maxTokens: 100, ...options });
}

export interface PdfPage {
  /** Lines of text: words, and their distance in points from the left and from the bottom of the page. */
  lines: readonly (readonly [text: string, y: number, x?: number])[];
}

export interface PdfExtras {
  title?: string;
  /** A dictionary, as PDF writes it, for the trailer's /Encrypt. */
  encrypt?: string;
  /** A font dictionary instead of Helvetica's. */
  font?: string;
}

/** A PDF of pages of Helvetica at 10 points. A text in angle brackets is written as PDF's hexadecimal string. */
export function pdfOf(pages: readonly PdfPage[], { title, encrypt, font }: PdfExtras = {}): Uint8Array {
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((_, i) => `${5 + 2 * i} 0 R`).join(" ")}] >>`,
    font ?? "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    `<< /Title (${title ?? ""}) >>`,
    ...pages.flatMap(({ lines }, i) => {
      const shown = lines.map(([text, y, x = 50]) => `1 0 0 1 ${x} ${y} Tm ${pdfString(text)} Tj`).join("\n");
      const content = `BT /F1 10 Tf\n${shown}\nET`;
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents ${6 + 2 * i} 0 R ` +
          "/Resources << /Font << /F1 3 0 R >> >> >>",
        `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
      ];
    }),
  ];
  let file = "%PDF-1.7\n";
  const offsets = objects.map((object, i) => {
    const offset = file.length;
    file += `${i + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const table = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  const size = objects.length + 1;
  const more = encrypt ? ` /Encrypt ${encrypt} /ID [<01> <01>]` : "";
  const trailer = `<< /Size ${size} /Root 1 0 R /Info 4 0 R${more} >>`;
  file += `xref\n0 ${size}\n0000000000 65535 f \n${table}trailer\n${trailer}\nstartxref\n${file.length}\n%%EOF\n`;
  return Uint8Array.from(file, (character) => character.charCodeAt(0));
}

function pdfString(text: string): string {
  return text.startsWith("<") ? text : `(${text.replace(/[\\()]/g, "\\$&")})`;
}
