/**
 * A run that starts again in the middle of another one: everything before a turn stays as it was, the turn's tool call
 * gets another purpose, and the loop goes on from there. A run's trace holds all that is needed.
 */
import type { TraceEvent } from "../trace/events";
import type { ResearchTurn } from "./loop";
import { neutralizeControls } from "./neutral";

export interface Branch {
  /** Of the run to branch from, whole or at least up to the turn's tool call. */
  events: readonly TraceEvent[];
  /** The turn whose tool call gets another purpose, as the trace counts it. */
  turn: number;
  purpose: string;
}

/** What a branch takes over. */
export interface BranchStart {
  /** Events of the turns before, without those of single tokens. */
  events: TraceEvent[];
  /** The turns before. */
  turns: ResearchTurn[];
  /** The turn's message with the new purpose in its call. */
  text: string;
  /** Milliseconds of the run before the branch. */
  at: number;
}

/** @throws RangeError when the run has no such turn, the turn calls no tool, or the purpose is empty */
export function branchStart({ events, turn, purpose }: Branch): BranchStart {
  const words = neutralizeControls(purpose).trim();
  if (words === "") throw new RangeError("the purpose of a branch is empty");
  const message = events.find((event) => event.type === "system2Message" && event.turn === turn);
  const called = events.some((event) => event.type === "toolCall" && event.turn === turn);
  if (message?.type !== "system2Message" || !called) {
    throw new RangeError(`the run calls no tool in turn ${turn}`);
  }
  const before = events.filter(
    (event) => "turn" in event && event.turn < turn && event.type !== "system2Token" && event.type !== "system1Token",
  );
  return {
    events: before,
    turns: turnsOf(before),
    text: withPurpose(message.text, words),
    at: events.find((event) => event.type === "turnStarted" && event.turn === turn)?.at ?? 0,
  };
}

/** A purpose in a call's JSON: its name cannot stand so within another string, whose quotes are escaped. */
const PURPOSE = /("purpose"\s*:\s*)"(?:[^"\\]|\\.)*"/;

/** System 2's message with another purpose in its call, everything else character for character. */
export function withPurpose(text: string, purpose: string): string {
  const open = text.lastIndexOf("<tool_call>");
  // A purpose is free text: nothing in it may be read as a pattern of the replacement.
  const call = text.slice(open).replace(PURPOSE, (_, name: string) => name + JSON.stringify(purpose));
  return text.slice(0, open) + call;
}

/** The turns of a run out of its events. */
export function turnsOf(events: readonly TraceEvent[]): ResearchTurn[] {
  const turns = new Map<number, ResearchTurn>();
  for (const event of events) {
    if (event.type === "system2Message") {
      const { turn, promptTokens, outputTokens, ms, text, thought } = event;
      turns.set(turn, { turn, promptTokens, outputTokens, ms, text, thought });
    }
    const turn = "turn" in event ? turns.get(event.turn) : undefined;
    if (!turn) continue;
    switch (event.type) {
      case "toolCall":
        turn.call = {
          name: event.name,
          arguments: { ...event.arguments, purpose: event.purpose },
          purpose: event.purpose,
        };
        break;
      case "toolResult":
        turn.documents = event.documents;
        break;
      case "packed":
        turn.truncated = event.truncated;
        turn.bins = event.bins.map((bin) => ({ ...bin, promptTokens: 0, outputTokens: 0, text: "" }));
        break;
      case "system1Started":
        Object.assign(turn.bins?.[event.bin] ?? {}, { promptTokens: event.promptTokens });
        break;
      case "system1Output":
        Object.assign(turn.bins?.[event.bin] ?? {}, { outputTokens: event.outputTokens, text: event.text });
        break;
      case "refinedInfo":
        turn.refined = event.text;
        break;
      case "toolError":
        turn.error = event.message;
        break;
    }
  }
  return [...turns.values()];
}
