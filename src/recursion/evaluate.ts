/**
 * Measures what latent messages are worth: accuracy, tokens, latent steps, time and multiply-adds of trained links, of
 * their untrained stand-ins, of text passing, and of the last agent alone, on the same questions with the same agents.
 */
import { shuffleMessages } from "../links/shuffle";
import type { LinkChoice, Passing, RecursionLedger } from "../trace/recursionEvents";
import { LINK_CHOICES } from "../trace/recursionEvents";
import { wilson95 } from "../world/stats";
import type { RecursionSystem, Ring } from "./agent";
import { chooseLinks, fitInnerLinks, type UnlinkedSystem } from "./linkChoice";
import { choosePlainLinks, type PlainSystem } from "./plainSystem";
import type { Register } from "./prompts";
import type { RecursionQuestion } from "./question";
import { type RecursionOptions, type RecursionResult, type RoundAnswers, runPlainRecursion, runRecursion } from "./run";

/** One way to pass messages. */
export interface Condition {
  /** What the result calls it. */
  name: string;
  passing: Passing;
  inner: LinkChoice;
  outer: LinkChoice;
  register: Register;
  /** Written messages are padded with end tokens, or cut, to the length of latent ones. */
  isPadded?: boolean;
}

const latent = (name: string, inner: LinkChoice, outer: LinkChoice): Condition => {
  return { name, passing: "latent", inner, outer, register: "note" };
};
const spoken = (name: string, passing: Passing, register: Register, isPadded = false): Condition => {
  return { name, passing, inner: "trained", outer: "trained", register, isPadded };
};

/** By name; docs/recursion.md says what each is for. */
export const CONDITIONS: readonly Condition[] = [
  latent("trained", "trained", "trained"),
  latent("identity", "identity", "identity"),
  latent("ridge", "ridge", "ridge"),
  latent("softEmbedding", "softEmbedding", "ridge"),
  latent("zero", "identity", "zero"),
  latent("noise", "identity", "noise"),
  latent("shuffled", "trained", "shuffled"),
  latent("swapped", "swapped", "swapped"),
  spoken("text", "text", "sentences"),
  spoken("textNote", "text", "note"),
  spoken("textPadded", "text", "note", true),
  spoken("solver", "alone", "note"),
];

/**
 * A condition by its name, or an inner and an outer link as "identity+trained".
 * @throws RangeError naming what there is
 */
export function conditionOf(name: string): Condition {
  const known = CONDITIONS.find((condition) => condition.name === name);
  if (known) return known;
  const [inner, outer, ...rest] = name.split("+");
  const isChoice = (text: string | undefined): text is LinkChoice => LINK_CHOICES.some((choice) => choice === text);
  if (rest.length === 0 && isChoice(inner) && isChoice(outer) && inner !== "shuffled")
    return latent(name, inner, outer);
  const names = CONDITIONS.map((condition) => condition.name).join(", ");
  throw new RangeError(`links: "${name}" is none of ${names}, and no pair such as identity+trained`);
}

/** Whether a condition needs trained links. */
export function needsTraining({ passing, inner, outer }: Condition): boolean {
  const own: readonly LinkChoice[] = ["trained", "shuffled", "swapped"];
  return passing === "latent" && (own.includes(inner) || own.includes(outer));
}

export interface AccuracyOf {
  n: number;
  /** Correct over all, 0 to 1. */
  accuracy: number;
  /** Wilson's 95% interval. */
  ci95: [number, number];
}

/** Means are over questions. */
export interface ConditionResult extends AccuracyOf {
  links: string;
  rounds: number;
  passing: Passing;
  /** Of latent passing. */
  innerLink?: LinkChoice;
  outerLink?: LinkChoice;
  register: Register;
  /** Mean tokens written: messages and answer, end tokens included. */
  textTokens: number;
  /** Mean latent steps. */
  latentSteps: number;
  /** Mean tokens and vectors read. */
  promptTokens: number;
  /** Mean milliseconds, side by side with the other questions of a batch. */
  ms: number;
  /** Means. */
  multiplyAdds: RecursionLedger["multiplyAdds"];
  /** By the hops of the questions, as text. */
  byHops: Record<string, AccuracyOf>;
  /** By the rounds that the questions need, as text. */
  byRoundsNeeded: Record<string, AccuracyOf>;
}

