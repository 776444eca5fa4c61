/** The room's state in the URL: the settings of both stages and of the comparison. Only what differs is written. */
import { z } from "zod";
import {
  innerSettingsSchema,
  outerSettingsSchema,
  type TrainingSettings,
  type TrainingStage,
} from "../../../src/index";

/** Sets of links that a stage may go on from; "none": all begin anew. */
export const SOURCES = ["none", "trained", "shipped", "opened"] as const;
export type Source = (typeof SOURCES)[number];

/** Sets that can be compared. */
export const SETS = ["trained", "shipped", "opened"] as const;
export type ComparedSet = (typeof SETS)[number];

export const DEFAULTS = {
  stage: "inner",
  saveEvery: 20,
  autoPause: true,
  n: 48,
  rounds: 3,
  sample: 1,
  set: "trained",
} as const;

/** Settings of a stage that are changed. */
export type Patch = Record<string, unknown>;

/** Looks that do not hold up a slow device. */
const LOOKS = { validateEvery: 25, validationQuestions: 16 } as const;

/**
 * What the page sets differently from the library. "shipped" is the recipe of the page's own links (their card tells
 * what it is worth), in fewer steps; "paper" scores the answer alone, as RecursiveMAS does.
 */
export const RECIPES = {
  inner: {
    shipped: { steps: 300, batch: 8, learningRate: 0.003, innerExpansion: 4, ...LOOKS },
    paper: { steps: 300, batch: 8, learningRate: 0.003, innerExpansion: 1, ...LOOKS },
  },
  outer: {
    shipped: {
      steps: 200,
      batch: 8,
      learningRate: 0.0015,
      trainInner: true,
      messageWeight: 1,
      answerWeight: 0,
      detachMessages: true,
      roundsMix: [3],
      ...LOOKS,
    },
    paper: {
      steps: 200,
      batch: 8,
      learningRate: 0.0005,
      trainInner: false,
      messageWeight: 0,
      answerWeight: 1,
      detachMessages: false,
      roundsMix: [1, 2, 3],
      ...LOOKS,
    },
  },
} as const satisfies Record<TrainingStage, Record<string, Patch>>;
export type Recipe = keyof (typeof RECIPES)["inner"];

export const LIMITS = {
  saveEvery: { min: 1, max: 1000, step: 10 },
  n: { min: 2, max: 500, step: 16 },
  rounds: { min: 1, max: 6, step: 1 },
  sample: { min: 0, max: 999_999, step: 1 },
} as const;

const SCHEMAS = { inner: innerSettingsSchema, outer: outerSettingsSchema };

const whole = (key: keyof typeof LIMITS) =>
  z.int().min(LIMITS[key].min).max(LIMITS[key].max).default(DEFAULTS[key]).catch(DEFAULTS[key]);
const patch = (stage: TrainingStage) =>
  z
    .record(z.string(), z.unknown())
    .transform((changes) => changedBy(stage, changes))
    .optional()
    .catch(undefined);

/** A damaged value in a link falls back to its default instead of breaking the page. */
export const searchSchema = z.object({
  /** Whose settings are on the screen. */
  stage: z.enum(["inner", "outer"]).default(DEFAULTS.stage).catch(DEFAULTS.stage),
  inner: patch("inner"),
  outer: patch("outer"),
  /** Absent: new inner links; outer links on those that were trained here, where there are some. */
  from: z.enum(SOURCES).optional().catch(undefined),
  saveEvery: whole("saveEvery"),
  autoPause: z.boolean().default(DEFAULTS.autoPause).catch(DEFAULTS.autoPause),
  n: whole("n"),
  rounds: whole("rounds"),
  sample: whole("sample"),
  set: z.enum(SETS).default(DEFAULTS.set).catch(DEFAULTS.set),
});
export type RoomSearch = z.infer<typeof searchSchema>;

/** The page's settings of a stage with some of them changed; a change that is out of range is left out. */
export function settingsOf(stage: TrainingStage, changes: Patch = {}): TrainingSettings {
  const schema = SCHEMAS[stage];
  const defaults: TrainingSettings = schema.parse({ stage, ...RECIPES[stage].shipped });
  // Together first: some settings are only possible with others.
  const whole = schema.safeParse({ ...defaults, ...changes, stage });
  if (whole.success) return whole.data;
  let settings = defaults;
  for (const [key, value] of Object.entries(changes)) {
    const next = schema.safeParse({ ...settings, [key]: value, stage });
    if (next.success) settings = next.data;
  }
  return settings;
}

/** Of some changes those that change something. */
function changedBy(stage: TrainingStage, changes: Patch): Patch | undefined {
  const defaults: Patch = settingsOf(stage);
  const settings: Patch = settingsOf(stage, changes);
  const kept = Object.keys(settings).filter((key) => JSON.stringify(settings[key]) !== JSON.stringify(defaults[key]));
  return kept.length === 0 ? undefined : Object.fromEntries(kept.map((key) => [key, settings[key]]));
}

/** The search with one setting of a stage changed. */
export function withSetting(
  search: RoomSearch,
  stage: TrainingStage,
  key: string,
  value: unknown,
): Partial<RoomSearch> {
  return { [stage]: changedBy(stage, { ...search[stage], [key]: value }) };
}

/** How many settings of a stage are not the page's. */
export function changedSettings(search: RoomSearch, stage: TrainingStage): number {
  return Object.keys(search[stage] ?? {}).length;
}

/** The search with a recipe's settings, both stages at once: one begins where the other ends. */
export function withRecipe(search: RoomSearch, recipe: Recipe): Partial<RoomSearch> {
  const { inner, outer } = RECIPES;
  return {
    inner: changedBy("inner", { ...search.inner, ...inner[recipe] }),
    outer: changedBy("outer", { ...search.outer, ...outer[recipe] }),
  };
}

/** The recipe that a stage follows in everything that makes it one; undefined for settings of one's own. */
export function recipeOf(search: RoomSearch, stage: TrainingStage): Recipe | undefined {
  const settings: Patch = settingsOf(stage, search[stage]);
  const { validateEvery: _, validationQuestions: __, steps: ___, batch: ____, ...shipped } = RECIPES[stage].shipped;
  const keys = Object.keys(shipped);
  return (["shipped", "paper"] as const).find((recipe) => {
    const own: Patch = RECIPES[stage][recipe];
    return keys.every((key) => JSON.stringify(own[key]) === JSON.stringify(settings[key]));
  });
}
