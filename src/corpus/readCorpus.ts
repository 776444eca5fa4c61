/**
 * A visitor's own files as a corpus to search: each file is read by its kind, cut into passages and numbered. A file
 * that cannot be read is named with the reason and harms no other. Runs in a worker and in Node.
 */
import { type FileKind, numberAt, type ParsedFile, type ParseOptions, type Parser, UnreadableFile } from "./parsed";
import { type CountTokens, checkPassageTokens, passagesOf } from "./passages";
import type { FileSource } from "./source";

export const DEFAULT_CORPUS_LIMITS = {
  /** Of one file. */
  fileBytes: 64 * 2 ** 20,
  files: 10_000,
  /** Of all files together; the index over them is kept in memory. */
  passages: 200_000,
};
export type CorpusLimits = typeof DEFAULT_CORPUS_LIMITS;

/** A file to read: a `File` of the browser or a file of the disk, with its folders in its name. */
export interface InputFile {
  /** Unique; folders are separated by "/". */
  name: string;
  /** In bytes. */
  size: number;
  bytes(): Promise<Uint8Array>;
}

/** A file that a visitor chose or dropped; `name` with its folders where the browser does not tell them. */
export function inputFile(file: File, name = file.webkitRelativePath || file.name): InputFile {
  return { name, size: file.size, bytes: async () => new Uint8Array(await file.arrayBuffer()) };
}

/** A passage, as the search tool takes it. */
export interface CorpusDocument {
  /** The file's name and the passage's number in it: "notes.md#3". */
  id: string;
  title: string;
  text: string;
  /** As counted by `CorpusOptions.countTokens`. */
  tokens: number;
  source: FileSource;
}

export interface CorpusFile extends ParsedFile {
  name: string;
  kind: FileKind;
  bytes: number;
  passages: number;
}

export interface SkippedFile {
  name: string;
  /** A clause to put after the name: "needs a password". */
  reason: string;
}

/** Plain data: it can cross to another thread. */
export interface Corpus {
  documents: CorpusDocument[];
  files: CorpusFile[];
  skipped: SkippedFile[];
}

export interface CorpusProgress {
  /** The file that was just finished. */
  name: string;
  /** Files finished, of `total`. */
  done: number;
  total: number;
  /** Passages so far. */
  passages: number;
}

export interface CorpusOptions extends ParseOptions {
  countTokens: CountTokens;
  /** Tokens of a passage with its title, at most; at least 16. */
  maxTokens: number;
  limits?: Partial<CorpusLimits>;
  onProgress?: (progress: CorpusProgress) => void;
}

const KINDS: Readonly<Record<FileKind, string>> = {
  text: "txt text log rst org tex adoc srt",
  markdown: "md markdown mdown mkd mdx",
  html: "html htm xhtml",
  csv: "csv tsv",
  json: "json",
  jsonl: "jsonl ndjson",
  pdf: "pdf",
};
const KIND_OF = new Map(
  (Object.keys(KINDS) as FileKind[]).flatMap((kind) => KINDS[kind].split(" ").map((ending) => [ending, kind] as const)),
);

/** Endings of files that are read as what they say; any other file is read as text if it is text. */
export const CORPUS_ENDINGS: readonly string[] = [...KIND_OF.keys()].map((ending) => `.${ending}`);

/** A format's reader is loaded when the first file needs it. */
const PARSERS: Readonly<Record<FileKind, () => Promise<Parser>>> = {
  text: async () => (await import("./plainText")).parsePlainText,
  markdown: async () => (await import("./markdown")).parseMarkdown,
  html: async () => (await import("./html")).parseHtml,
  csv: async () => (await import("./csv")).parseCsv,
  json: async () => (await import("./json")).parseJson,
  jsonl: async () => (await import("./json")).parseJsonLines,
  pdf: async () => (await import("./pdf")).parsePdf,
};

/** Milliseconds of work after which the thread takes a breath, so that an abort can arrive. */
const BREATH_MS = 50;

/** Whether a file of a folder is none that its owner means: hidden, or of a tool's own folder. */
export function isHiddenPath(name: string): boolean {
  return name.split("/").some((part) => /^\.(?!\.?$)/.test(part) || part === "node_modules" || part === "__MACOSX");
}

/**
 * Reads files into a corpus, in the order given. Files that cannot be read are in `skipped`.
 * @throws RangeError for a bad `maxTokens`; the signal's reason after an abort
 */
