/** The choices of links that take trained ones, for links of any engine; and what all choices have in common. */
import type { LinkSizes } from "../links/link";
import type { LinkChoice } from "../trace/recursionEvents";
import type { AgentSystem, ThinkingModel } from "./agent";

interface Choices<L extends LinkSizes> {
  inner: LinkChoice;
  outer: LinkChoice;
  trained?: AgentSystem<ThinkingModel, L>;
}

/** @throws RangeError for an inner link "shuffled", and when no link has another one of its widths to swap with */
export function checkChoices<L extends LinkSizes>({ inner, outer, trained }: Choices<L>): void {
  if (inner === "shuffled") {
    throw new RangeError("inner link: shuffled exchanges whole messages: choose it as the outer link");
  }
  if (!trained || (inner !== "swapped" && outer !== "swapped")) return;
  const innerLinks = trained.agents.map((agent) => agent.innerLink);
  const groups = [...(inner === "swapped" ? [innerLinks] : []), ...(outer === "swapped" ? [trained.outerLinks] : [])];
  if (groups.some((links) => links.some((_, index) => partnerOf(links, index)))) return;
  throw new RangeError("links: swapped needs two links of the same widths, and all differ");
}

/** A link of the trained system, where the choice takes one. @throws RangeError when it is not there */
export function trainedChoice<L extends LinkSizes>(
  choice: LinkChoice,
  trained: AgentSystem<ThinkingModel, L> | undefined,
  linksOf: (system: AgentSystem<ThinkingModel, L>) => readonly L[],
  index: number,
): L | undefined {
  if (choice !== "trained" && choice !== "shuffled" && choice !== "swapped") return undefined;
  if (!trained) throw new RangeError(`links: ${choice} takes trained links, and there are none`);
  const links = linksOf(trained);
  const own = links[index] as L;
  return choice === "swapped" ? (partnerOf(links, index) ?? own) : own;
}

/** The next link of the same widths; undefined for one that is alone in its widths. */
function partnerOf<L extends LinkSizes>(links: readonly L[], index: number): L | undefined {
  const own = links[index] as L;
  const others = [...links.slice(index + 1), ...links.slice(0, index)];
  return others.find(({ inputSize, outputSize }) => inputSize === own.inputSize && outputSize === own.outputSize);
}

export const innerNoiseSeed = (seed: number, agent: number) => (seed * 1009 + agent) % 2 ** 32;
export const outerNoiseSeed = (seed: number, edge: number) => innerNoiseSeed(seed, 64 + edge);
