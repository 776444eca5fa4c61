/** The room's state in the URL: a question and the settings of its run. Only what differs from the defaults is written. */
import { z } from "zod";
import { PACKING_ALGORITHMS } from "../../../src/index";
import type { QuestionSummary, ResearchRequest } from "../../../src/worker/protocol";
import { CORPORA, SCHOLAR_SOURCES, type Site } from "../../../src/worker/researchProtocol";
import { RESEARCH_AGENT } from "../../models";

/** Seed of the world that the page opens with. */
export const HOME_WORLD = 7;
/**
 * Number of the question that the page opens with, in that world: three look-ups, more to read than System 2's context
 * holds. `node scripts/recordTraces.mjs` says so when an agent can no longer answer it.
 */
export const HOME_ITEM = 6;
/** Fresh worlds draw from here up to the seeds that training used. */
const FRESH_WORLDS = { first: 1_000, last: 999_999 } as const;

export const DEFAULTS = {
  world: HOME_WORLD,
  system1: true,
  results: 5,
  turns: 10,
  temperature: 0,
  seed: 0,
  packing: "ffd",
  corpus: "encyclopedia",
  search: true,
  python: true,
  scholar: "off",
  wikipedia: false,
  language: "en",
  patience: 10,
} as const;

export const LIMITS = {
  capacity: { min: 64, max: 1024, step: 32 },
  results: { min: 1, max: 10, step: 1 },
  turns: { min: 1, max: 10, step: 1 },
  temperature: { min: 0, max: 1.5, step: 0.1 },
  seed: { min: 0, max: 999_999, step: 1 },
  parallel: { min: 1, max: 16, step: 1 },
  patience: { min: 1, max: 60, step: 1 },
} as const;

/** Numbers of questions to draw from; a world with fewer counts round. */
const ITEMS = 1_000;

/** Chapters of the tour. */
export const TOUR_CHAPTERS = 8;

export const MAX_QUESTION_CHARACTERS = 300;

const limited = (key: "results" | "turns" | "seed" | "patience") =>
  z.int().min(LIMITS[key].min).max(LIMITS[key].max).default(DEFAULTS[key]).catch(DEFAULTS[key]);

/** A damaged value in a link falls back to its default instead of breaking the page. */
export const searchSchema = z.object({
  world: z.int().min(0).max(FRESH_WORLDS.last).default(DEFAULTS.world).catch(DEFAULTS.world),
  /** Number of the question in its world, from 1. */
  item: z.int().min(1).optional().catch(undefined),
  /** A question in the visitor's own words, instead of `item`. */
  q: z.string().trim().min(1).max(MAX_QUESTION_CHARACTERS).optional().catch(undefined),
  system1: z.boolean().default(DEFAULTS.system1).catch(DEFAULTS.system1),
  /** Absent: what System 1's prompt leaves for documents. */
  capacity: z.int().min(LIMITS.capacity.min).max(LIMITS.capacity.max).optional().catch(undefined),
  results: limited("results"),
  turns: limited("turns"),
  temperature: z
    .number()
    .min(LIMITS.temperature.min)
    .max(LIMITS.temperature.max)
    .default(DEFAULTS.temperature)
    .catch(DEFAULTS.temperature),
  seed: limited("seed"),
  /** Bins that System 1 reads at once. Absent: all. */
  parallel: z.int().min(LIMITS.parallel.min).max(LIMITS.parallel.max).optional().catch(undefined),
  packing: z.enum(PACKING_ALGORITHMS).default(DEFAULTS.packing).catch(DEFAULTS.packing),
  /** Where `search` looks. */
  corpus: z.enum(CORPORA).default(DEFAULTS.corpus).catch(DEFAULTS.corpus),
  search: z.boolean().default(DEFAULTS.search).catch(DEFAULTS.search),
  python: z.boolean().default(DEFAULTS.python).catch(DEFAULTS.python),
  scholar: z.enum(SCHOLAR_SOURCES).default(DEFAULTS.scholar).catch(DEFAULTS.scholar),
  wikipedia: z.boolean().default(DEFAULTS.wikipedia).catch(DEFAULTS.wikipedia),
  /** Which Wikipedia, by the first part of its address. */
  language: z
    .string()
    .regex(/^[a-z]{2,12}(-[a-z]{2,12}){0,2}$/)
    .default(DEFAULTS.language)
    .catch(DEFAULTS.language),
  /** Seconds of one request over the network. */
  patience: limited("patience"),
  /** Moments of the run that are shown; absent: all. */
  step: z.int().min(0).max(1_000_000).optional().catch(undefined),
  /** Chapter of the tour that is open. */
  tour: z.int().min(1).max(TOUR_CHAPTERS).optional().catch(undefined),
});
export type RoomSearch = z.infer<typeof searchSchema>;

const SETTINGS = ["system1", "results", "turns", "temperature", "seed", "packing"] as const;
const OPTIONAL_SETTINGS = ["capacity", "parallel"] as const;
const TOOLS = ["search", "python", "scholar", "wikipedia", "language", "patience"] as const;

/** The settings that differ from the defaults. */
export function changedSettings(search: RoomSearch): number {
  return (
    SETTINGS.filter((key) => search[key] !== DEFAULTS[key]).length +
    OPTIONAL_SETTINGS.filter((key) => search[key] !== undefined).length
  );
}

/** The tools' switches that differ from the defaults. */
export function changedTools(search: RoomSearch): number {
  return TOOLS.filter((key) => search[key] !== DEFAULTS[key]).length;
}

