/** Links out of a file, put between the agents that they were trained for. */
import type { Link } from "../links/link";
import type { LinkSet } from "../links/linkSet";
import { RecursiveLink } from "../links/recursiveLink";
import type { StoredLink } from "../links/release";
import { type RecursionAgent, type RecursionSystem, type Ring, widthOf } from "./agent";
import type { UnlinkedSystem } from "./linkChoice";

/** A system whose links were made for it. */
export interface LinkedSystem {
  system: RecursionSystem;
  /** Gives the links back. */
  dispose(): void;
}

/** The links of a set as a ring needs them. */
interface StoredLinks {
  /** By agent. */
  inner: StoredLink[];
  /** By edge of the pattern. */
  outer: StoredLink[];
}

/** @throws RangeError naming the agent that does not fit or the link that is missing */
export function storedLinks({ pattern, agents }: Ring, set: LinkSet): StoredLinks {
  const where = `link set "${set.id}"`;
  if (set.agents.length !== agents.length) {
    throw new RangeError(
      `${where} is of ${set.agents.length} agents, and the pattern ${pattern.name} has ${agents.length}`,
    );
  }
  set.agents.forEach((own, i) => {
    const agent = agents[i] as Ring["agents"][number];
    if (own.hiddenSize === widthOf(agent)) return;
    throw new RangeError(`${where}: agent "${own.id}" is ${own.hiddenSize} wide, and ${agent.id} is ${widthOf(agent)}`);
  });
  const nameOf = (agent: number) => set.agents[agent]?.id as string;
  const inner = agents.map((_, agent) => {
    const found = set.inner.find((own) => own.agent === nameOf(agent));
    if (!found) throw new RangeError(`${where} has no inner link of "${nameOf(agent)}"`);
    return found.link;
  });
  const outer = pattern.edges.map(({ from, to }) => {
    const found = set.outer.find((own) => own.from === nameOf(from) && own.to === nameOf(to));
    if (!found) throw new RangeError(`${where} has no outer link from "${nameOf(from)}" to "${nameOf(to)}"`);
    return found.link;
  });
  return { inner, outer };
}

/**
 * @param system agents in the order of the set's; their ids may differ from the set's, their widths not
 * @param isTrainable whether the links may be trained on. Default false
 * @throws as `storedLinks`
 */
export function linkSystem(system: UnlinkedSystem, set: LinkSet, { isTrainable = false } = {}): LinkedSystem {
  const { pattern, agents } = system;
  // Looked up before any is made, so that nothing needs to be given back.
  const stored = storedLinks(system, set);
  const made: Link[] = [];
  const make = ({ config, tensors }: StoredLink, agent: number): Link => {
    const { tape } = (agents[agent] as RecursionAgent).model.decoder;
    const link = RecursiveLink.from(tape, config, tensors, { isTrainable });
    made.push(link);
    return link;
  };
  const dispose = () => {
    for (const link of made) link.dispose();
  };
  try {
    return {
      system: {
        pattern,
        agents: agents.map((agent, i) => ({ ...agent, innerLink: make(stored.inner[i] as StoredLink, i) })),
        outerLinks: pattern.edges.map(({ to }, edge) => make(stored.outer[edge] as StoredLink, to)),
      },
      dispose,
    };
  } catch (error) {
    dispose();
    throw error;
  }
}