export async function readCorpus(files: readonly InputFile[], options: CorpusOptions): Promise<Corpus> {
  checkPassageTokens(options.maxTokens);
  const limits = { ...DEFAULT_CORPUS_LIMITS, ...options.limits };
  const corpus: Corpus = { documents: [], files: [], skipped: [] };
  const names = new Set<string>();
  let lastBreath = performance.now();
  for (const [i, file] of files.entries()) {
    options.signal?.throwIfAborted();
    try {
      if (i >= limits.files) throw new UnreadableFile(`is one too many: a corpus holds ${limits.files} files`);
      if (names.has(file.name)) throw new UnreadableFile("is given twice");
      names.add(file.name);
      const parsed = await parseFile(file, limits, options);
      const documents: CorpusDocument[] = [];
      for (const document of documentsOf(parsed, options)) {
        documents.push(document);
        if (corpus.documents.length + documents.length > limits.passages) {
          throw new UnreadableFile(`does not fit: a corpus holds ${limits.passages} passages`);
        }
        options.signal?.throwIfAborted();
        if (performance.now() - lastBreath < BREATH_MS) continue;
        await new Promise((resolve) => setTimeout(resolve));
        lastBreath = performance.now();
      }
      if (documents.length === 0) throw new UnreadableFile("holds no text");
      for (const document of documents) corpus.documents.push(document);
      corpus.files.push({ ...parsed, passages: documents.length });
    } catch (error) {
      options.signal?.throwIfAborted();
      // Whatever a reader stumbles over in one file must not cost the others.
      const { message } = error as Error;
      const reason = error instanceof UnreadableFile ? message : `could not be read (${message})`;
      corpus.skipped.push({ name: file.name, reason });
    }
    options.onProgress?.({ name: file.name, done: i + 1, total: files.length, passages: corpus.documents.length });
  }
  return corpus;
}

/**
 * Cuts files that were read before into passages of another size; each of them keeps at least one.
 * @throws RangeError for a bad `maxTokens`; the signal's reason after an abort
 */
export async function cutCorpus(
  files: readonly CorpusFile[],
  options: Pick<CorpusOptions, "countTokens" | "maxTokens" | "signal">,
): Promise<Pick<Corpus, "documents" | "files">> {
  checkPassageTokens(options.maxTokens);
  const cut: Pick<Corpus, "documents" | "files"> = { documents: [], files: [] };
  let lastBreath = performance.now();
  for (const file of files) {
    const before = cut.documents.length;
    for (const document of documentsOf(file, options)) {
      cut.documents.push(document);
      options.signal?.throwIfAborted();
      if (performance.now() - lastBreath < BREATH_MS) continue;
      await new Promise((resolve) => setTimeout(resolve));
      lastBreath = performance.now();
    }
    cut.files.push({ ...file, passages: cut.documents.length - before });
  }
  return cut;
}

type NamedFile = Omit<CorpusFile, "passages">;

async function parseFile(file: InputFile, limits: CorpusLimits, options: ParseOptions): Promise<NamedFile> {
  const { name, size } = file;
  const tooLarge = `is larger than ${Math.floor(limits.fileBytes / 2 ** 20)} MiB`;
  if (size > limits.fileBytes) throw new UnreadableFile(tooLarge);
  const bytes = await file.bytes().catch((error: Error) => {
    throw new UnreadableFile(`could not be opened (${error.message})`);
  });
  if (bytes.length > limits.fileBytes) throw new UnreadableFile(tooLarge);
  if (bytes.length === 0) throw new UnreadableFile("is empty");
  const kind = kindOf(name, bytes);
  // A reader that cannot be loaded (a lost connection) concerns every file of its kind, but no other.
  const parse = await PARSERS[kind]().catch((error: Error) => {
    throw new UnreadableFile(`needs a reader that could not be loaded (${error.message})`);
  });
  const parsed = await parse(bytes, name, options);
  return { ...parsed, name, kind, bytes: bytes.length };
}

/** By the ending, unless the file begins as a PDF does. */
function kindOf(name: string, bytes: Uint8Array): FileKind {
  if (new TextDecoder("windows-1252").decode(bytes.subarray(0, 5)) === "%PDF-") return "pdf";
  const ending = /\.([^./]+)$/.exec(name)?.[1]?.toLowerCase() ?? "";
  return KIND_OF.get(ending) ?? "text";
}

function* documentsOf(
  file: NamedFile,
  { maxTokens, countTokens }: Pick<CorpusOptions, "maxTokens" | "countTokens">,
): Generator<CorpusDocument> {
  let number = 0;
  for (const { title, text, start, end } of passagesOf(file, maxTokens, countTokens)) {
    number++;
    yield {
      id: `${file.name}#${number}`,
      title,
      text,
      tokens: countTokens({ title, text }),
      source: { kind: "file", file: file.name, start, end, ...placeOf(file, start) },
    };
  }
}

/** The line, page or row of a character of a file's text. */
export function placeOf(
  { marks }: Pick<ParsedFile, "marks">,
  offset: number,
): Pick<FileSource, "line" | "page" | "row"> {
  const number = numberAt(marks, offset);
  return number === undefined ? {} : { [marks.unit]: number };
}
