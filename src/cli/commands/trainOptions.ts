/** Options of `train inner` and `train outer` that are settings of the run, and what they become. */
import { LINK_FORMS } from "../../links/linkConfig";
import type { TrainingStage } from "../../trace/trainingEvents";
import {
  FEEDBACKS,
  OUTER_STARTS,
  parseTrainingSettings,
  TrainingError,
  type TrainingSettings,
} from "../../train/settings";
import { MAX_SEED } from "../modelOptions";
import { choice, flag, integer, integers, number, type OptionTable, UsageError, words } from "../options";

/** Options whose names differ from those of the settings. */
const FIELDS: Readonly<Record<string, string>> = {
  lr: "learningRate",
  warmup: "warmupSteps",
  facts: "factsPerAgent",
  "validation-n": "validationQuestions",
};

/** Options have no defaults of their own, so that those of a resumed run hold where nothing is given. */
export function settingOptions<S extends TrainingStage>(stage: S) {
  const defaults = parseTrainingSettings({ stage }) as Extract<TrainingSettings, { stage: S }>;
  const help = (text: string, field: keyof typeof defaults) => `${text} (default ${defaults[field]})`;
  return {
    steps: integer({ value: "N", min: 1, help: help("optimizer steps", "steps") }),
    batch: integer({ value: "B", min: 1, help: help("questions a step", "batch") }),
    lr: number({ value: "R", above: 0, max: 1, help: help("highest learning rate", "learningRate") }),
    warmup: integer({ value: "N", min: 0, help: help("steps of its linear rise", "warmupSteps") }),
    "final-share": number({ value: "F", min: 0, max: 1, help: help("last rate, as a share of it", "finalShare") }),
    "weight-decay": number({ value: "W", min: 0, max: 1, help: help("of AdamW", "weightDecay") }),
    "max-norm": number({ value: "N", min: 0, help: help("clips the gradients; 0 never", "maxNorm") }),
    seed: integer({ value: "S", min: 0, max: MAX_SEED, help: help("of links and questions", "seed") }),
    "latent-steps": integer({ value: "M", min: 1, max: 128, help: help("vectors of a message", "latentSteps") }),
    form: choice({ value: "FORM", choices: LINK_FORMS, help: help(`of new links: ${LINK_FORMS.join(", ")}`, "form") }),
    "inner-expansion": integer({
      value: "N",
      min: 1,
      max: 16,
      help: help("hidden width of new inner links, in widths", "innerExpansion"),
    }),
    hops: integers({ value: "H,...", min: 1, max: 10, help: help("of the questions, each as often", "hops") }),
    deals: words({ value: "D,...", help: help("with, against, random, each as often", "deals") }),
    facts: integer({ value: "F", min: 1, max: 32, help: help("that each agent holds", "factsPerAgent") }),
    "validate-every": integer({ value: "N", min: 0, help: help("steps between looks; 0 never", "validateEvery") }),
    "validation-n": integer({ value: "N", min: 1, help: help("held-out questions", "validationQuestions") }),
  };
}

export const innerOptions = () => ({
  ...settingOptions("inner"),
  "mse-weight": number({ value: "W", min: 0, help: "of the mean square error beside 1 - cosine (default 0)" }),
  "padded-share": number({
    value: "F",
    min: 0,
    max: 1,
    help: "of messages padded to the length of latent ones (default 0.8)",
  }),
  rounds: integer({ value: "R", min: 1, max: 32, help: "rounds whose messages are trained on (default 3)" }),
});

export const outerOptions = () => ({
  ...settingOptions("outer"),
  "rounds-mix": integers({ value: "R,...", min: 1, max: 32, help: "rounds of a step, each as often (default 1,2,3)" }),
  feedback: choice({
    value: "F",
    choices: FEEDBACKS,
    help: "rollout: the agents' own thoughts; teacherForced: as released, leaks the answer (default rollout)",
  }),
  "truncate-rounds": integer({
    value: "R",
    min: 0,
    max: 32,
    help: "gradients through the last R rounds; 0 all (default 0)",
  }),
  "train-inner": flag("train the inner links along"),
  start: choice({
    value: "S",
    choices: OUTER_STARTS,
    help: `how new outer links begin: ${OUTER_STARTS.join(", ")} (default aligned)`,
  }),
  "answer-weight": number({ value: "W", min: 0, help: "of the answer's cross-entropy (default 1)" }),
  "message-weight": number({
    value: "W",
    min: 0,
    help: "of 1 - cosine between messages and the words that a faultless agent would write (default 0)",
  }),
  "detach-messages": flag("read messages without gradients: every link answers for its own messages only"),
  "earlier-rounds-weight": number({ value: "W", min: 0, help: "of earlier rounds' answers in the loss (default 0)" }),
});

const fieldOf = (option: string) =>
  FIELDS[option] ?? option.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Names of the options that were given. */
export function givenSettings(options: OptionTable, values: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(options).filter((name) => values[name] !== undefined && values[name] !== false);
}

/** Settings out of options. @throws UsageError naming the option that is wrong */
export function settingsOf(
  stage: TrainingStage,
  options: OptionTable,
  values: Readonly<Record<string, unknown>>,
): TrainingSettings {
  const given = givenSettings(options, values);
  try {
    return parseTrainingSettings({ stage, ...Object.fromEntries(given.map((name) => [fieldOf(name), values[name]])) });
  } catch (error) {
    if (!(error instanceof TrainingError)) throw error;
    const option = given.find((name) => error.message.includes(` ${fieldOf(name)}`));
    throw new UsageError(option ? `--${option}: ${error.message}` : error.message);
  }
}