export interface RecursionEvaluation {
  n: number;
  task: string;
  results: ConditionResult[];
}

/** What both evaluations are told. */
export interface EvaluationOptions {
  /** With a grader each. */
  questions: readonly RecursionQuestion[];
  conditions: readonly Condition[];
  /** What is measured after each of these; a single run gives all of them. */
  rounds: readonly number[];
  latentSteps: number;
  task: string;
  /** Questions side by side. Default 64. */
  batchSize?: number;
  maxTokens?: number;
  /** Of shuffling, noise and projections. Default 0. */
  seed?: number;
  signal?: AbortSignal;
  onProgress?: (progress: { links: string; done: number; n: number }) => void;
}

export interface EvaluateRecursionOptions extends EvaluationOptions {
  system: UnlinkedSystem;
  /** With trained links, for conditions that take them. */
  trained?: RecursionSystem;
  /** Other questions, with targets, that ridge fits are made on. */
  fitQuestions?: readonly RecursionQuestion[];
}

export interface EvaluatePlainRecursionOptions extends EvaluationOptions {
  system: Ring;
  trained?: PlainSystem;
}

const DEFAULT_BATCH = 64;

/** Agents with the links of a condition. */
interface Linked {
  isShuffled: boolean;
  run(questions: readonly RecursionQuestion[], options: RecursionOptions): Promise<RecursionResult>;
  dispose?: () => void;
}

interface Choice {
  inner: LinkChoice;
  outer: LinkChoice;
  seed: number;
}

/**
 * @throws RangeError naming a bad option or a condition that the agents do not allow; the first failure of an engine;
 * the signal's reason after an abort
 */
export async function evaluateRecursion(options: EvaluateRecursionOptions): Promise<RecursionEvaluation> {
  const { system, trained, fitQuestions, conditions, latentSteps, signal } = options;
  const isFitted = conditions.some(({ passing, inner }) => passing === "latent" && inner === "ridge");
  if (isFitted && !fitQuestions) throw new RangeError("evaluation: ridge links need fitQuestions");
  let innerFits: readonly Float64Array[] | undefined;
  return evaluateLinks(options, async (choice) => {
    if (isFitted) {
      innerFits ??= await fitInnerLinks(system, fitQuestions ?? [], { latentSteps, ...(signal && { signal }) });
    }
    const links = await chooseLinks(system, {
      ...choice,
      ...(trained && { trained }),
      ...(innerFits && { innerFits }),
    });
    return {
      isShuffled: links.isShuffled,
      run: (questions, settings) => runRecursion(links.system, questions, settings),
      dispose: () => links.dispose(),
    };
  });
}

/**
 * The same for agents of any engine, without the tape.
 * @throws as `evaluateRecursion`; RangeError also for links that only the tape computes
 */
export function evaluatePlainRecursion(options: EvaluatePlainRecursionOptions): Promise<RecursionEvaluation> {
  const { system, trained } = options;
  return evaluateLinks(options, async (choice) => {
    const links = choosePlainLinks(system, { ...choice, ...(trained && { trained }) });
    return {
      isShuffled: links.isShuffled,
      run: (questions, settings) => runPlainRecursion(links.system, questions, settings),
    };
  });
}

async function evaluateLinks(
  options: EvaluationOptions,
  choose: (choice: Choice) => Promise<Linked>,
): Promise<RecursionEvaluation> {
  const { questions, conditions, seed = 0 } = options;
  const rounds = [...new Set(options.rounds)].sort((a, b) => a - b);
  if (questions.length === 0) throw new RangeError("evaluation: there are no questions");
  if (rounds.length === 0) throw new RangeError("evaluation: there are no rounds");
  const ungraded = questions.findIndex(({ grade }) => !grade);
  if (ungraded >= 0) throw new RangeError(`evaluation: question ${ungraded} has no grader`);
  const results: ConditionResult[] = [];
  for (const condition of conditions) {
    const isLatent = condition.passing === "latent";
    const linked = await choose({
      // Without latents links carry nothing.
      inner: isLatent ? condition.inner : "zero",
      outer: isLatent ? condition.outer : "zero",
      seed,
    });
    try {
      results.push(...(await measure(condition, linked, rounds, options)));
    } finally {
      linked.dispose?.();
    }
  }
  return { n: questions.length, task: options.task, results };
}

