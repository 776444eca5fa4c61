/**
 * What agents of a recursion read: a user message with one slot for the message of a neighbour, which may be text or
 * latent thoughts. The slot stands at the end, so that everything before it is the same in every round and its keys and
 * values need computing once.
 */
import { chainText, factsText, type RelayFact } from "../world/relay";

/** Marks the place of a neighbour's message inside the user message; cut out before anything is tokenized. */
export const SLOT = "<|slot|>";

/** How an agent is asked to write: latent thoughts follow notes, which are the shortest; text passing uses either. */
export type Register = "note" | "sentences";
export const REGISTERS: readonly Register[] = ["note", "sentences"];

/** What stands in the slot of the first agent in the first round. */
export const NO_MESSAGE = " none";

/** The user message of an agent in relay, with the slot. Without facts it goes on about those of an earlier turn. */
export function relayPrompt(
  role: string,
  register: Register,
  question: { start: string; verbs: readonly string[] },
  facts?: readonly RelayFact[],
): string {
  const known = facts ? `\nFacts:${factsText(facts)}` : "";
  return `You are the ${role}. Write ${register === "note" ? "a note" : "sentences"}.${known}\nChain from${chainText(question)}\nMessage:${SLOT}`;
}
