/** `eval recursion`: what latent messages are worth, against text, untrained links, and the last agent alone. */
import type { LinkSet } from "../../links/linkSet";
import {
  CONDITIONS,
  type ConditionResult,
  conditionOf,
  evaluateRecursion,
  needsTraining,
} from "../../recursion/evaluate";
import { type LinkedSystem, linkSystem } from "../../recursion/linkSetSystem";
import { distillationPattern, mixturePattern, type Pattern, sequentialPattern } from "../../recursion/pattern";
import { relayEvaluationQuestions, relayFitQuestions } from "../../recursion/relayEvaluation";
import type { RelayDeal } from "../../world/relay";
import { command } from "../command";
import { readLinkSetPath, shippedLinkSet } from "../linkFolder";
import { jsonFlag, MAX_SEED } from "../modelOptions";
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
    const { n, seed, task, hops, rounds, agents } = values;
    const pattern = PATTERNS[values.pattern]();
    const folder = values["links-dir"];
    // Other agents than those of the shipped links have none.
    const shipped = folder === undefined && agents === undefined;
    const set = shipped
      ? await shippedLinkSet(task, pattern.roles.length)
      : folder === undefined
        ? undefined
        : await readLinkSetPath(folder, "links-dir");
    const wanted = (values.links ?? DEFAULT_LINKS).map(conditionNamed);
    const conditions = wanted.filter((condition) => set || !needsTraining(condition));
    if (values.links && conditions.length < wanted.length) {
      const names = wanted.filter(needsTraining).map(({ name }) => name);
      throw new UsageError(`--links: ${names.join(", ")} needs trained links: name a --links-dir`);
    }
    const ids = modelIds(agents, set, pattern);
    const found = await Promise.all(ids.map((id) => context.models.find(id)));
    const byId = new Map(ids.map((id, i) => [id, found[i]]));
    const models = new Map(
      await Promise.all([...byId].map(async ([id, model]) => [id, await model?.loadLatent()] as const)),
    );
    const system = {
      pattern,
      agents: pattern.roles.map((role, i) => {
        const model = models.get(ids[i] as string);
        if (!model) throw new Error(`${ids[i]} was not loaded`);
        return { id: set?.agents[i]?.id ?? `${role}${i}`, role, model };
      }),
    };
    const options = { pattern, deal: DEALS[values.deal], ...(hops !== undefined && { hops }) };
    let linked: LinkedSystem | undefined;
    try {
      if (set) linked = linkSystem(system, set);
      const tell = context.errIsTerminal || values.progress;
      const { results } = await evaluateRecursion({
        system,
        ...(linked && { trained: linked.system }),
        questions: relayEvaluationQuestions(seed, n, options),
        fitQuestions: relayFitQuestions(seed, FIT_QUESTIONS, options),
        conditions,
        rounds,
        latentSteps: values["latent-steps"] ?? trainedSteps(set) ?? DEFAULT_LATENT_STEPS,
        task,
        batchSize: values.batch,
        seed,
        onProgress: ({ links, done }) => tell && context.err(`${links}: ${done} of ${n}\n`),
      });
      const output = { n, seed, task, pattern: values.pattern, agents: ids, results };
      context.out(values.json ? `${JSON.stringify(output)}\n` : `${resultTable(results)}\n`);
    } finally {
      linked?.dispose();
    }
  },
});

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
