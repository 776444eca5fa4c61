/**
 * The search tool: BM25+ over a corpus of documents, in memory. The index of a corpus is built once, on first use, and
 * kept as long as the corpus lives. The agents in `pretrain/` are trained on exactly `SEARCH_FUNCTION`.
 */
import MiniSearch from "minisearch";
import type { DocumentSource } from "../../corpus/source";
import type { ToolFunction } from "../../text/tokenizer";
import type { Tool, ToolDocument } from "../tool";

export const DEFAULT_SEARCH_RESULTS = 5;

/** A word in the title counts this many times as much as one in the text. */
const TITLE_BOOST = 2;

export interface SearchableDocument {
  id: string;
  title: string;
  text: string;
  source?: DocumentSource;
}

export const SEARCH_FUNCTION: ToolFunction = {
  name: "search",
  description: "Finds documents.",
  parameters: {
    type: "object",
    properties: {
      query: { type: "string", minLength: 1, description: "words to look for" },
      purpose: { type: "string", minLength: 1, description: "what you need to know" },
    },
    required: ["query", "purpose"],
  },
};

/** Scripts that put no blanks between words. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]/u;
const splitAtBlanks = MiniSearch.getDefault("tokenize") as (text: string) => string[];
let wordSegmenter: Intl.Segmenter | undefined;

function tokenize(text: string): string[] {
  return splitAtBlanks(text).flatMap((word) => {
    if (!UNSPACED.test(word)) return word;
    wordSegmenter ??= new Intl.Segmenter("und", { granularity: "word" });
    return [...wordSegmenter.segment(word)].flatMap(({ segment, isWordLike }) => (isWordLike ? segment : []));
  });
}

const indexes = new WeakMap<readonly SearchableDocument[], MiniSearch>();

/** Lower case without accents, so that "Zürich" and "zurich" are one word. */
function normalizeTerm(term: string): string {
  return term.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

/** Documents that are indexed at once; after so many the thread takes a breath. */
const INDEX_STEP = 1_000;

function emptyIndex(): MiniSearch {
  return new MiniSearch({ fields: ["title", "text"], tokenize, processTerm: normalizeTerm });
}

/** Positions stand for ids: they break ties, and a corpus may repeat an id. */
function numbered(corpus: readonly SearchableDocument[]) {
  return corpus.map(({ title, text }, position) => ({ id: position, title, text }));
}

function indexOf(corpus: readonly SearchableDocument[]): MiniSearch {
  let index = indexes.get(corpus);
  if (!index) {
    index = emptyIndex();
    index.addAll(numbered(corpus));
    indexes.set(corpus, index);
  }
  return index;
}

const preparations = new WeakMap<readonly SearchableDocument[], Promise<void>>();

/**
 * Builds the index of a corpus in steps, so that a large one does not hold up its thread. Searching does it by itself;
 * done before, it spares the first search the wait.
 */
export async function prepareSearch(corpus: readonly SearchableDocument[]): Promise<void> {
  if (indexes.has(corpus)) return;
  if (corpus.length <= INDEX_STEP) {
    indexOf(corpus);
    return;
  }
  let preparation = preparations.get(corpus);
  if (!preparation) {
    const index = emptyIndex();
    preparation = index.addAllAsync(numbered(corpus), { chunkSize: INDEX_STEP }).then(() => {
      indexes.set(corpus, index);
    });
    preparations.set(corpus, preparation);
  }
  await preparation;
}

/**
 * The best `limit` documents for a query by BM25+ (k1 1.2, b 0.7, d 0.5 as MiniSearch has them), best first; documents of
 * equal score in the order of the corpus. Empty when no word of the query occurs. The corpus must not change afterwards.
 * @throws RangeError when `limit` is not a positive integer.
 */
export function searchDocuments(corpus: readonly SearchableDocument[], query: string, limit: number): ToolDocument[] {
  if (!Number.isSafeInteger(limit) || limit < 1) throw new RangeError(`limit must be a positive integer; got ${limit}`);
  return indexOf(corpus)
    .search(query, { boost: { title: TITLE_BOOST } })
    .sort((a, b) => b.score - a.score || a.id - b.id)
    .slice(0, limit)
    .map((hit) => {
      const { id, title, text, source } = corpus[hit.id as number] as SearchableDocument;
      return { id, title, text, score: hit.score, ...(source && { source }) };
    });
}

/**
 * The tool that System 2 calls as `search`, returning at most `results` documents a call. A search that finds nothing
 * is an error for System 2 to read: it should try other words.
 * @throws RangeError when `results` is not a positive integer.
 */
export function searchTool(corpus: readonly SearchableDocument[], results = DEFAULT_SEARCH_RESULTS): Tool {
  if (!Number.isSafeInteger(results) || results < 1) {
    throw new RangeError(`results must be a positive integer; got ${results}`);
  }
  return {
    function: SEARCH_FUNCTION,
    cost: { requests: 0 },
    async run(args) {
      const query = String(args.query);
      await prepareSearch(corpus);
      const documents = searchDocuments(corpus, query, results);
      if (documents.length === 0) throw new Error(`No document matches "${query}". Try other words.`);
      return documents;
    },
  };
}
