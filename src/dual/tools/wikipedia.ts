/**
 * The wikipedia tool: searches a Wikipedia and reads the best articles whole, cut into passages; what comes back are the
 * passages that fit the query and the purpose best. https://www.mediawiki.org/wiki/API:Search, Extension:TextExtracts
 * (one whole text a request), API:Etiquette (one request after the other), API:Cross-site requests (`origin=*`).
 */
import { z } from "zod";
import { HeadingPath, type ParsedFile, type Section } from "../../corpus/parsed";
import { type CountTokens, checkPassageTokens, passagesOf } from "../../corpus/passages";
import type { ToolFunction } from "../../text/tokenizer";
import type { Tool, ToolDocument } from "../tool";
import { DEFAULT_TOTAL_MS, getJson, HttpFailure, type HttpSettings } from "./http";
import { searchDocuments } from "./search";

export interface WikipediaSettings extends HttpSettings {
  /** Tokens of a document as its reader counts them, and the most that one may have (at least 16). */
  countTokens: CountTokens;
  maxTokens: number;
  /** Which Wikipedia, by the first part of its address. Default "en". */
  language?: string;
  /** Articles read a call. Default 3. */
  articles?: number;
  /** Documents returned a call. Default 12. */
  results?: number;
  /** Default `https://<language>.wikipedia.org`. */
  url?: string;
}

const DEFAULT_ARTICLES = 3;
const DEFAULT_RESULTS = 12;
/** MediaWiki refuses longer ones, in bytes. */
const LONGEST_QUERY = 300;
/** Wikimedia asks programs to say what they are; browsers keep `User-Agent` for themselves. */
const PROGRAM = "Twinloop/0.1 (a research lab in a browser tab)";

export const WIKIPEDIA_FUNCTION: ToolFunction = {
  name: "wikipedia",
  description: "Finds passages of Wikipedia articles.",
  parameters: {
    type: "object",
    properties: {
      query: { type: "string", minLength: 1, description: "words to look for" },
      purpose: { type: "string", minLength: 1, description: "what you need to know" },
    },
    required: ["query", "purpose"],
  },
};

const errorSchema = z.object({ code: z.string(), info: z.string().optional() });
const searchSchema = z.object({
  error: errorSchema.optional(),
  query: z
    .object({
      searchinfo: z.object({ suggestion: z.string().optional() }).optional(),
      search: z.array(z.object({ title: z.string(), pageid: z.number().int() })),
    })
    .optional(),
});
const extractSchema = z.object({
  error: errorSchema.optional(),
  query: z.object({ pages: z.array(z.object({ title: z.string(), extract: z.string().optional() })) }).optional(),
});

/** Failures that MediaWiki names in an answer of status 200 and that pass by themselves. */
const PASSING = /^(ratelimited|maxlag|readonly|cirrussearch-too-busy-error|internal_api_error.*)$/;

/** @throws RangeError or Error for a bad setting */
export function wikipediaTool(settings: WikipediaSettings): Tool {
  const {
    articles = DEFAULT_ARTICLES,
    results = DEFAULT_RESULTS,
    language = "en",
    totalMs = DEFAULT_TOTAL_MS,
  } = settings;
  for (const [name, value] of Object.entries({ articles, results })) {
    if (!Number.isSafeInteger(value) || value < 1)
      throw new RangeError(`${name} must be a positive integer; got ${value}`);
  }
  checkPassageTokens(settings.maxTokens);
  if (!/^[a-z]{2,}(-[a-z]+)*$/.test(language))
    throw new Error(`language must be like "en" or "zh-yue"; got "${language}"`);
  const wiki = new Wiki(settings.url ?? `https://${language}.wikipedia.org`, settings);
  return {
    function: WIKIPEDIA_FUNCTION,
    // Each request has its own limit; they follow each other.
    cost: { requests: 1 + articles, limitMs: (1 + articles) * totalMs },
    network: {
      hosts: [wiki.host],
      notice:
        `Search words that the model writes, and the numbers of the articles found, are sent to Wikipedia (${wiki.host}), ` +
        "which sees your IP address.",
    },
    async run(args, signal) {
      const query = cutBytes(String(args.query), LONGEST_QUERY);
      const passages: ToolDocument[] = [];
      for (const article of await wiki.read(await wiki.search(query, articles, signal), signal)) {
        const url = wiki.addressOf(article.title);
        for (const { title, text, start, end } of passagesOf(article, settings.maxTokens, settings.countTokens)) {
          passages.push({ id: `${url}#${start}`, title, text, source: { kind: "web", url, start, end } });
        }
      }
      const best = searchDocuments(passages, `${query} ${args.purpose}`, results);
      // An article may be found by another name than its text has.
      const chosen = best.length > 0 ? best : passages.slice(0, results);
      if (chosen.length === 0)
        throw new Error(`The articles of Wikipedia on "${query}" hold no text. Try other words.`);
      return chosen;
    },
  };
}

