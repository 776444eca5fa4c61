/**
 * Relay: a task in which agents need each other, and some need several rounds. A question is a chain of verbs from a
 * first name ("from Ada: loves, pays"); the facts of the chain are dealt out to agents that sit in a ring, so that none
 * can follow it alone. An agent takes at most one hop of the chain in its turn and hands on where it stands. Dealt with
 * the ring one lap takes several hops; dealt against it each lap takes one: the deal sets the rounds that are needed.
 */
import { Random } from "../random/random";

/** One token each in the shipped agents' tokenizer: telling names apart is not what relay is about. */
export const RELAY_NAMES = (
  "Ada Alin Anka Aro Bela Bruno Cato Cira Dana Dario Edda Emil Esra Falk Fedor Gita Greta Hana Hugo Ida Ilja Ines Ivo " +
  "Jana Joris Kaja Karl Kira Lara Leif Lida Ludo Maja Marek Mila Nadia Nils Nora Odo Olga Otto Pavel Petra Rafa Rita " +
  "Rolf Runa Sana Sven Tara Tilo Toma Ugo Uma Vera Vito Wanda Willem Yara Yuri Zeno Zita Abel Agnes Alma Amos Anton " +
  "Arne Astrid Axel Basil Berta Boris Carla Clara Cosmo Cyril Delia Dora Edgar Elsa Enzo Erik Fanny Felix Flora Frida " +
  "Gerda Gustav Heidi Helga Henrik Hilda Iris Isak Jakob Jonas Judit Julia Kasper Klara Kurt Lena Linus Livia Lotte " +
  "Lukas Magda Malte Marta Max Milo Moritz Nino Oskar Paula Quin Rosa Ruben Saul Selma Signe Simon Stella Tessa Theo " +
  "Tove Ulla Urs Viola Wim Xenia"
).split(" ");

export const RELAY_VERBS = "loves pays calls trusts visits thanks teaches follows paints hires".split(" ");

/** What stands where a name would, when nobody asked so far knew it. */
export const UNKNOWN_NAME = "unknown";

export interface RelayFact {
  subject: string;
  verb: string;
  object: string;
}

/** Where a message says that the chain stands: the hop that was asked for last, and its object once it is known. */
export interface RelayState {
  subject: string;
  verb: string;
  object: string | undefined;
}

/** Who gets the facts of the chain: with the ring (A1, A2, ...), against it (AN, AN-1, ...), or anybody. */
export type RelayDeal = "with" | "against" | "random";
export const RELAY_DEALS: readonly RelayDeal[] = ["with", "against", "random"];

export interface RelayQuestion {
  seed: number;
  start: string;
  /** The verbs to follow from `start`, one a hop. */
  verbs: string[];
  /** The facts that answer the question, in order. */
  chain: RelayFact[];
  /** For each hop the agent that holds its fact. */
  holders: number[];
  /** For each agent the facts that it alone sees. */
  hands: RelayFact[][];
  deal: RelayDeal;
  /** Laps after which the last agent of the ring can know the answer. */
  roundsNeeded: number;
  gold: string;
}

export interface RelayOptions {
  /** Agents in the ring. Default 3. */
  agents?: number;
  /** Hops of the chain; default: drawn from 1 to 3. */
  hops?: number;
  /** Default: "with" or "against", drawn. */
  deal?: RelayDeal;
  /** Facts that each agent holds. Default 4; more if it holds more of the chain. */
  factsPerAgent?: number;
  /** The facts to follow, instead of drawn ones; then `hops` counts for nothing. */
  chain?: readonly RelayFact[];
  /** For each hop the agent that holds its fact, instead of a deal. */
  holders?: readonly number[];
}

/** Questions of training have seeds from here on, those of evaluation and of the page smaller ones. */
export const RELAY_TRAINING_SEEDS = 1_000_000;

/**
 * Laps of the ring after which the last agent can write the last hop's object, when each agent takes at most one hop in
 * its turn.
 * @param holders for each hop the agent that holds its fact
 */
export function roundsNeeded(holders: readonly number[], agents: number): number {
  let turn = -1;
  for (const holder of holders) {
    turn++;
    while (turn % agents !== holder) turn++;
  }
  return Math.floor(turn / agents) + 1;
}

/**
 * The question of a seed: the same seed and options always give the same question.
 * @throws RangeError naming what is wrong with hops, a given chain or its holders
 */
export function makeRelay(seed: number, options: RelayOptions = {}): RelayQuestion {
  const random = new Random(seed, 77);
  const agents = options.agents ?? 3;
  const hops = options.chain?.length ?? options.hops ?? 1 + random.int(3);
  const deal = options.deal ?? random.pick(["with", "against"] as const);
  if (hops < 1 || hops > RELAY_VERBS.length)
    throw new RangeError(`relay: ${hops} hops, 1 to ${RELAY_VERBS.length} exist`);
  const names = random.shuffle(RELAY_NAMES);
  const chain = options.chain?.map((fact) => ({ ...fact })) ?? drawChain(random, names, hops);
  checkChain(chain);
  const holders = chain.map((_, hop) => {
    const given = options.holders?.[hop];
    if (given !== undefined) return given;
    if (deal === "random") return random.int(agents);
    return deal === "with" ? hop % agents : agents - 1 - (hop % agents);
  });
  const stranger = holders.find((holder) => !Number.isInteger(holder) || holder < 0 || holder >= agents);
  if (stranger !== undefined) throw new RangeError(`relay: there is no agent ${stranger} among ${agents}`);
  const people = new Set(chain.flatMap(({ subject, object }) => [subject, object]));
  const others = names.filter((name) => !people.has(name));
  const hands = dealHands(random, chain, holders, { agents, facts: options.factsPerAgent ?? 4, others });
  return {
    seed,
    start: (chain[0] as RelayFact).subject,
    verbs: chain.map(({ verb }) => verb),
    chain,
    holders,
    hands,
    deal,
    roundsNeeded: roundsNeeded(holders, agents),
    gold: (chain[hops - 1] as RelayFact).object,
  };
}

