/** `eval recursion`: what latent messages are worth, against text, untrained links, and the last agent alone. */
import type { LinkSet } from "../../links/linkSet";
import { type ThinkingModel, thinkingModel } from "../../recursion/agent";
import {
  CONDITIONS,
  type Condition,
  type ConditionResult,
  conditionOf,
  type EvaluationOptions,
  evaluatePlainRecursion,
  evaluateRecursion,
  needsTraining,
} from "../../recursion/evaluate";
import { linkSystem } from "../../recursion/linkSetSystem";
import { distillationPattern, mixturePattern, type Pattern, sequentialPattern } from "../../recursion/pattern";
import { plainLinkSystem, TAPE_CHOICES } from "../../recursion/plainSystem";
import { relayEvaluationQuestions, relayFitQuestions } from "../../recursion/relayEvaluation";
import type { RelayDeal } from "../../world/relay";
import { command, type FoundModel } from "../command";
import { readLinkSetPath, shippedLinkSet } from "../linkFolder";
import { engineOptions, jsonFlag, MAX_SEED } from "../modelOptions";
import { choice, flag, integer, integers, text, UsageError, words } from "../options";
import { percent, table } from "../table";

/** Questions that ridge fits are made on. */
const FIT_QUESTIONS = 192;
const DEFAULT_LATENT_STEPS = 4;
const DEFAULT_LINKS = ["trained", "identity", "ridge", "zero", "shuffled", "text", "solver"];
const DEFAULT_AGENTS = "twinloop-relay-s,twinloop-relay-m,twinloop-relay-s";

const PATTERNS = { sequential: sequentialPattern, distillation: distillationPattern, mixture: mixturePattern };
type PatternName = keyof typeof PATTERNS;
const DEALS: Readonly<Record<"mixed" | RelayDeal, RelayDeal | undefined>> = {
  mixed: undefined,
  with: "with",
  against: "against",
  random: "random",
};

export const evalRecursionCommand = command({
  name: "eval recursion",
  summary: "measures latent messages against text, untrained links, and one agent alone",
  examples: [
    "eval recursion --rounds 1,2,3 --links text,identity,solver --n 200 --seed 1",
    "eval recursion --links-dir public/links/relay --links trained,zero,shuffled,text --n 500 --seed 1 --json",
    "eval recursion --links trained --n 100 --seed 1 --engine onnx-wasm",
  ],
  options: {
    task: choice({ value: "TASK", choices: ["relay"], fallback: "relay", help: "relay: chains of facts, dealt out" }),
    rounds: integers({ value: "R,...", min: 1, max: 32, fallback: [1, 2, 3], help: "rounds to measure after" }),
    links: words({
      value: "L,...",
      help: `${CONDITIONS.map(({ name }) => name).join(", ")}, or inner+outer such as identity+trained`,
    }),
    n: integer({ value: "N", min: 1, max: 100_000, required: true, help: "how many questions" }),
    seed: integer({ value: "S", min: 0, max: MAX_SEED, required: true, help: "of questions, noise and shuffling" }),
    "links-dir": text({
      value: "DIR|FILE",
      help: "trained links: a folder with links.json and links.safetensors, or a file of train (default: the shipped ones)",
    }),
    engine: engineOptions.engine,
    agents: text({ value: "ID,...", help: "models of the agents, by turn (default: those of the links)" }),
    pattern: choice<PatternName>({
      value: "P",
      choices: Object.keys(PATTERNS) as PatternName[],
      fallback: "sequential",
      help: Object.keys(PATTERNS).join(", "),
    }),
    "latent-steps": integer({ value: "M", min: 1, max: 128, help: "vectors of a message (default: as trained, or 4)" }),
    deal: choice({
      value: "D",
      choices: Object.keys(DEALS) as (keyof typeof DEALS)[],
      fallback: "mixed",
      help: "who gets the facts: with the ring, against it, mixed (both), random",
    }),
    hops: integer({ value: "H", min: 1, max: 10, help: "hops of every chain (default: 1 to 3)" }),
    batch: integer({ value: "B", min: 2, max: 4096, fallback: 64, help: "questions side by side" }),
    progress: flag("tell on standard error how far it is (a terminal is always told)"),
    json: jsonFlag,
  },
  async run(values, context) {
    const { n, seed, task, hops, agents, engine } = values;
    const pattern = PATTERNS[values.pattern]();
    const folder = values["links-dir"];
    // Other agents than those of the shipped links have none.
    const shipped = folder === undefined && agents === undefined;
    const set = shipped
      ? await shippedLinkSet(task, pattern.roles.length)
      : folder === undefined
        ? undefined
        : await readLinkSetPath(folder, "links-dir");
    const conditions = possible((values.links ?? DEFAULT_LINKS).map(conditionNamed), {
      isAsked: values.links !== undefined,
      isTrained: set !== undefined,
      hasTape: engine === "wgsl",
    });
    const ids = modelIds(agents, set, pattern);
    const found = await Promise.all(ids.map((id) => context.models.find(id, { engine })));
    const byId = new Map(ids.map((id, i) => [id, found[i] as FoundModel]));
    const options = { pattern, deal: DEALS[values.deal], ...(hops !== undefined && { hops }) };
    const tell = context.errIsTerminal || values.progress;
    const evaluation: EvaluationOptions = {
      questions: relayEvaluationQuestions(seed, n, options),
      conditions,
      rounds: values.rounds,
      latentSteps: values["latent-steps"] ?? trainedSteps(set) ?? DEFAULT_LATENT_STEPS,
      task,
      batchSize: values.batch,
      seed,
      onProgress: ({ links, done }) => tell && context.err(`${links}: ${done} of ${n}\n`),
    };
    const ringOf = async <M extends ThinkingModel>(load: (found: FoundModel) => Promise<M>) => {
      const models = new Map<string, M>();
      for (const [id, model] of byId) models.set(id, await load(model));
      const agents = pattern.roles.map((role, i) => {
        return { id: set?.agents[i]?.id ?? `${role}${i}`, role, model: models.get(ids[i] as string) as M };
      });
      return { pattern, agents };
    };
    const onTape = async () => {
      const system = await ringOf((model) => model.loadLatent());
      const linked = set && linkSystem(system, set);
      try {
        const fitQuestions = relayFitQuestions(seed, FIT_QUESTIONS, options);
        return await evaluateRecursion({
          ...evaluation,
          system,
          fitQuestions,
          ...(linked && { trained: linked.system }),
        });
      } finally {
        linked?.dispose();
      }
    };
    const withoutTape = async () => {
      const system = await ringOf(async (model) => thinkingModel(await model.load()));
      return evaluatePlainRecursion({ ...evaluation, system, ...(set && { trained: plainLinkSystem(system, set) }) });
    };
    const { results } = await (engine === "wgsl" ? onTape() : withoutTape());
    const output = { n, seed, task, pattern: values.pattern, agents: ids, results };
    context.out(values.json ? `${JSON.stringify(output)}\n` : `${resultTable(results)}\n`);
  },
});

