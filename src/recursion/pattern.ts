/**
 * Collaboration patterns as data: who speaks when, and whose message goes to whom. A plan unfolds a pattern into the
 * turns of all rounds; whatever runs or trains a recursion walks through the plan.
 * Source: RecursiveMAS (arXiv 2604.25917), its four patterns.
 */
import type { RecursionPattern } from "../trace/recursionEvents";

export interface PatternEdge {
  /** Index of the agent whose message is handed on. */
  from: number;
  to: number;
}

export interface Pattern {
  name: RecursionPattern;
  /** One for each agent. The last agent is the one that writes the answer. */
  roles: readonly string[];
  /** In the order of the receiver's slots. */
  edges: readonly PatternEdge[];
  /** The agents of a round in order; those of one group work side by side, and no edge leads from one to another. */
  groups: readonly (readonly number[])[];
}

/** A ring: each agent hands on to the next, the last one to the first of the next round. */
function ring(name: RecursionPattern, roles: readonly string[]): Pattern {
  return {
    name,
    roles,
    edges: roles.map((_, from) => ({ from, to: (from + 1) % roles.length })),
    groups: roles.map((_, agent) => [agent]),
  };
}

/** Planner, critic and solver, by default: A1 -> A2 -> ... -> AN -> A1. */
export function sequentialPattern(roles: readonly string[] = ["planner", "critic", "solver"]): Pattern {
  if (roles.length < 2) throw new RangeError(`sequential: ${roles.length} roles, at least 2 are needed`);
  return ring("sequential", roles);
}

/** Specialists who work side by side, and a summarizer with a slot for each of them, who tells all of them back. */
export function mixturePattern(
  specialists: readonly string[] = ["mathematician", "coder", "scientist"],
  summarizer = "summarizer",
): Pattern {
  if (specialists.length < 2) throw new RangeError(`mixture: ${specialists.length} specialists, at least 2 are needed`);
  const last = specialists.length;
  return {
    name: "mixture",
    roles: [...specialists, summarizer],
    edges: [...specialists.map((_, from) => ({ from, to: last })), ...specialists.map((_, to) => ({ from: last, to }))],
    groups: [specialists.map((_, agent) => agent), [last]],
  };
}

/** An expert makes a plan, a learner answers; the learner's thoughts go back. */
export function distillationPattern(roles: readonly [string, string] = ["expert", "learner"]): Pattern {
  return ring("distillation", roles);
}

/** A reflector thinks along, a tool-caller may use tools while it writes the answer. */
export function deliberationPattern(roles: readonly [string, string] = ["reflector", "tool-caller"]): Pattern {
  return ring("deliberation", roles);
}

/** A message that an agent reads: the last that was sent along an edge. */
export interface PlannedRead {
  edge: number;
  from: number;
  /** Round in which it was sent; undefined: nothing has been sent along this edge yet. */
  round: number | undefined;
}

export interface Turn {
  /** From 1. */
  round: number;
  agent: number;
  /** For each slot of the agent's prompt. */
  reads: readonly PlannedRead[];
  /** Edges along which its message goes; empty when it writes the answer. */
  sends: readonly number[];
  /** Whether this is the last agent: the one who could answer after this round. */
  isWriter: boolean;
  /** The last turn: the last agent of the last round writes text. */
  isAnswer: boolean;
}

/**
 * All turns of a recursion in order: N r - 1 messages and one answer for N agents and r rounds.
 * @throws RangeError naming what is wrong: rounds, or a pattern whose graph does not fit
 */
export function planTurns(pattern: Pattern, rounds: number): Turn[] {
  if (!Number.isInteger(rounds) || rounds < 1) throw new RangeError(`rounds is ${rounds}, and must be at least 1`);
  checkPattern(pattern);
  const { roles, edges, groups } = pattern;
  const writer = roles.length - 1;
  const sent: (number | undefined)[] = edges.map(() => undefined);
  const turns: Turn[] = [];
  for (let round = 1; round <= rounds; round++) {
    for (const group of groups) {
      for (const agent of group) {
        const isAnswer = agent === writer && round === rounds;
        const reads = edges.flatMap(({ from, to }, edge) => (to === agent ? [{ edge, from, round: sent[edge] }] : []));
        const sends = isAnswer ? [] : edges.flatMap(({ from }, edge) => (from === agent ? [edge] : []));
        for (const edge of sends) sent[edge] = round;
        turns.push({ round, agent, reads, sends, isWriter: agent === writer, isAnswer });
      }
    }
  }
  return turns;
}

function checkPattern({ name, roles, edges, groups }: Pattern): void {
  const agents = groups.flat();
  const isWhole = agents.length === roles.length && new Set(agents).size === agents.length;
  if (!isWhole || agents.some((agent) => roles[agent] === undefined)) {
    throw new RangeError(`pattern ${name}: groups must name each of the ${roles.length} agents once`);
  }
  if (agents[agents.length - 1] !== roles.length - 1 || groups[groups.length - 1]?.length !== 1) {
    throw new RangeError(`pattern ${name}: the last agent must be the last to speak, on its own`);
  }
  for (const { from, to } of edges) {
    if (roles[from] === undefined || roles[to] === undefined || from === to) {
      throw new RangeError(`pattern ${name}: no edge leads from agent ${from} to ${to}`);
    }
    if (groups.some((group) => group.includes(from) && group.includes(to))) {
      throw new RangeError(`pattern ${name}: agents ${from} and ${to} work side by side and have an edge`);
    }
  }
}