async function measure(
  condition: Condition,
  { run, isShuffled }: Linked,
  rounds: readonly number[],
  options: EvaluationOptions,
): Promise<ConditionResult[]> {
  const { questions, latentSteps, maxTokens, seed = 0, signal } = options;
  const { passing, register, inner, outer, isPadded } = condition;
  const last = rounds[rounds.length - 1] as number;
  const byRound = new Map<number, RoundAnswers[]>(rounds.map((round) => [round, []]));
  let done = 0;
  for (const [index, batch] of evenBatches(questions, options.batchSize ?? DEFAULT_BATCH).entries()) {
    const result = await run(batch, {
      passing,
      rounds: last,
      latentSteps,
      register,
      peeks: rounds.length > 1,
      ...(isPadded && { messageTokens: latentSteps }),
      ...(isShuffled && { order: shuffleMessages(batch.length, seed + index) }),
      ...(maxTokens !== undefined && { maxTokens }),
      ...(signal && { signal }),
    });
    // A question that the engine failed was not answered wrongly: the figures would lie.
    if (result.reason === "error") throw result.error;
    signal?.throwIfAborted();
    for (const round of rounds) {
      // The last agent alone answers the same after any number of rounds.
      const answers = result.rounds.find((own) => own.round === (passing === "alone" ? last : round));
      byRound.get(round)?.push(answers as RoundAnswers);
    }
    done += batch.length;
    options.onProgress?.({ links: condition.name, done, n: questions.length });
  }
  return rounds.map((round) => {
    const batches = byRound.get(round) as RoundAnswers[];
    return {
      links: condition.name,
      rounds: round,
      passing,
      ...(passing === "latent" && { innerLink: inner, outerLink: outer }),
      register,
      ...summarize(questions, batches),
    };
  });
}

function summarize(questions: readonly RecursionQuestion[], batches: readonly RoundAnswers[]) {
  const correct = batches.flatMap(({ answers }) => answers.map((answer) => answer.correct === true));
  const mean = (of: (ledger: RecursionLedger) => number) =>
    batches.reduce((sum, { ledger }) => sum + of(ledger), 0) / questions.length;
  const groups = (key: (question: RecursionQuestion) => number | undefined) => {
    const names = new Set(questions.flatMap((question) => key(question) ?? []));
    return Object.fromEntries(
      [...names]
        .sort((a, b) => a - b)
        .map((name) => [
          String(name),
          accuracyOf(correct.filter((_, i) => key(questions[i] as RecursionQuestion) === name)),
        ]),
    );
  };
  return {
    ...accuracyOf(correct),
    textTokens: mean(({ textTokens }) => textTokens),
    latentSteps: mean((ledger) => ledger.latentSteps),
    promptTokens: mean(({ promptTokens }) => promptTokens),
    ms: mean(({ ms }) => ms),
    multiplyAdds: {
      body: mean(({ multiplyAdds }) => multiplyAdds.body),
      head: mean(({ multiplyAdds }) => multiplyAdds.head),
      link: mean(({ multiplyAdds }) => multiplyAdds.link),
    },
    byHops: groups(({ hops }) => hops),
    byRoundsNeeded: groups(({ roundsNeeded }) => roundsNeeded),
  };
}

function accuracyOf(correct: readonly boolean[]): AccuracyOf {
  const n = correct.length;
  const right = correct.filter(Boolean).length;
  return { n, accuracy: n === 0 ? 0 : right / n, ci95: wilson95(right, n) };
}

/** As few batches as the size allows, of all but the same length; none has one question alone if there are more. */
export function evenBatches<T>(items: readonly T[], size: number): T[][] {
  const count = Math.max(1, Math.min(Math.ceil(items.length / size), Math.floor(items.length / 2)));
  return Array.from({ length: count }, (_, i) => {
    return items.slice(Math.round((i * items.length) / count), Math.round(((i + 1) * items.length) / count));
  });
}
