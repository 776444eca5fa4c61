/**
 * Cuts a file into passages that a reader's prompt can hold. Sections are never mixed; within one, paragraphs are kept
 * together as long as they fit, then sentences, then words.
 */
import { collapse, type ParsedFile } from "./parsed";

export interface Passage {
  title: string;
  /** In one line: white space is single blanks. */
  text: string;
  /** Characters [start, end) of the file's text, which are the passage's but for white space. */
  start: number;
  end: number;
}

/** Tokens of a document as its reader reads it, title included. */
export type CountTokens = (document: { title: string; text: string }) => number;

const LEAST_PASSAGE_TOKENS = 16;
/** Characters; a span that is longer for its tokens is not worth counting. */
const LONGEST_TOKEN = 64;

/** @throws RangeError when maxTokens is not a whole number of at least 16 */
export function checkPassageTokens(maxTokens: number): void {
  if (Number.isSafeInteger(maxTokens) && maxTokens >= LEAST_PASSAGE_TOKENS) return;
  throw new RangeError(`passages must have at least ${LEAST_PASSAGE_TOKENS} tokens; got ${maxTokens}`);
}

/**
 * The passages of a file in its order, each of at most `maxTokens` tokens; a title that alone takes more than half of
 * that is cut.
 * @throws RangeError when maxTokens is not a whole number of at least 16
 */
export function* passagesOf(
  file: Pick<ParsedFile, "title" | "text" | "sections">,
  maxTokens: number,
  countTokens: CountTokens,
): Generator<Passage> {
  checkPassageTokens(maxTokens);
  for (const section of file.sections) {
    const title = cutTitle(section.title ? `${file.title} / ${section.title}` : file.title, maxTokens / 2, countTokens);
    const fits = (start: number, end: number) =>
      end - start <= maxTokens * LONGEST_TOKEN &&
      countTokens({ title, text: collapse(file.text.slice(start, end)) }) <= maxTokens;
    for (const { start, end } of pack(file.text, trim(file.text, section), 0, fits)) {
      yield { title, text: collapse(file.text.slice(start, end)), start, end };
    }
  }
}

/**
 * Documents of at most `maxTokens` tokens each: those that fit as they are, longer ones as several passages "<id>.1",
 * "<id>.2" and so on of the same title, so that no reader has to cut them.
 * @throws RangeError when maxTokens is not a whole number of at least 16
 */
export function fitDocuments<T extends { id: string; title: string; text: string }>(
  documents: readonly T[],
  { maxTokens, countTokens }: { maxTokens: number; countTokens: CountTokens },
): T[] {
  return documents.flatMap((document) => {
    const { id, title, text } = document;
    if (countTokens(document) <= maxTokens) return document;
    const file = { title, text, sections: [{ title: "", start: 0, end: text.length }] };
    return Array.from(passagesOf(file, maxTokens, countTokens), (passage, i) => {
      return { ...document, id: `${id}.${i + 1}`, title: passage.title, text: passage.text };
    });
  });
}

interface Span {
  start: number;
  end: number;
}

type Fits = (start: number, end: number) => boolean;

/** From coarse to fine: the pieces of a text, which follow each other and cover it. */
const CUTTERS: readonly ((text: string) => Iterable<string>)[] = [
  (text) => cutAfter(text, /\n[^\S\n]*\n\s*/g),
  (text) => segments(text, "sentence"),
  (text) => cutAfter(text, /\s+/g),
  (text) => segments(text, "grapheme"),
];

/** Spans without white space at their ends that fit; what cannot be cut any finer stands alone. */
function* pack(text: string, span: Span, level: number, fits: Fits): Generator<Span> {
  const { start, end } = span;
  if (start >= end) return;
  if (fits(start, end)) return yield span;
  const cut = CUTTERS[level];
  if (!cut) return yield span;
  const ends: number[] = [];
  for (const piece of cut(text.slice(start, end))) ends.push((ends.at(-1) ?? start) + piece.length);
  let from = start;
  for (let i = 0; i < ends.length; ) {
    const count = longestRun(ends, i, (last) => fits(from, last));
    const to = ends[i + Math.max(count, 1) - 1] as number;
    const run = trim(text, { start: from, end: to });
    if (count > 0 && run.start < run.end) yield run;
    else yield* pack(text, run, level + 1, fits);
    i += Math.max(count, 1);
    from = to;
  }
}

/** How many of the ends from `first` on can be taken in one run: doubled until it fits no more, then halved in on. */
function longestRun(ends: readonly number[], first: number, fits: (end: number) => boolean): number {
  const most = ends.length - first;
  const ok = (count: number) => fits(ends[first + count - 1] as number);
  if (!ok(1)) return 0;
  let good = 1;
  let bad = 2;
  while (bad <= most && ok(bad)) {
    good = bad;
    bad *= 2;
  }
  bad = Math.min(bad, most + 1);
  while (bad - good > 1) {
    const middle = (good + bad) >>> 1;
    if (ok(middle)) good = middle;
    else bad = middle;
  }
  return good;
}

function trim(text: string, { start, end }: Span): Span {
  const part = text.slice(start, end);
  const from = start + part.length - part.trimStart().length;
  return { start: from, end: Math.max(from, start + part.trimEnd().length) };
}

/** Pieces that end with what the pattern matches. */
function* cutAfter(text: string, pattern: RegExp): Generator<string> {
  let from = 0;
  for (const match of text.matchAll(pattern)) {
    const to = match.index + match[0].length;
    yield text.slice(from, to);
    from = to;
  }
  if (from < text.length) yield text.slice(from);
}

const segmenters = new Map<string, Intl.Segmenter>();

function* segments(text: string, granularity: "sentence" | "grapheme"): Generator<string> {
  const segmenter = segmenters.get(granularity) ?? new Intl.Segmenter("en", { granularity });
  segmenters.set(granularity, segmenter);
  // The end of a line is no end of a sentence; the length stays.
  for (const { segment } of segmenter.segment(text.replace(/[\r\n]/g, " "))) yield segment;
}

function cutTitle(title: string, most: number, countTokens: CountTokens): string {
  const whole = collapse(title);
  if (countTokens({ title: whole, text: "" }) <= most) return whole;
  const characters = [...whole];
  let [low, high] = [0, characters.length];
  const cut = (length: number) => `${characters.slice(0, length).join("").trimEnd()}…`;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (countTokens({ title: cut(middle), text: "" }) <= most) low = middle;
    else high = middle - 1;
  }
  return cut(low);
}