/** The conditions that can be measured. @throws UsageError when one of those that were asked for cannot */
function possible(
  conditions: readonly Condition[],
  { isAsked, isTrained, hasTape }: { isAsked: boolean; isTrained: boolean; hasTape: boolean },
): Condition[] {
  const untrained = conditions.filter((condition) => !isTrained && needsTraining(condition));
  const onTape = conditions.filter(({ passing, inner, outer }) => {
    return !hasTape && passing === "latent" && [inner, outer].some((choice) => TAPE_CHOICES.includes(choice));
  });
  const names = (list: readonly Condition[]) => list.map(({ name }) => name).join(", ");
  if (isAsked && untrained.length > 0) {
    throw new UsageError(`--links: ${names(untrained)} needs trained links: name a --links-dir`);
  }
  if (isAsked && onTape.length > 0) {
    throw new UsageError(`--links: ${names(onTape)} is computed on the tape of --engine wgsl`);
  }
  return conditions.filter((condition) => !untrained.includes(condition) && !onTape.includes(condition));
}

function conditionNamed(name: string) {
  try {
    return conditionOf(name);
  } catch (error) {
    throw new UsageError(`--${(error as Error).message}`);
  }
}

/** Models of the agents, one for each role. */
function modelIds(given: string | undefined, set: LinkSet | undefined, pattern: Pattern): string[] {
  const ids = given?.split(",").map((id) => id.trim()) ?? set?.agents.map(({ model }) => model);
  const chosen = ids ?? defaultIds(pattern);
  if (chosen.length !== pattern.roles.length) {
    throw new UsageError(`--agents: ${pattern.name} has ${pattern.roles.length} agents, not ${chosen.length}`);
  }
  return chosen;
}

/** The shipped agents in turn. */
function defaultIds({ roles }: Pattern): string[] {
  const ids = DEFAULT_AGENTS.split(",");
  return roles.map((_, i) => ids[i % ids.length] as string);
}

/** As the links' own manifest tells. */
function trainedSteps(set: LinkSet | undefined): number | undefined {
  const steps = set?.training.latentSteps;
  return typeof steps === "number" ? steps : undefined;
}

function resultTable(results: readonly ConditionResult[]): string {
  const number = (value: number, digits: number) => Number(value.toFixed(digits));
  const rows = results.map((result) => [
    result.links,
    result.rounds,
    percent(result.accuracy),
    result.ci95.map(percent).join(" to "),
    number(result.textTokens, 1),
    number(result.latentSteps, 1),
    number(result.ms, 1),
    ...["body", "head", "link"].map((part) => number(result.multiplyAdds[part as "body"] / 1e6, 2)),
  ]);
  const heading = ["links", "rounds", "right", "95% interval", "tokens", "latent steps", "ms"];
  return table([...heading, "body M", "head M", "link M"], rows);
}
