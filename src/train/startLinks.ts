/** How the links of a system begin before they are trained. */
import { linkConfig } from "../links/linkConfig";
import type { LinkStart } from "../links/linkTensors";
import { RecursiveLink } from "../links/recursiveLink";
import type { LatentModel, RecursionAgent, RecursionSystem } from "../recursion/agent";
import { embeddingMap } from "../recursion/embeddingMap";
import type { Pattern, PatternEdge } from "../recursion/pattern";
import { TrainingError, type TrainingSettings } from "./settings";

export interface StartLinksOptions {
  /** In the order of the pattern's roles. */
  agents: readonly Pick<RecursionAgent, "id" | "role" | "model">[];
  pattern: Pattern;
  seed: number;
  form: TrainingSettings["form"];
  /** Of the outer links; see OuterSettings. */
  start: "ridge" | "identity" | "random";
}

/**
 * A system with new links: inner links as PyTorch starts them, outer ones by `start`. The links belong to the caller.
 * @throws TrainingError naming the edge for a start that its agents do not allow; RangeError as `embeddingMap`; LinkError
 */
export async function systemWithNewLinks(options: StartLinksOptions): Promise<RecursionSystem> {
  const { agents, pattern } = options;
  const made: RecursiveLink[] = [];
  const keep = (link: RecursiveLink) => {
    made.push(link);
    return link;
  };
  try {
    const withInner = agents.map((agent, index) => ({
      ...agent,
      innerLink: keep(newInnerLink(agent, options, index)),
    }));
    const outerLinks: RecursiveLink[] = [];
    for (const [index, edge] of pattern.edges.entries()) {
      outerLinks.push(keep(await newOuterLink(edge, options, agents.length + index)));
    }
    return { pattern, agents: withInner, outerLinks };
  } catch (error) {
    for (const link of made) link.dispose();
    throw error;
  }
}

/** Links of one run have seeds of their own. */
const seedOf = (seed: number, index: number) => (seed * 1009 + index) % 2 ** 32;

/** The length of the receiver's embeddings for outputs of a length of about sqrt(size). */
const outputScaleOf = ({ embeddingNorms, decoder }: LatentModel) =>
  embeddingNorms.mean / Math.sqrt(decoder.config.hiddenSize);

function newInnerLink(
  { model }: Pick<RecursionAgent, "model">,
  { form, seed }: StartLinksOptions,
  index: number,
): RecursiveLink {
  const { tape, config } = model.decoder;
  const sizes = { inputSize: config.hiddenSize, outputSize: config.hiddenSize };
  return RecursiveLink.create({
    tape,
    config: linkConfig({ kind: "inner", form, ...sizes }),
    seed: seedOf(seed, index),
    outputScale: outputScaleOf(model),
  });
}

async function newOuterLink(
  { from, to }: PatternEdge,
  { agents, form, seed, start }: StartLinksOptions,
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
  } else if (start === "ridge") {
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
