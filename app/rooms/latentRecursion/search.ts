/** The room's state in the URL: the question, how messages are passed, and the links. Only what differs is written. */
import { z } from "zod";
import {
  LINK_CHOICES,
  type LinkChoice,
  makeRelay,
  RELAY_DEALS,
  type RelayFact,
  type RelayQuestion,
} from "../../../src/index";
import type { AgentSpec, RecursionRequest, RelaySpec } from "../../../src/worker/recursionProtocol";
import { RELAY_RING } from "../../models";

export const LINK_SETS = ["shipped", "trained", "opened"] as const;
/** Handles of sets of links: those of the page, those trained in this tab, those of a file. */
export type LinkSetId = (typeof LINK_SETS)[number];

export const INNER_CHOICES = [
  "trained",
  "identity",
  "ridge",
  "softEmbedding",
  "zero",
  "noise",
  "swapped",
] as const satisfies readonly LinkChoice[];
export const OUTER_CHOICES = LINK_CHOICES;

export const DEFAULTS = {
  seed: 1,
  hops: 3,
  deal: "against",
  passing: "latent",
  rounds: 3,
  steps: 4,
  inner: "trained",
  outer: "trained",
  links: "shipped",
  temperature: 0,
  sampling: 0,
  peeks: true,
  fit: "thoughts",
} as const;

export const LIMITS = {
  seed: { min: 0, max: 899_999, step: 1 },
  hops: { min: 1, max: 3, step: 1 },
  rounds: { min: 1, max: 6, step: 1 },
  steps: { min: 1, max: 16, step: 1 },
  temperature: { min: 0, max: 1.5, step: 0.1, decimals: 2 },
  sampling: { min: 0, max: 999_999, step: 1 },
} as const;

export const FITS = ["thoughts", "tokens", "both"] as const;

type NumberKey = "seed" | "hops" | "rounds" | "steps" | "sampling";
const whole = (key: NumberKey) =>
  z.int().min(LIMITS[key].min).max(LIMITS[key].max).default(DEFAULTS[key]).catch(DEFAULTS[key]);
const oneOf = <const T extends readonly [string, ...string[]]>(values: T, fallback: T[number]) =>
  z
    .enum(values)
    .default(fallback as never)
    .catch(fallback as never);

/** A damaged value in a link falls back to its default instead of breaking the page. */
export const searchSchema = z.object({
  seed: whole("seed"),
  hops: whole("hops"),
  deal: oneOf(RELAY_DEALS as ["with", "against", "random"], DEFAULTS.deal),
  /** A chain of one's own, "Ada.loves.Bela.pays.Cato", with the agent of each hop, "20". */
  chain: z
    .string()
    .regex(/^[A-Za-z]+(\.[a-z]+\.[A-Za-z]+){1,3}$/)
    .optional()
    .catch(undefined),
  holders: z
    .string()
    .regex(/^\d{1,3}$/)
    .optional()
    .catch(undefined),
  passing: oneOf(["latent", "text", "alone"], DEFAULTS.passing),
  rounds: whole("rounds"),
  steps: whole("steps"),
  inner: oneOf(INNER_CHOICES, DEFAULTS.inner),
  outer: oneOf(OUTER_CHOICES, DEFAULTS.outer),
  links: oneOf(LINK_SETS, DEFAULTS.links),
  temperature: z
    .number()
    .min(LIMITS.temperature.min)
    .max(LIMITS.temperature.max)
    .default(DEFAULTS.temperature)
    .catch(DEFAULTS.temperature),
  sampling: whole("sampling"),
  peeks: z.boolean().default(DEFAULTS.peeks).catch(DEFAULTS.peeks),
  fit: oneOf(FITS, DEFAULTS.fit),
});
export type RoomSearch = z.infer<typeof searchSchema>;

/** The settings of a run that differ from the defaults; question and links have their own place. */
export const SETTINGS = ["temperature", "sampling", "peeks"] as const;

export function changedSettings(search: RoomSearch): number {
  return SETTINGS.filter((key) => search[key] !== DEFAULTS[key]).length;
}

export function parseChain(text: string): RelayFact[] {
  const words = text.split(".");
  const facts: RelayFact[] = [];
  for (let i = 0; i + 2 < words.length; i += 2) {
    facts.push({ subject: words[i] as string, verb: words[i + 1] as string, object: words[i + 2] as string });
  }
  return facts;
}

export function writeChain(chain: readonly RelayFact[]): string {
  return [chain[0]?.subject, ...chain.flatMap(({ verb, object }) => [verb, object])].join(".");
}

export function relaySpec({ seed, hops, deal, chain, holders }: RoomSearch): RelaySpec {
  return {
    seed,
    hops,
    deal,
    ...(chain !== undefined && { chain: parseChain(chain) }),
    ...(chain !== undefined && holders !== undefined && { holders: Array.from(holders, Number) }),
  };
}

/** The question of a room, or why there is none. */
export function questionOf(spec: RelaySpec): { question: RelayQuestion } | { problem: string } {
  const { seed, hops, deal, chain, holders } = spec;
  try {
    const options = { agents: RELAY_RING.length, hops, deal, ...(chain && { chain }), ...(holders && { holders }) };
    return { question: makeRelay(seed, options) };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

/** What a run of these settings asks for, by default of the agents that the page brings. */
export function toRequest(
  search: RoomSearch,
  { agents = RELAY_RING, passing = search.passing }: { agents?: AgentSpec[]; passing?: RoomSearch["passing"] } = {},
): Omit<RecursionRequest, "run"> {
  const { rounds, steps, inner, outer, links, temperature, sampling, peeks } = search;
  return {
    agents,
    links,
    relay: relaySpec(search),
    passing,
    rounds,
    latentSteps: steps,
    inner,
    outer,
    peeks,
    temperature,
    seed: sampling,
  };
}

/** Whether links of a set are needed to run. */
export function needsSet({ passing, inner, outer }: Pick<RoomSearch, "passing" | "inner" | "outer">): boolean {
  const trained: readonly LinkChoice[] = ["trained", "shuffled", "swapped"];
  return passing === "latent" && (trained.includes(inner) || trained.includes(outer));
}
