/** `train inner` and `train outer`: links trained on frozen agents, resumable at the exact step. */
import { readFile } from "node:fs/promises";
import type { LinkSet } from "../../links/linkSet";
import type { LatentModel, RecursionSystem } from "../../recursion/agent";
import { type Pattern, sequentialPattern } from "../../recursion/pattern";
import type { TrainingEvent, TrainingStage } from "../../trace/trainingEvents";
import { type FinishReason, LinkTrainer } from "../../train/linkTrainer";
import { relayTraining } from "../../train/relayTraining";
import type { OuterSettings, TrainingSettings } from "../../train/settings";
import { trainableSystem } from "../../train/trainableSystem";
import { readTrainingFile, type TrainingState } from "../../train/trainingFile";
import { type CliContext, type Command, command } from "../command";
import { readLinkSetPath } from "../linkFolder";
import { choice, flag, integer, type OptionTable, text, UsageError } from "../options";
import { checkWritable, replaceFile } from "../output";
import { percent, seconds } from "../table";
import { givenSettings, innerOptions, outerOptions, settingsOf } from "./trainOptions";

const DEFAULT_AGENTS = "twinloop-relay-s,twinloop-relay-m,twinloop-relay-s";

const placeOptions = {
  task: choice({ value: "TASK", choices: ["relay"], fallback: "relay", help: "relay: chains of facts, dealt out" }),
  agents: text({
    value: "ROLE=ID|DIR,...",
    help: `models by role or by turn (default: those of --resume or --links, or ${DEFAULT_AGENTS})`,
  }),
  out: text({ value: "FILE", required: true, help: "safetensors: the links, and what --resume needs" }),
  resume: text({ value: "FILE", help: "go on exactly where a run was that was written with --out" }),
  "save-every": integer({ value: "S", min: 1, help: "write --out every S steps as well (at the end it always is)" }),
  json: flag("every event as a line of JSON"),
};

interface PlaceValues {
  agents: string | undefined;
  out: string;
  resume: string | undefined;
  "save-every": number | undefined;
  json: boolean;
  links?: string | undefined;
}

const INNER_SETTINGS = innerOptions();
const OUTER_SETTINGS = outerOptions();

const linksOption = (help: string) => text({ value: "FILE|DIR", help });

export const trainInnerCommand: Command = command({
  name: "train inner",
  summary: "trains inner links: hidden states to the next tokens' embeddings",
  examples: [
    "train inner --steps 300 --seed 1 --out inner.safetensors",
    "train inner --resume inner.safetensors --out inner.safetensors --json",
  ],
  options: {
    ...placeOptions,
    links: linksOption("links to go on from with a new optimizer (default: new links)"),
    ...INNER_SETTINGS,
  },
  run: (values, context) => train("inner", INNER_SETTINGS, values, context),
});

export const trainOuterCommand: Command = command({
  name: "train outer",
  summary: "trains outer links through frozen agents and all rounds of a recursion",
  examples: [
    "train outer --links inner.safetensors --steps 300 --seed 1 --out links.safetensors",
    "train outer --links inner.safetensors --rounds-mix 1,2,3 --train-inner --save-every 50 --out links.safetensors",
  ],
  options: {
    ...placeOptions,
    links: linksOption("a run of train inner, or other links to go on from (needed without --resume)"),
    ...OUTER_SETTINGS,
  },
  run: (values, context) => train("outer", OUTER_SETTINGS, values, context),
});

async function train(
  stage: TrainingStage,
  options: OptionTable,
  values: PlaceValues & Readonly<Record<string, unknown>>,
  context: CliContext,
): Promise<void> {
  await checkWritable(values.out, "out");
  const resumed = values.resume === undefined ? undefined : await readRun(values.resume);
  const begun = values.links === undefined ? undefined : await readLinkSetPath(values.links, "links");
  if (resumed && begun) throw new UsageError("--links: a resumed run has its own");
  if (stage === "outer" && !resumed && !begun) {
    throw new UsageError("--links is missing: outer links are trained on inner ones (see train inner)");
  }
  if (resumed && resumed.settings.stage !== stage) {
    throw new UsageError(`--resume: ${values.resume} is a run of train ${resumed.settings.stage}`);
  }
  const [given] = resumed ? givenSettings(options, values) : [];
  if (given !== undefined) throw new UsageError(`--${given}: a resumed run keeps its settings`);
  const settings = resumed?.settings ?? settingsOf(stage, options, values);

  const pattern = sequentialPattern();
  const set = resumed?.links ?? begun;
  const models = await loadModels(modelNames(values.agents, set, pattern), context);
  const agents = pattern.roles.map((role, i) => {
    return { id: set?.agents[i]?.id ?? role, role, model: models[i] as LatentModel };
  });
  const { seed, form, innerExpansion } = settings;
  const start: OuterSettings["start"] = settings.stage === "outer" ? settings.start : "ridge";
  // Those of an inner run have learned nothing yet, and a start that is asked for is one.
  const isAnew = stage === "outer" && !resumed && (values.start !== undefined || set?.training.stage === "inner");
  const links = set && (isAnew ? { ...set, outer: [] } : set);
  const task = relayTraining(pattern)(settings);
  const system = await trainableSystem({
    agents,
    pattern,
    seed,
    form,
    innerExpansion,
    start,
    task,
    ...(links && { links }),
  });
  const reason = await runTraining(system, settings, resumed, values, context);
  if (reason === "notFinite")
    throw new Error(`training ended early; ${values.out} has the links of the last good step`);
}

