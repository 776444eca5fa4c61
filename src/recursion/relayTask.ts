/**
 * Relay (src/world/relay) as questions for a recursion, in any pattern: each agent holds its own facts, and what a
 * faultless agent would hand on in each turn follows from the pattern's plan.
 */
import {
  chainText,
  factsText,
  makeRelay,
  noteText,
  type RelayOptions,
  type RelayQuestion,
  type RelayState,
  relayAnswer,
  relayReply,
  sentenceText,
} from "../world/relay";
import { type Pattern, planTurns } from "./pattern";
import { relayPrompt, SLOT } from "./prompts";
import type { RecursionQuestion } from "./question";

export interface RelayTaskOptions extends Omit<RelayOptions, "agents"> {
  pattern: Pattern;
}

/** A question of relay for the agents of a pattern. */
export interface RelayRecursionQuestion extends RecursionQuestion {
  relay: RelayQuestion;
  gold: string;
  roundsNeeded: number;
  hops: number;
}

/** The shipped agents were trained under these names; agents of other patterns are asked by the nearest of them. */
export const RELAY_ROLES = ["planner", "critic", "solver"] as const;

function roleWord({ roles }: Pattern, agent: number): string {
  const own = roles[agent] as string;
  if ((RELAY_ROLES as readonly string[]).includes(own)) return own;
  return agent === roles.length - 1 ? "solver" : agent === 0 ? "planner" : "critic";
}

/** Rounds that the course of a question is followed before it counts as out of reach. */
const MAX_ROUNDS = 32;

/**
 * The question of a seed. The last agent takes part in the ring like the others; in patterns that are no ring, the
 * rounds needed follow from the plan.
 */
export function relayQuestion(seed: number, { pattern, ...options }: RelayTaskOptions): RelayRecursionQuestion {
  const agents = pattern.roles.length;
  const relay = makeRelay(seed, { ...options, agents });
  const writer = agents - 1;
  const slots = pattern.roles.map((_, agent) => pattern.edges.filter(({ to }) => to === agent).length);
  let course: RelayState[][] = [];
  /** What a faultless agent writes, [round - 1][agent]. */
  const stateOf = (round: number, agent: number): RelayState => {
    if (course.length < round) course = relayStates(relay, pattern, round);
    return course[round - 1]?.[agent] as RelayState;
  };
  const roundsNeeded = (): number => {
    for (let round = 1; round <= MAX_ROUNDS; round++) {
      const { verb, object } = stateOf(round, writer);
      if (object === relay.gold && verb === relay.verbs[relay.verbs.length - 1]) return round;
    }
    throw new RangeError(
      `relay ${seed}: the pattern ${pattern.name} does not reach the answer in ${MAX_ROUNDS} rounds`,
    );
  };
  return {
    relay,
    text: [
      `Chain from${chainText(relay)}`,
      ...relay.hands.map((hand, agent) => `${pattern.roles[agent]}:${factsText(hand)}`),
    ].join("\n"),
    gold: relay.gold,
    roundsNeeded: roundsNeeded(),
    hops: relay.verbs.length,
    messages: ({ agent, register }) => {
      const prompt = relayPrompt(roleWord(pattern, agent), register, relay, relay.hands[agent]);
      return [{ role: "user", content: prompt.replace(SLOT, SLOT.repeat(slots[agent] as number)) }];
    },
    target: ({ agent, round, register }) => {
      const state = stateOf(round, agent);
      return register === "note" ? noteText(state) : sentenceText(state, relay.verbs);
    },
    grade: (text) => {
      const answer = relayAnswer(text);
      return { ...(answer !== undefined && { answer }), correct: answer === relay.gold };
    },
  };
}

/** What faultless agents hand on, [round][agent]. Of several messages an agent goes by the one that got furthest. */
export function relayStates(relay: RelayQuestion, pattern: Pattern, rounds: number): RelayState[][] {
  const sent = new Map<number, RelayState>();
  const states: RelayState[][] = Array.from({ length: rounds }, () => []);
  const progress = ({ verb, object }: RelayState) => 2 * relay.verbs.indexOf(verb) + (object === undefined ? 0 : 1);
  // One round more: the last agent's message of the last round is told as well.
  for (const { agent, round, reads, sends } of planTurns(pattern, rounds + 1)) {
    if (round > rounds) break;
    const messages = reads.flatMap(({ edge, round: sentIn }) => (sentIn === undefined ? [] : [sent.get(edge)]));
    const best = messages.reduce<RelayState | undefined>((a, b) => {
      return a && (!b || progress(a) >= progress(b)) ? a : b;
    }, undefined);
    const state = relayReply(relay, relay.hands[agent] ?? [], best);
    (states[round - 1] as RelayState[])[agent] = state;
    for (const edge of sends) sent.set(edge, state);
  }
  return states;
}
