/** Which links of a system are trained in which stage, what they are called, and whether a saved run fits them. */
import type { LinkSet, LinkSetAgent } from "../links/linkSet";
import { RecursiveLink } from "../links/recursiveLink";
import { type RecursionAgent, type RecursionSystem, widthOf } from "../recursion/agent";
import type { PatternEdge } from "../recursion/pattern";
import { TrainingError, type TrainingSettings } from "./settings";
import type { NamedLink, TrainingTask } from "./stage";
import { innerName, namedLinks, outerName, type TrainingState } from "./trainingFile";

/** The agents' inner links, in their order. @throws TrainingError for one that cannot be trained */
export function innerLinksOf({ agents }: RecursionSystem): NamedLink[] {
  return agents.map(({ id, innerLink }) => named(innerName(id), innerLink));
}

/** The outer links, in the order of the pattern's edges. @throws TrainingError for one that cannot be trained */
export function outerLinksOf({ pattern, agents, outerLinks }: RecursionSystem): NamedLink[] {
  return pattern.edges.map(({ from, to }, edge) => {
    const [sender, reader] = [agents[from], agents[to]] as [RecursionAgent, RecursionAgent];
    return named(outerName(sender.id, reader.id), outerLinks[edge]);
  });
}

function named(name: string, link: unknown): NamedLink {
  if (link instanceof RecursiveLink) return { name, link };
  throw new TrainingError(`${name} is no RecursiveLink and cannot be trained`);
}

/** Links that a stage trains, and those that it keeps as they are. */
function trainedLinks(system: RecursionSystem, settings: TrainingSettings) {
  const [inner, outer] = [innerLinksOf(system), outerLinksOf(system)];
  if (settings.stage === "inner") return { trained: inner, frozen: outer };
  return settings.trainInner ? { trained: [...inner, ...outer], frozen: [] } : { trained: outer, frozen: inner };
}

/** Thaws what a stage trains and freezes the rest; optimizers are made after this. */
export function thawLinks(system: RecursionSystem, settings: TrainingSettings) {
  const links = trainedLinks(system, settings);
  for (const { link } of links.trained) link.setTrainable(true);
  for (const { link } of links.frozen) link.setTrainable(false);
  return links;
}

export function agentsOf({ agents }: RecursionSystem): LinkSetAgent[] {
  return agents.map((agent) => ({ id: agent.id, model: agent.model.language.id, hiddenSize: widthOf(agent) }));
}

/** The current values of a system's links. @throws as `Tape.flush` */
export async function storedLinks(system: RecursionSystem): Promise<Pick<LinkSet, "inner" | "outer">> {
  const stored = async ({ link }: NamedLink) => ({ config: link.config, tensors: await link.tensors() });
  const inner: LinkSet["inner"][number][] = [];
  for (const [i, named] of innerLinksOf(system).entries()) {
    inner.push({ agent: (system.agents[i] as RecursionAgent).id, link: await stored(named) });
  }
  const outer: LinkSet["outer"][number][] = [];
  for (const [i, named] of outerLinksOf(system).entries()) {
    const { from, to } = system.pattern.edges[i] as PatternEdge;
    const [sender, reader] = [system.agents[from], system.agents[to]] as [RecursionAgent, RecursionAgent];
    outer.push({ from: sender.id, to: reader.id, link: await stored(named) });
  }
  return { inner, outer };
}

interface Place {
  system: RecursionSystem;
  task: TrainingTask;
  stage: TrainingSettings["stage"];
}

/** Why a saved run cannot go on with this stage, task, agents and links; undefined where it can. */
export function misfit(state: TrainingState, { system, task, stage }: Place): string | undefined {
  if (state.settings.stage !== stage) {
    return `it is a run of the ${state.settings.stage} stage, and this one is of the ${stage} stage`;
  }
  if (state.links.task !== task.name) return `it trains on "${state.links.task}" instead of "${task.name}"`;
  const agents = agentsOf(system);
  const saved = state.links.agents;
  if (saved.length !== agents.length) return `it has ${saved.length} agents instead of ${agents.length}`;
  for (const [i, agent] of agents.entries()) {
    for (const field of ["id", "model", "hiddenSize"] as const) {
      const other = saved[i]?.[field];
      if (other !== agent[field]) return `the ${field} of agent ${agent.id} is ${other} instead of ${agent[field]}`;
    }
    const { role } = system.agents[i] as RecursionAgent;
    if (state.roles[i] !== role) return `the role of agent ${agent.id} is ${state.roles[i]} instead of ${role}`;
  }
  const own = [...innerLinksOf(system), ...outerLinksOf(system)];
  const links = namedLinks(state.links);
  for (const { name, link } of own) {
    const config = links.get(name)?.config;
    if (!config) return `it has no link ${name}`;
    for (const [field, value] of Object.entries(link.config)) {
      const other = config[field as keyof typeof config];
      if (other !== value) return `the ${field} of ${name} is ${other} instead of ${value}`;
    }
  }
  const names = new Set(own.map(({ name }) => name));
  const unknown = [...links.keys()].find((name) => !names.has(name));
  if (unknown !== undefined) return `it has a link ${unknown}, and the agents have ${[...names].join(", ")}`;
  const { trained } = trainedLinks(system, state.settings);
  const untrained = trained.find(({ name }) => !state.moments.has(name));
  return untrained && `it has no moments of ${untrained.name}`;
}