async function readRun(file: string): Promise<TrainingState> {
  const bytes = await readFile(file).catch((error: Error) => {
    throw new UsageError(`--resume: ${error.message}`);
  });
  return readTrainingFile(bytes, file);
}

/** Models by turn, out of "a,b,c" or "planner=a,critic=b,solver=c". */
function modelNames(given: string | undefined, set: LinkSet | undefined, { roles }: Pattern): string[] {
  if (given === undefined) return set?.agents.map(({ model }) => model) ?? DEFAULT_AGENTS.split(",");
  const parts = given.split(",").map((part) => part.trim());
  const usage = `${roles.map((role) => `${role}=...`).join(",")}`;
  if (parts.length !== roles.length) throw new UsageError(`--agents: ${parts.length} agents instead of ${usage}`);
  if (!parts.some((part) => part.includes("="))) return parts;
  const byRole = new Map(
    parts.map((part): [string, string] => [part.split("=")[0] as string, part.replace(/^[^=]*=/, "")]),
  );
  return roles.map((role) => {
    const name = byRole.get(role);
    if (!name) throw new UsageError(`--agents: no model of the ${role}; give ${usage}`);
    return name;
  });
}

/** Each model once, also where several agents share it. */
async function loadModels(names: readonly string[], { models }: CliContext): Promise<LatentModel[]> {
  const unique = [...new Set(names)];
  const found = new Map(await Promise.all(unique.map(async (name) => [name, await models.find(name)] as const)));
  const loaded = new Map<string, LatentModel>();
  for (const [name, model] of found) loaded.set(name, await model.loadLatent());
  return names.map((name) => loaded.get(name) as LatentModel);
}

async function runTraining(
  system: RecursionSystem,
  settings: TrainingSettings,
  resumed: TrainingState | undefined,
  values: PlaceValues,
  context: CliContext,
): Promise<FinishReason> {
  const { out, json } = values;
  const tell = json
    ? (event: TrainingEvent) => context.out(`${JSON.stringify(event)}\n`)
    : (event: TrainingEvent) => context.out(lineOf(event));
  const every = values["save-every"];
  const save = (file: Uint8Array) => replaceFile(out, file);
  const trainer = new LinkTrainer({
    system,
    task: relayTraining(system.pattern),
    settings,
    onEvent: tell,
    ...(every !== undefined && { autosave: { every, save } }),
  });
  // The first Ctrl-C ends the run with its file; a second one ends the program.
  const stop = () => {
    context.err("stopping after this step; the run is saved\n");
    trainer.stop();
  };
  for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, stop);
  try {
    if (resumed) await trainer.restore(await readFile(values.resume as string), values.resume);
    const reason = await trainer.run();
    await save(await trainer.save());
    return reason;
  } finally {
    for (const name of ["SIGINT", "SIGTERM"] as const) process.off(name, stop);
    await trainer.dispose();
    for (const { innerLink } of system.agents) innerLink.dispose();
    for (const link of system.outerLinks) link.dispose();
  }
}

/** An event for people; steps are told one by one, as each may take seconds. */
function lineOf(event: TrainingEvent): string {
  switch (event.type) {
    case "trainingStarted":
      return `${event.stage} links: ${event.trained.join(", ")}; ${event.parameters} parameters, step ${event.step} of ${event.steps}\n`;
    case "trainingStep": {
      const { step, loss, gradientNorm, rounds, ms, secondsLeft } = event;
      const depth = rounds === undefined ? "" : `  rounds ${rounds}`;
      const time = `${seconds(ms)}, ${Math.ceil(secondsLeft / 60)} min left`;
      return `step ${step}  loss ${loss.toFixed(4)}  gradient ${gradientNorm.toPrecision(3)}${depth}  ${time}\n`;
    }
    case "trainingValidation": {
      const { loss, n, accuracy = 0, byRounds = [] } = event;
      const rounds = byRounds.map((own) => `${own.rounds}: ${percent(own.accuracy)}`).join(", ");
      return `held out (${n})  loss ${loss.toFixed(4)}  right ${percent(accuracy)}${rounds && `  by rounds ${rounds}`}\n`;
    }
    case "trainingSaved":
      return `saved at step ${event.step}\n`;
    case "trainingFinished":
      return `${event.reason} at step ${event.step}, ${seconds(event.ms)}${event.message ? `: ${event.message}` : ""}\n`;
    default:
      return "";
  }
}
