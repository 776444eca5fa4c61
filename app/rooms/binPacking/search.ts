/** The room's state in the URL: the documents, the bins, what is compared, and the step. Only what differs is written. */
import { z } from "zod";
import { PACKING_ALGORITHMS, type PackingAlgorithm, TRAPS } from "../../../src/index";

export const PRESETS = ["mixed", "articles", "run", "own", ...TRAPS] as const;
export type Preset = (typeof PRESETS)[number];

export const GRAINS = ["comparison", "document"] as const;
export type Grain = (typeof GRAINS)[number];

/** From the best to the worst, as they stand under each other. */
export const ALGORITHM_ORDER = ["ffd", "ff", "bf", "nf", "one"] as const satisfies readonly PackingAlgorithm[];

export const DEFAULTS = {
  preset: "mixed",
  shortest: 40,
  longest: 400,
  world: 7,
  algorithms: ALGORITHM_ORDER.join("."),
  grain: "comparison",
} as const;

/** What a preset stands for when the link does not say. Seed 0 keeps the order as given. */
export const PRESET_DEFAULTS: Record<Preset, { seed: number; count: number }> = {
  // A draw on which every algorithm does worse than the one above it, and FFD as well as can be.
  mixed: { seed: 8, count: 14 },
  articles: { seed: 1, count: 16 },
  run: { seed: 0, count: 0 },
  own: { seed: 0, count: 0 },
  ffd: { seed: 0, count: 0 },
  ff: { seed: 0, count: 0 },
  nf: { seed: 0, count: 0 },
  halves: { seed: 0, count: 0 },
};

/** Bins of the random documents, tokens. */
export const MIXED_CAPACITY = 512;
export const MOST_DOCUMENTS = 200;
export const MOST_TOKENS = 1_000_000;

export const LIMITS = {
  seed: { min: 0, max: 999_999, step: 1 },
  count: { min: 1, max: 120, step: 1 },
  shortest: { min: 1, max: 2_000, step: 10 },
  longest: { min: 1, max: 2_000, step: 10 },
  world: { min: 0, max: 999_999, step: 1 },
  capacity: { min: 1, max: MOST_TOKENS, step: 1 },
} as const;

type NumberKey = keyof typeof LIMITS;
const number = (key: NumberKey) => z.int().min(LIMITS[key].min).max(LIMITS[key].max);
const optional = (key: NumberKey) => number(key).optional().catch(undefined);
const whole = (key: "shortest" | "longest" | "world") => number(key).default(DEFAULTS[key]).catch(DEFAULTS[key]);
/** The router reads digits as a number. */
const textOf = (pattern: RegExp) =>
  z
    .preprocess((value) => (typeof value === "number" ? String(value) : value), z.string().regex(pattern))
    .optional()
    .catch(undefined);

/** A damaged value in a link falls back to its default instead of breaking the page. */
export const searchSchema = z.object({
  preset: z.enum(PRESETS).default(DEFAULTS.preset).catch(DEFAULTS.preset),
  seed: optional("seed"),
  count: optional("count"),
  shortest: whole("shortest"),
  longest: whole("longest"),
  world: whole("world"),
  /** Absent: what belongs to the documents. */
  capacity: optional("capacity"),
  /** Sizes of the visitor's own list or of the last run, "340-120-88". */
  items: textOf(/^[1-9]\d{0,6}(-[1-9]\d{0,6}){0,199}$/),
  /** Which algorithms are compared, "ffd.nf". */
  algorithms: z
    .string()
    .refine((text) => readAlgorithms(text).length > 0)
    .default(DEFAULTS.algorithms)
    .catch(DEFAULTS.algorithms),
  grain: z.enum(GRAINS).default(DEFAULTS.grain).catch(DEFAULTS.grain),
  /** Moments that are shown; absent: all. */
  step: z.int().min(0).max(1_000_000).optional().catch(undefined),
  /** The packing by hand: for every document the letter of its bin, "-" for none. */
  hand: textOf(/^[0-9a-zA-Z-]{1,62}$/),
});
export type RoomSearch = z.infer<typeof searchSchema>;

export function readAlgorithms(text: string): PackingAlgorithm[] {
  const named = text.split(".");
  return ALGORITHM_ORDER.filter((algorithm) => named.includes(algorithm) && PACKING_ALGORITHMS.includes(algorithm));
}

export function seedOf({ preset, seed }: Pick<RoomSearch, "preset" | "seed">): number {
  return seed ?? PRESET_DEFAULTS[preset].seed;
}

export function countOf({ preset, count }: Pick<RoomSearch, "preset" | "count">): number {
  return count ?? PRESET_DEFAULTS[preset].count;
}

/** What another preset leaves behind: its draw, its bins, the step and the packing by hand. */
export const FRESH = {
  seed: undefined,
  count: undefined,
  capacity: undefined,
  step: undefined,
  hand: undefined,
} as const satisfies Partial<RoomSearch>;

/** A seed that is not the present one. */
export function freshSeed(now: number, random: () => number = Math.random): number {
  const { max } = LIMITS.seed;
  const seed = 1 + Math.floor(random() * (max - 1));
  return seed < now ? seed : seed + 1;
}