function drawChain(random: Random, names: readonly string[], hops: number): RelayFact[] {
  const verbs = random.shuffle(RELAY_VERBS).slice(0, hops);
  return verbs.map((verb, hop) => ({ subject: names[hop] as string, verb, object: names[hop + 1] as string }));
}

/** Facts must follow each other, in words that the agents know, and no verb may say twice where the chain stands. */
function checkChain(chain: readonly RelayFact[]): void {
  for (const [hop, { subject, verb, object }] of chain.entries()) {
    for (const name of [subject, object]) {
      if (!RELAY_NAMES.includes(name)) throw new RangeError(`relay: hop ${hop + 1}: "${name}" is no known name`);
    }
    if (!RELAY_VERBS.includes(verb)) throw new RangeError(`relay: hop ${hop + 1}: "${verb}" is no known verb`);
    if (subject === object) throw new RangeError(`relay: hop ${hop + 1}: ${subject} ${verb} itself`);
    const before = chain[hop - 1];
    if (before && before.object !== subject) {
      throw new RangeError(`relay: hop ${hop + 1} begins at ${subject}, and hop ${hop} ends at ${before.object}`);
    }
    if (chain.slice(0, hop).some((other) => other.verb === verb)) {
      throw new RangeError(`relay: hop ${hop + 1}: the verb "${verb}" is there twice`);
    }
  }
}

/** Hands out the chain and fills every hand with look-alikes: no fact can be told from another by one word alone. */
function dealHands(
  random: Random,
  chain: readonly RelayFact[],
  holders: readonly number[],
  { agents, facts, others }: { agents: number; facts: number; others: readonly string[] },
): RelayFact[][] {
  const taken = new Set(chain.map(({ subject, verb }) => `${subject} ${verb}`));
  return Array.from({ length: agents }, (_, agent) => {
    const hand = chain.filter((_, hop) => holders[hop] === agent);
    // The first look-alikes share the verb of a fact of the chain, as the verb is known to all; then its subject.
    for (let copy = 0; hand.length < facts; copy++) {
      const near = random.pick(holders.includes(agent) ? hand : chain);
      const subject = copy % 3 === 2 ? near.subject : random.pick(others);
      const verb = copy % 3 === 2 ? random.pick(RELAY_VERBS) : near.verb;
      const object = random.pick(others);
      if (taken.has(`${subject} ${verb}`) || subject === object) continue;
      taken.add(`${subject} ${verb}`);
      hand.push({ subject, verb, object });
    }
    return random.shuffle(hand);
  });
}

/** What a faultless agent hands on. Without a message the chain stands at its start. */
export function relayReply(
  question: { start: string; verbs: readonly string[] },
  hand: readonly RelayFact[],
  message: RelayState | undefined,
): RelayState {
  const last = message && question.verbs.indexOf(message.verb);
  const isOver = message?.object !== undefined && last === question.verbs.length - 1;
  if (message && isOver) return message;
  const wanted =
    message?.object !== undefined
      ? { subject: message.object, verb: question.verbs[(last as number) + 1] as string }
      : { subject: message?.subject ?? question.start, verb: message?.verb ?? (question.verbs[0] as string) };
  const fact = hand.find(({ subject, verb }) => subject === wanted.subject && verb === wanted.verb);
  return { ...wanted, object: fact?.object };
}

/** What faultless agents hand on, [round][agent]; the last of a round is what the last agent would answer then. */
export function relayCourse(question: RelayQuestion, rounds: number): RelayState[][] {
  let message: RelayState | undefined;
  return Array.from({ length: rounds }, () =>
    question.hands.map((hand) => {
      message = relayReply(question, hand, message);
      return message;
    }),
  );
}

/** " Ada loves Bela. Bela pays Cato.": every word has a space before it, so that a name is the same token everywhere. */
export function factsText(facts: readonly RelayFact[]): string {
  return facts.map(({ subject, verb, object }) => ` ${subject} ${verb} ${object}.`).join("");
}

/** " Ada: loves, pays." */
export function chainText({ start, verbs }: { start: string; verbs: readonly string[] }): string {
  return ` ${start}: ${verbs.join(", ")}.`;
}

/** The shortest form of a message, three words: " Ada loves Bela". */
export function noteText({ subject, verb, object }: RelayState): string {
  return ` ${subject} ${verb} ${object ?? UNKNOWN_NAME}`;
}

/** A message in sentences: the hop, then what is to be asked next, or the answer. */
export function sentenceText(state: RelayState, verbs: readonly string[]): string {
  const next = verbs[verbs.indexOf(state.verb) + (state.object === undefined ? 0 : 1)];
  const rest = next ? ` Ask whom ${state.object ?? state.subject} ${next}.` : ` The answer is ${state.object}.`;
  return `${noteText(state)}.${rest}`;
}

/** The answer that a text gives, in either form; undefined when it gives none. */
export function relayAnswer(text: string): string | undefined {
  const name = /the answer is (\w+)/i.exec(text)?.[1] ?? /^\s*\w+ \w+ (\w+)\s*\.?\s*$/.exec(text)?.[1];
  return name === UNKNOWN_NAME ? undefined : name;
}
