/** The visitor's own documents: read once, cut anew when another System 1 is going to read them, shown in their place. */

import { findQuote } from "../corpus/quotes";
import {
  type CorpusDocument,
  type CorpusFile,
  type CorpusProgress,
  cutCorpus,
  type InputFile,
  placeOf,
  readCorpus,
  type SkippedFile,
} from "../corpus/readCorpus";
import type { FileSource } from "../corpus/source";
import type { ReaderSettings } from "../dual/system1";
import { type PassageSize, passageSize } from "../dual/tools/passageSize";
import { prepareSearch } from "../dual/tools/search";
import type { OwnCorpus, SourceView } from "./researchProtocol";

/** Characters of a file that are shown before and after a passage. */
const CONTEXT = 4_000;

export class DocumentShelf {
  private files: CorpusFile[] = [];
  private skipped: SkippedFile[] = [];
  private cut: { size: string; maxTokens: number; documents: CorpusDocument[] } = {
    size: "",
    maxTokens: 0,
    documents: [],
  };

  constructor(private readonly readCMap?: (name: string) => Promise<Uint8Array>) {}

  get corpus(): OwnCorpus {
    return {
      files: this.files.map(({ name, title, kind, bytes, passages, warnings }) => ({
        ...{ name, title, kind, bytes, passages, warnings },
      })),
      skipped: this.skipped,
      passages: this.cut.documents.length,
      maxTokens: this.cut.maxTokens,
    };
  }

  /**
   * Reads files and adds them; a file of a name that is there already replaces it.
   * @throws the signal's reason after an abort; the corpus is then as before
   */
  async add(
    inputs: readonly InputFile[],
    reader: ReaderSettings,
    signal: AbortSignal,
    onProgress: (progress: CorpusProgress) => void,
  ): Promise<void> {
    const { readCMap } = this;
    const size = passageSize(reader);
    const read = await readCorpus(inputs, { ...size, signal, onProgress, ...(readCMap && { readCMap }) });
    const names = new Set(inputs.map(({ name }) => name));
    const kept = this.files.filter(({ name }) => !names.has(name));
    const files = [...kept, ...read.files];
    // Those that were there may have been cut for another reader.
    const before = await cutCorpus(kept, { ...size, signal });
    const documents = [...before.documents, ...read.documents];
    await prepareSearch(documents);
    signal.throwIfAborted();
    this.files = [...before.files, ...files.slice(kept.length)];
    this.skipped = [...this.skipped.filter(({ name }) => !names.has(name)), ...read.skipped];
    this.cut = { size: sizeKey(reader, size), maxTokens: size.maxTokens, documents };
  }

  /** Takes out one file, or all. */
  remove(name?: string): void {
    const stays = (file: string) => name !== undefined && file !== name;
    this.files = this.files.filter((file) => stays(file.name));
    this.skipped = this.skipped.filter((file) => stays(file.name));
    this.cut = { ...this.cut, documents: this.cut.documents.filter(({ source }) => stays(source.file)) };
  }

  /**
   * The passages for a System 1: the same array as long as neither files nor reader change, so that its index lives.
   * @throws the signal's reason after an abort
   */
  async documents(reader: ReaderSettings, signal?: AbortSignal): Promise<readonly CorpusDocument[]> {
    const size = passageSize(reader);
    const key = sizeKey(reader, size);
    if (key !== this.cut.size) {
      const { documents, files } = await cutCorpus(this.files, { ...size, ...(signal && { signal }) });
      this.files = files;
      this.cut = { size: key, maxTokens: size.maxTokens, documents };
    }
    return this.cut.documents;
  }

  view(source: FileSource, quote?: string): SourceView | undefined {
    const file = this.files.find(({ name }) => name === source.file);
    // A file of the same name may have been put in its place.
    if (!file || source.end > file.text.length) return undefined;
    const from = Math.max(0, source.start - CONTEXT);
    const to = Math.min(file.text.length, source.end + CONTEXT);
    const found = quote === undefined ? undefined : findQuote(file.text, quote, source.start, source.end);
    const number = placeOf(file, found?.[0] ?? source.start)[file.marks.unit];
    return {
      file: file.name,
      title: file.title,
      text: file.text.slice(from, to),
      before: from,
      after: file.text.length - to,
      passage: [source.start - from, source.end - from],
      ...(found && { quote: [found[0] - from, found[1] - from] as [number, number] }),
      ...(number !== undefined && { place: { unit: file.marks.unit, number } }),
    };
  }
}

/** Readers of one key read the same passages. */
export function sizeKey({ model }: ReaderSettings, { maxTokens }: PassageSize): string {
  return `${maxTokens} ${tokenizerNumber(model.tokenizer)}`;
}

const numbers = new WeakMap<object, number>();
let next = 0;

function tokenizerNumber(tokenizer: object): number {
  const known = numbers.get(tokenizer);
  if (known !== undefined) return known;
  numbers.set(tokenizer, ++next);
  return next;
}
