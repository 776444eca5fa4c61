/**
 * OpenAlex as a source of papers: an open catalogue of research works with abstracts.
 * https://developers.openalex.org/api-reference: /works?search=, abstracts as an inverted index, a small daily allowance
 * without a key and a larger one with a free key, status 429 when it is used up.
 */
import { z } from "zod";
import type { ToolDocument } from "../tool";
import { DEFAULT_TOTAL_MS, getJson, type HttpSettings } from "./http";
import type { ScholarSource } from "./scholar";

export interface OpenAlexSettings extends HttpSettings {
  /** The person's own free key from openalex.org/settings/api; without one some searches a day are free. */
  apiKey?: string;
  /** Default "https://api.openalex.org". */
  url?: string;
}

const OPEN_ALEX = "https://api.openalex.org";
const FIELDS =
  "id,doi,display_name,publication_year,authorships,primary_location,cited_by_count,relevance_score,abstract_inverted_index";
/** OpenAlex gives at most so many works a page. */
const MOST_RESULTS = 100;
const LONGEST_QUERY = 500;
const MOST_AUTHORS = 5;
/** Positions beyond this belong to no abstract. */
const LAST_POSITION = 20_000;

const named = z.object({ display_name: z.string().nullish() }).nullish();
const workSchema = z.object({
  id: z.string(),
  doi: z.string().nullish(),
  display_name: z.string().nullish(),
  publication_year: z.number().nullish(),
  authorships: z.array(z.object({ author: named })).nullish(),
  primary_location: z.object({ source: named }).nullish(),
  cited_by_count: z.number().nullish(),
  relevance_score: z.number().nullish(),
  abstract_inverted_index: z.record(z.string(), z.array(z.number().int().nonnegative())).nullish(),
});
type Work = z.infer<typeof workSchema>;
const answerSchema = z.object({ results: z.array(workSchema) });

export function openAlex(settings: OpenAlexSettings): ScholarSource {
  const { url: base = OPEN_ALEX, apiKey, totalMs = DEFAULT_TOTAL_MS } = settings;
  const { host } = new URL(base);
  const key = apiKey ? ", with your OpenAlex key" : "";
  return {
    cost: { requests: 1, limitMs: totalMs },
    network: {
      hosts: [host],
      notice:
        `Search words that the model writes${key} are sent to OpenAlex (${host}), a catalogue of research papers, ` +
        "which sees your IP address.",
    },
    async find(query, limit, signal) {
      const words = searchWords(query);
      if (words === "") return [];
      const url = new URL("/works", base);
      url.searchParams.set("search", words);
      url.searchParams.set("per_page", String(Math.min(limit, MOST_RESULTS)));
      url.searchParams.set("select", FIELDS);
      if (apiKey) url.searchParams.set("api_key", apiKey);
      const { results } = await getJson({ url, site: "OpenAlex", schema: answerSchema }, settings, signal);
      return results.slice(0, limit).map(documentOf);
    },
  };
}

/** Without the marks that OpenAlex takes for wildcards and refuses in the wrong place. */
function searchWords(query: string): string {
  return query.replace(/[*?~]/g, " ").replace(/\s+/g, " ").trim().slice(0, LONGEST_QUERY);
}

function documentOf(work: Work): ToolDocument {
  const { id, doi, display_name, publication_year, relevance_score, cited_by_count } = work;
  const citation = [authorsOf(work), publication_year, work.primary_location?.source?.display_name]
    .filter((part) => part !== undefined && part !== null && part !== "")
    .join(", ");
  const cited = cited_by_count ? ` Cited ${cited_by_count} times.` : "";
  const abstract = abstractOf(work) || "No abstract is available.";
  return {
    id,
    title: display_name || "Untitled",
    text: `${citation ? `${citation}.` : ""}${cited} ${abstract}`.trim(),
    ...(typeof relevance_score === "number" && { score: relevance_score }),
    source: { kind: "web", url: doi ?? id },
  };
}

function authorsOf({ authorships }: Work): string {
  const names = (authorships ?? []).flatMap(({ author }) => author?.display_name || []);
  if (names.length <= MOST_AUTHORS) return names.join(", ");
  return `${names.slice(0, MOST_AUTHORS).join(", ")} and others`;
}

/** The abstract out of its words and their positions. */
function abstractOf({ abstract_inverted_index: index }: Work): string {
  const places = Object.entries(index ?? {}).flatMap(([word, positions]) =>
    positions.flatMap((position) => (position <= LAST_POSITION ? [{ word, position }] : [])),
  );
  places.sort((a, b) => a.position - b.position);
  return places
    .map(({ word }) => word)
    .join(" ")
    .replace(/\s+/g, " ")
    .trim();
}
