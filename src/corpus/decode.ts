/** Bytes to text: byte order marks, UTF-8, the encoding that a page declares, and Windows-1252 as the last guess. */
import { UnreadableFile } from "./parsed";

export interface DecodedText {
  /** Without a byte order mark; line ends as in the file. */
  text: string;
  warnings: string[];
}

/** More control characters than this share: no text in any encoding that we know. */
const MOST_CONTROLS = 0.02;
/** Formats that people take for text. */
const SIGNATURES: readonly [bytes: number[], what: string][] = [
  [[0x50, 0x4b, 0x03, 0x04], "a ZIP archive or an office document; save it as PDF, HTML or text"],
  [[0xd0, 0xcf, 0x11, 0xe0], "an old office document; save it as PDF, HTML or text"],
  [[0x7b, 0x5c, 0x72, 0x74, 0x66], "a rich text (RTF) document; save it as PDF, HTML or text"],
  [[0x1f, 0x8b], "compressed (gzip); unpack it first"],
  [[0x89, 0x50, 0x4e, 0x47], "a picture"],
  [[0xff, 0xd8, 0xff], "a picture"],
  [[0x47, 0x49, 0x46, 0x38], "a picture"],
];

/**
 * Decodes a text file. `declared` is the encoding that the file itself names; an unknown name is ignored.
 * @throws UnreadableFile for bytes that are no text
 */
export function decodeText(bytes: Uint8Array, declared?: string): DecodedText {
  for (const [signature, what] of SIGNATURES) {
    if (signature.every((byte, i) => bytes[i] === byte)) throw new UnreadableFile(`is ${what}`);
  }
  const marked = encodingOfMark(bytes);
  if (!marked && bytes.subarray(0, 4096).includes(0)) throw new UnreadableFile("is no text");
  const named = marked ?? knownEncoding(declared);
  const text = tryDecode(bytes, named ?? "utf-8");
  if (text !== undefined) return { text, warnings: [] };
  const guess = new TextDecoder("windows-1252").decode(bytes);
  const controls = bytes.reduce((count, byte) => count + (isControl(byte) ? 1 : 0), 0);
  if (controls > bytes.length * MOST_CONTROLS) throw new UnreadableFile("is no text");
  return { text: guess, warnings: [`not valid ${named ?? "UTF-8"}; read as Windows-1252`] };
}

/** Control characters other than tabs and line ends. */
function isControl(byte: number): boolean {
  return byte < 9 || (byte > 13 && byte < 32) || byte === 127;
}

function encodingOfMark([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8";
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  return undefined;
}

function knownEncoding(label: string | undefined): string | undefined {
  try {
    return label === undefined ? undefined : new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
}

function tryDecode(bytes: Uint8Array, encoding: string): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
