/** Links for agents of any engine, over plain arrays: trained ones of a set, and those stand-ins that need no tape. */
import type { LinkSet } from "../links/linkSet";
import { type PlainLink, plainIdentity, plainLink, plainNoise, plainZero } from "../links/plainLinks";
import type { LinkChoice } from "../trace/recursionEvents";
import { type Agent, type AgentSystem, type Ring, type ThinkingModel, widthOf } from "./agent";
import { storedLinks } from "./linkSetSystem";
import { checkChoices, innerNoiseSeed, outerNoiseSeed, trainedChoice } from "./trainedChoice";

export type PlainSystem = AgentSystem<ThinkingModel, PlainLink>;

/** Choices that need an agent's head or a fit, and with them the tape. */
export const TAPE_CHOICES: readonly LinkChoice[] = ["ridge", "softEmbedding"];

/** As `linkSystem`. */
export function plainLinkSystem(ring: Ring, set: LinkSet): PlainSystem {
  const { inner, outer } = storedLinks(ring, set);
  return {
    pattern: ring.pattern,
    agents: ring.agents.map((agent, i) => ({ ...agent, innerLink: plainLink(inner[i] as (typeof inner)[number]) })),
    outerLinks: outer.map(plainLink),
  };
}

export interface ChoosePlainLinksOptions {
  inner: LinkChoice;
  outer: LinkChoice;
  /** Needed where a choice takes trained links. */
  trained?: PlainSystem;
  /** Of random projections and noise. Default 0. */
  seed?: number;
}

/**
 * As `chooseLinks`.
 * @throws RangeError also for the choices of TAPE_CHOICES
 */
export function choosePlainLinks(
  ring: Ring,
  options: ChoosePlainLinksOptions,
): { system: PlainSystem; isShuffled: boolean } {
  const { inner, outer, trained, seed = 0 } = options;
  checkChoices(options);
  const untrained = (choice: LinkChoice, from: Pick<Agent, "model">, to: Pick<Agent, "model">, noiseSeed: number) => {
    const sizes = { inputSize: widthOf(from), outputSize: widthOf(to) };
    const embeddingNorm = to.model.embeddingNorms.mean;
    if (choice === "identity") return plainIdentity({ ...sizes, embeddingNorm, seed });
    if (choice === "zero") return plainZero(sizes);
    if (choice === "noise") return plainNoise({ ...sizes, embeddingNorm, seed: noiseSeed });
    throw new RangeError(`links: ${choice} is computed on the tape, which only our own engine has`);
  };
  const agents = ring.agents.map((agent, index) => {
    const own = trainedChoice(inner, trained, (system) => system.agents.map(({ innerLink }) => innerLink), index);
    return { ...agent, innerLink: own ?? untrained(inner, agent, agent, innerNoiseSeed(seed, index)) };
  });
  const outerLinks = ring.pattern.edges.map(({ from, to }, index) => {
    const own = trainedChoice(outer, trained, (system) => system.outerLinks, index);
    return own ?? untrained(outer, agents[from] as Agent, agents[to] as Agent, outerNoiseSeed(seed, index));
  });
  return { system: { pattern: ring.pattern, agents, outerLinks }, isShuffled: outer === "shuffled" };
}
