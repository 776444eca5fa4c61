/** A system that can be trained: its links as they begin, or out of a set. */
import { isOneLayer, linkConfig } from "../links/linkConfig";
import type { LinkSet } from "../links/linkSet";
import type { LinkStart } from "../links/linkTensors";
import { RecursiveLink } from "../links/recursiveLink";
import type { StoredLink } from "../links/release";
import type { LatentModel, RecursionAgent, RecursionSystem } from "../recursion/agent";
import { embeddingMap } from "../recursion/embeddingMap";
import type { Pattern, PatternEdge } from "../recursion/pattern";
import { alignOuterLinks } from "./alignLinks";
import { type OuterSettings, TrainingError, type TrainingSettings } from "./settings";
import type { TrainingTask } from "./stage";

export interface TrainableSystemOptions {
  /** In the order of the pattern's roles. */
  agents: readonly Pick<RecursionAgent, "id" | "role" | "model">[];
  pattern: Pattern;
  seed: number;
  form: TrainingSettings["form"];
  /** Hidden width of new inner links, in widths of their agent. Default 1, as released. */
  innerExpansion?: number;
  /** Of the outer links; see OuterSettings. */
  start: OuterSettings["start"];
  /** What the messages are about; the start "aligned" needs it. */
  task?: TrainingTask;
  signal?: AbortSignal;
  /** Links to go on from, for agents in the same order; the others begin anew. */
  links?: LinkSet;
}

/**
 * A system with links that can be trained: those of a set as far as it has them, new ones otherwise. The links belong to
 * the caller.
 * @throws TrainingError naming the edge for a start that its agents do not allow, or a set of other agents; RangeError as
 * `embeddingMap`; LinkError
 */
export async function trainableSystem(options: TrainableSystemOptions): Promise<RecursionSystem> {
  const { agents, pattern, links } = options;
  if (links) checkSet(links, agents);
  const made: RecursiveLink[] = [];
  const keep = (link: RecursiveLink) => {
    made.push(link);
    return link;
  };
  const idOf = (agent: number) => links?.agents[agent]?.id;
  const known = ({ model }: Pick<RecursionAgent, "model">, link: StoredLink | undefined) =>
    link && RecursiveLink.from(model.decoder.tape, link.config, link.tensors);
  try {
    const withInner = agents.map((agent, index) => {
      const stored = links?.inner.find((own) => own.agent === idOf(index))?.link;
      return { ...agent, innerLink: keep(known(agent, stored) ?? newInnerLink(agent, options, index)) };
    });
    const outerLinks: RecursiveLink[] = [];
    const fresh: number[] = [];
    for (const [index, edge] of pattern.edges.entries()) {
      const stored = links?.outer.find(({ from, to }) => from === idOf(edge.from) && to === idOf(edge.to))?.link;
      const reader = agents[edge.to] as RecursionAgent;
      if (!stored) fresh.push(index);
      outerLinks.push(keep(known(reader, stored) ?? (await newOuterLink(edge, options, agents.length + index))));
    }
    const system = { pattern, agents: withInner, outerLinks };
    const anew = fresh.filter(() => options.start === "aligned");
    if (anew.length > 0) {
      const { task, seed, signal } = options;
      if (!task) throw new TrainingError("outer links that start aligned need a task to take the words from");
      await alignOuterLinks(system, task, { seed, edges: anew, ...(signal && { signal }) });
    }
    return system;
  } catch (error) {
    for (const link of made) link.dispose();
    throw error;
  }
}

function checkSet({ id, agents: saved }: LinkSet, agents: TrainableSystemOptions["agents"]): void {
  if (saved.length !== agents.length) {
    throw new TrainingError(`links "${id}" are of ${saved.length} agents, and there are ${agents.length}`);
  }
  agents.forEach((agent, i) => {
    const own = saved[i] as LinkSet["agents"][number];
    const { hiddenSize } = agent.model.decoder.config;
    if (own.hiddenSize !== hiddenSize) {
      throw new TrainingError(`links "${id}": ${own.id} is ${own.hiddenSize} wide, and ${agent.id} is ${hiddenSize}`);
    }
  });
}

/** Links of one run have seeds of their own. */
const seedOf = (seed: number, index: number) => (seed * 1009 + index) % 2 ** 32;

/** The length of the receiver's embeddings for outputs of a length of about sqrt(size). */
const outputScaleOf = ({ embeddingNorms, decoder }: LatentModel) =>
  embeddingNorms.mean / Math.sqrt(decoder.config.hiddenSize);

function newInnerLink(
  { model }: Pick<RecursionAgent, "model">,
  { form, seed, innerExpansion }: TrainableSystemOptions,
  index: number,
): RecursiveLink {
  const { tape, config } = model.decoder;
  const sizes = { inputSize: config.hiddenSize, outputSize: config.hiddenSize };
  const wide = innerExpansion !== undefined && !isOneLayer(form) && { hiddenSize: innerExpansion * config.hiddenSize };
  return RecursiveLink.create({
    tape,
    config: linkConfig({ kind: "inner", form, ...sizes, ...wide }),
    seed: seedOf(seed, index),
    outputScale: outputScaleOf(model),
  });
}

async function newOuterLink(
  { from, to }: PatternEdge,
  { agents, form, seed, start }: TrainableSystemOptions,
  index: number,
): Promise<RecursiveLink> {
  const [sender, receiver] = [agents[from], agents[to]] as [RecursionAgent, RecursionAgent];
  const sizes = {
    inputSize: sender.model.decoder.config.hiddenSize,
    outputSize: receiver.model.decoder.config.hiddenSize,
  };
  const label = `outer link from ${sender.id} to ${receiver.id}`;
  let begin: LinkStart = "pytorch";
  if (start === "identity") {
    if (sizes.inputSize !== sizes.outputSize) {
      throw new TrainingError(`${label}: no identity from ${sizes.inputSize} to ${sizes.outputSize}; start with ridge`);
    }
    begin = { shortcut: "identity" };
  } else if (start !== "random") {
    begin = { shortcut: await embeddingMap(sender.model, receiver.model) };
  }
  return RecursiveLink.create({
    tape: receiver.model.decoder.tape,
    config: linkConfig({ kind: "outer", form, ...sizes }),
    seed: seedOf(seed, index),
    outputScale: outputScaleOf(receiver.model),
    start: begin,
  });
}
