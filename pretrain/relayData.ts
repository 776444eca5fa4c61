/**
 * Training conversations of the relay agents: one hand of facts, then turns of chains, messages and what a faultless
 * agent hands on, so that most tokens teach. Messages come as notes and as sentences, and in part of the turns with end
 * tokens after them, because a message of latent thoughts has a fixed length and reads on past its end.
 */
import type { Random } from "../src/random/random";
import { NO_MESSAGE, REGISTERS, relayPrompt, SLOT } from "../src/recursion/prompts";
import { RELAY_ROLES } from "../src/recursion/relayTask";
import {
  noteText,
  RELAY_NAMES,
  RELAY_VERBS,
  type RelayFact,
  type RelayState,
  relayReply,
  sentenceText,
} from "../src/world/relay";
import { renderSpans, type Span } from "./chat";

const END = "<|im_end|>";

export interface RelayLimits {
  /** Facts in the hand, at most. */
  facts: number;
  turns: number;
}

/** A hand in which facts share verbs and subjects: neither word alone finds the object. */
function drawHand(random: Random, count: number, names: readonly string[]): RelayFact[] {
  const verbs = random.shuffle(RELAY_VERBS).slice(0, 1 + random.int(3));
  const taken = new Set<string>();
  const hand: RelayFact[] = [];
  while (hand.length < count) {
    const subject = hand.length > 0 && random.chance(0.3) ? random.pick(hand).subject : random.pick(names);
    const verb = random.chance(0.8) ? random.pick(verbs) : random.pick(RELAY_VERBS);
    const object = random.pick(names);
    if (taken.has(`${subject} ${verb}`) || subject === object) continue;
    taken.add(`${subject} ${verb}`);
    hand.push({ subject, verb, object });
  }
  return hand;
}

/** A chain that asks for `wanted` at one of its hops, and the message that says so. */
function drawTurn(random: Random, hand: readonly RelayFact[], names: readonly string[]) {
  const known = random.pick(hand);
  // Half of the turns ask for a fact of the hand, the others for one that shares its subject, its verb or nothing.
  const wanted = { subject: known.subject, verb: known.verb };
  if (random.chance(0.5)) {
    if (random.chance(0.5)) wanted.subject = random.pick(names);
    else wanted.verb = random.pick(RELAY_VERBS);
    if (random.chance(0.1)) wanted.subject = random.pick(names);
  }
  const hops = 1 + random.int(3);
  const at = random.int(hops);
  const verbs = random.shuffle(RELAY_VERBS.filter((verb) => verb !== wanted.verb)).slice(0, hops);
  verbs[at] = wanted.verb;
  const person = () => random.pick(names);
  const question = { start: at === 0 ? wanted.subject : person(), verbs };
  // Where the chain stood before: not asked yet, asked in vain, at the hop before, or at its end.
  const kind = random.uniform();
  let message: RelayState | undefined;
  if (kind < 0.12) {
    const last = hops - 1;
    message = { subject: last === 0 ? question.start : person(), verb: verbs[last] as string, object: person() };
  } else if (kind < 0.35) message = { ...wanted, object: undefined };
  else if (at > 0) {
    const before = at - 1 === 0 ? question.start : person();
    message = { subject: before, verb: verbs[at - 1] as string, object: wanted.subject };
  }
  return { question, message };
}

/** One conversation as spans; of the messages' text `message` is set. */
export function relaySequence(random: Random, { facts, turns }: RelayLimits): Span[] {
  const names = random.shuffle(RELAY_NAMES).slice(0, 24);
  const hand = drawHand(random, 1 + random.int(facts), names);
  const role = random.pick(RELAY_ROLES);
  const spans: Span[] = [];
  for (let turn = 0; turn < turns; turn++) {
    const { question, message } = drawTurn(random, hand, names);
    const register = random.pick(REGISTERS);
    const reply = relayReply(question, hand, message);
    const written = register === "note" ? noteText(reply) : sentenceText(reply, question.verbs);
    const content = relayPrompt(role, register, question, turn === 0 ? hand : undefined);
    const slot = messageText(random, question.verbs, message);
    for (const span of renderSpans([
      { role: "user", content },
      { role: "assistant", content: written },
    ])) {
      const [before, after] = span.text.split(SLOT);
      if (after === undefined) spans.push(span);
      else
        spans.push(
          { text: before as string, learn: false },
          { text: slot, learn: false, message: true },
          { text: after, learn: false },
        );
    }
  }
  return spans;
}

function messageText(random: Random, verbs: readonly string[], message: RelayState | undefined): string {
  if (!message) return NO_MESSAGE;
  const text = random.chance(0.6) ? noteText(message) : sentenceText(message, verbs);
  return text + (random.chance(0.5) ? END.repeat(1 + random.int(3)) : "");
}