export const TOOL_DEFAULTS = Object.fromEntries(TOOLS.map((key) => [key, DEFAULTS[key]])) as Partial<RoomSearch>;

/** The shipped corpus that search looks in, which has questions of its own; undefined for any other corpus. */
export function shippedCorpus({ corpus }: Pick<RoomSearch, "corpus">): "encyclopedia" | "papers" | undefined {
  return corpus === "encyclopedia" || corpus === "papers" ? corpus : undefined;
}

/** The sites that the tools of a run would ask. */
export function sitesOf({ corpus, search, scholar, wikipedia }: RoomSearch): Site[] {
  const sites: Site[] = [];
  if (scholar === "openalex" || (search && corpus === "openalex")) sites.push("openalex");
  if (wikipedia || (search && corpus === "wikipedia")) sites.push("wikipedia");
  return sites;
}

/** The numbered question; undefined for own words and for the first preset of a world. */
function itemOf({ world, item, q, corpus }: RoomSearch): number | undefined {
  if (q !== undefined) return undefined;
  return item ?? (world === HOME_WORLD && corpus === DEFAULTS.corpus ? HOME_ITEM : undefined);
}

/** What is asked: the visitor's own words, the numbered question, or the world's first preset. */
export function questionOf(search: RoomSearch, questions: readonly QuestionSummary[]): QuestionSummary | undefined {
  const own = search.q;
  // Questions of a world are about the world's documents.
  if (!shippedCorpus(search)) return own === undefined ? undefined : { text: own, hops: 0, kind: "lookup", gold: [] };
  if (own !== undefined) {
    return questions.find(({ text }) => text === own) ?? { text: own, hops: 0, kind: "lookup", gold: [] };
  }
  const item = itemOf(search);
  const index = item === undefined ? pickPresets(questions)[0] : (item - 1) % questions.length;
  return index === undefined ? undefined : questions[index];
}

/** The presets of a world; a question of it that was drawn or linked to stands first. */
export function listedQuestions(search: RoomSearch, questions: readonly QuestionSummary[]): number[] {
  const presets = pickPresets(questions);
  const asked = questionOf(search, questions);
  const index = asked === undefined ? -1 : questions.indexOf(asked);
  return index < 0 || presets.includes(index) ? presets : [index, ...presets.slice(0, -1)];
}

/** A world that nobody has seen, and one of its questions. */
export function freshQuestion(random: () => number = Math.random): Pick<RoomSearch, "world" | "item" | "q"> {
  const { first, last } = FRESH_WORLDS;
  const world = first + Math.floor(random() * (last - first + 1));
  return { world, item: 1 + Math.floor(random() * ITEMS), q: undefined };
}

/**
 * Indices of up to `count` questions that show what can be asked: one and two hops first, then every other shape, then
 * again from the start.
 */
export function pickPresets(questions: readonly QuestionSummary[], count = 5): number[] {
  const shapes = new Map<string, number[]>();
  for (const [index, { kind, hops }] of questions.entries()) {
    const shape = `${kind === "lookup" ? 0 : 1} ${hops}`;
    shapes.set(shape, [...(shapes.get(shape) ?? []), index]);
  }
  const groups = [...shapes.entries()].sort(([a], [b]) => a.localeCompare(b)).map(([, indices]) => indices);
  const picked: number[] = [];
  for (let round = 0; picked.length < count && groups.some((group) => round < group.length); round++) {
    for (const group of groups) if (round < group.length) picked.push(group[round]!);
  }
  return picked.slice(0, count);
}

/** Of the room's parameters those that say how a run is looked at. */
const VIEW: readonly string[] = ["step", "tour"];

/** What of the address makes the run, and not how it is looked at. */
export function runSearch(search: RoomSearch): Partial<RoomSearch> {
  const whole = { ...search, item: itemOf(search) };
  // The router adds what all rooms have in common.
  const keys = Object.keys(searchSchema.shape).filter((key) => !VIEW.includes(key)) as (keyof RoomSearch)[];
  return Object.fromEntries(keys.map((key) => [key, whole[key]]));
}

/** Equal texts are equal runs. */
export function runKey(search: RoomSearch): string {
  return JSON.stringify(
    Object.entries(runSearch(search))
      .filter(([, value]) => value !== undefined)
      .sort(([a], [b]) => a.localeCompare(b)),
  );
}

/** The visitor's key for OpenAlex is no part of any link. */
export function toRequest(
  search: RoomSearch,
  question: QuestionSummary,
  openAlexKey = "",
): Omit<ResearchRequest, "run"> {
  const { corpus, language, patience, packing, parallel } = search;
  const usesTools = changedTools(search) > 0;
  return {
    model: RESEARCH_AGENT,
    world: search.world,
    question: question.text,
    ...(question.gold.length > 0 && { gold: question.gold }),
    useSystem1: search.system1,
    ...(search.capacity !== undefined && { capacity: search.capacity }),
    searchResults: search.results,
    maxTurns: search.turns,
    temperature: search.temperature,
    seed: search.seed,
    ...(packing !== DEFAULTS.packing && { packing }),
    ...(parallel !== undefined && { parallel }),
    ...(corpus !== DEFAULTS.corpus && { corpus }),
    ...(usesTools && {
      tools: { search: search.search, python: search.python, scholar: search.scholar, wikipedia: search.wikipedia },
    }),
    ...(sitesOf(search).length > 0 && {
      network: { language, timeoutMs: 1000 * patience, ...(openAlexKey && { openAlexKey }) },
    }),
  };
}