/** A wiki's public interface. */
class Wiki {
  readonly host: string;

  constructor(
    private readonly origin: string,
    private readonly settings: HttpSettings,
  ) {
    this.host = new URL(origin).host;
  }

  addressOf(title: string): string {
    return `${this.origin}/wiki/${encodeURIComponent(title.replaceAll(" ", "_"))}`;
  }

  /** Numbers of the pages found, best first. @throws Error when there are none */
  async search(query: string, limit: number, signal: AbortSignal | undefined): Promise<number[]> {
    const found = await this.get(
      { list: "search", srsearch: query, srlimit: String(limit), srprop: "" },
      searchSchema,
      signal,
    );
    const { search = [], searchinfo } = found.query ?? {};
    if (search.length > 0) return search.map(({ pageid }) => pageid);
    const hint = searchinfo?.suggestion ? `Did you mean "${searchinfo.suggestion}"?` : "Try other words.";
    throw new Error(`No article of Wikipedia matches "${query}". ${hint}`);
  }

  /** The texts of pages. A page that fails is left out. @throws the first failure when there is no text at all */
  async read(pages: readonly number[], signal: AbortSignal | undefined): Promise<ParsedFile[]> {
    const articles: ParsedFile[] = [];
    let failure: unknown;
    for (const page of pages) {
      const parameters = {
        prop: "extracts",
        explaintext: "1",
        exsectionformat: "wiki",
        exlimit: "1",
        pageids: String(page),
      };
      try {
        const { query } = await this.get(parameters, extractSchema, signal);
        for (const { title, extract } of query?.pages ?? []) if (extract) articles.push(articleOf(title, extract));
      } catch (error) {
        if (!(error instanceof HttpFailure)) throw error;
        failure ??= error;
      }
    }
    if (articles.length === 0 && failure) throw failure;
    return articles;
  }

  private get<T extends { error?: { code: string; info?: string } }>(
    parameters: Record<string, string>,
    schema: z.ZodType<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    const url = new URL("/w/api.php", this.origin);
    const common = { action: "query", format: "json", formatversion: "2", origin: "*" };
    for (const [name, value] of Object.entries({ ...common, ...parameters })) url.searchParams.set(name, value);
    const headers = { "Api-User-Agent": PROGRAM, ...this.settings.headers };
    const failureOf = ({ error }: T) =>
      error && new HttpFailure(`Wikipedia refused: ${error.info ?? error.code}`, PASSING.test(error.code));
    return getJson({ url, site: "Wikipedia", schema, failureOf }, { ...this.settings, headers }, signal);
  }
}

/** An article's plain text, whose headings stand between equals signs: "== History ==". */
function articleOf(title: string, text: string): ParsedFile {
  const path = new HeadingPath(title);
  const sections: Section[] = [];
  let current = { title: "", start: 0 };
  for (const { index, 0: line, 1: marks = "", 2: heading = "" } of text.matchAll(
    /^(={2,6})[ \t]*(.+?)[ \t]*\1[ \t]*$/gm,
  )) {
    sections.push({ ...current, end: index });
    current = { title: path.enter(marks.length, heading), start: index + line.length };
  }
  sections.push({ ...current, end: text.length });
  return { title, text, sections, marks: { unit: "line", at: [] }, warnings: [] };
}

function cutBytes(text: string, most: number): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= most) return text;
  // A character that the cut divides decodes to U+FFFD.
  return new TextDecoder().decode(bytes.subarray(0, most)).replace(/\uFFFD+$/, "");
}
