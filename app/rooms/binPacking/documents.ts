/** The documents to pack: drawn from a seed, given by a link, or built as a trap. The study of many seeds draws alike. */
import { sampled, shuffled, TRAPS, type Trap, trap, uniformLengths } from "../../../src/index";
import { countOf, MIXED_CAPACITY, MOST_DOCUMENTS, MOST_TOKENS, type RoomSearch } from "./search";

export interface PackedDocument {
  tokens: number;
  title?: string;
}

/** Real documents with the bins that fit them. */
export interface DocumentPool {
  documents: readonly PackedDocument[];
  /** Tokens. */
  capacity: number;
}

const isTrap = (preset: string): preset is Trap => (TRAPS as readonly string[]).includes(preset);

/**
 * The documents of a seed, in the order in which they come.
 * @param pool the articles, or the last run with its titles; undefined when there is none (yet)
 */
export function drawDocuments(search: RoomSearch, seed: number, pool: DocumentPool | undefined): PackedDocument[] {
  const { preset, shortest, longest, items } = search;
  if (preset === "mixed") {
    const [low, high] = [Math.min(shortest, longest), Math.max(shortest, longest)];
    return uniformLengths(seed, countOf(search), low, high).map((tokens) => ({ tokens }));
  }
  if (preset === "articles") return sampled(seed, countOf(search), pool?.documents ?? []);
  if (isTrap(preset)) {
    return shuffled(
      seed,
      trap(preset).lengths.map((tokens) => ({ tokens })),
    );
  }
  const sizes = readSizes(items);
  const known = pool && pool.documents.map(({ tokens }) => tokens).join() === sizes.join() ? pool.documents : undefined;
  return shuffled(seed, known ?? sizes.map((tokens) => ({ tokens })));
}

/** Tokens of a bin where neither link nor visitor says otherwise. */
export function ownCapacity(search: RoomSearch, pool: DocumentPool | undefined): number {
  const { preset, items } = search;
  if (preset === "mixed") return MIXED_CAPACITY;
  if (isTrap(preset)) return trap(preset).capacity;
  if (preset !== "own" && pool) return Math.max(1, pool.capacity);
  return Math.max(MIXED_CAPACITY, ...readSizes(items));
}

export function readSizes(items: string | undefined): number[] {
  return items === undefined ? [] : items.split("-").map(Number);
}

export const writeSizes = (sizes: readonly number[]): string => sizes.join("-");

export type ParsedSizes =
  | { sizes: number[] }
  | { problem: "empty" }
  | { problem: "word"; word: string }
  | { problem: "size"; size: number }
  | { problem: "many"; count: number };

/** Reads a pasted list: numbers apart by spaces, commas, semicolons, line ends; "1_000" is one, as is "1 000" not. */
export function parseSizes(text: string): ParsedSizes {
  const words = text.split(/[\s,;|]+/).filter((word) => word !== "");
  if (words.length === 0) return { problem: "empty" };
  const sizes: number[] = [];
  for (const word of words) {
    if (!/^\d{1,15}$/.test(word)) return { problem: "word", word };
    const size = Number(word);
    if (size < 1 || size > MOST_TOKENS) return { problem: "size", size };
    sizes.push(size);
  }
  return sizes.length > MOST_DOCUMENTS ? { problem: "many", count: sizes.length } : { sizes };
}
