/** Where each chapter of the tour stands in the recorded run, and what it tells of it. */
import type { RunStep, StepEvent } from "../../engine/runSteps";
import { type RunView, rawTokensOf } from "../../engine/runView";
import { formatCount } from "../../format";
import type { TourFacts } from "../../strings/tour";

/** What a chapter shows: the run after the last event of a kind in a turn, or the two runs side by side. */
export type Scene = { turn: number; after: StepEvent["type"]; lane: "system2" | "tools" | "system1" } | "end" | "duel";

/** Aligned with the chapters' words. */
export const SCENES: readonly Scene[] = [
  { turn: 1, after: "turnStarted", lane: "system2" },
  { turn: 1, after: "toolCall", lane: "system2" },
  { turn: 1, after: "toolResult", lane: "tools" },
  { turn: 1, after: "packed", lane: "system1" },
  { turn: 1, after: "refinedInfo", lane: "system1" },
  { turn: 2, after: "toolCall", lane: "system2" },
  "end",
  "duel",
];
export const DUEL_CHAPTER = SCENES.indexOf("duel") + 1;

/** Steps that are shown in a chapter; undefined: all. */
export function stepOf(scene: Scene, steps: readonly RunStep[]): number | undefined {
  if (scene === "end" || scene === "duel") return undefined;
  const at = steps.findLastIndex(
    ({ event }) => event.type === scene.after && "turn" in event && event.turn === scene.turn,
  );
  return at < 0 ? undefined : at + 1;
}

/** Undefined for a run that lacks what the tour shows. */
export function tourFacts({ question, turns, ledger }: RunView): TourFacts | undefined {
  const [first] = turns;
  const answer = turns.at(-1)?.answer;
  if (!first?.call || !first.documents || !first.packed || !first.refined || !answer) return undefined;
  return {
    question,
    tool: first.call.name,
    purpose: first.call.purpose,
    documents: first.documents.length,
    raw: formatCount(rawTokensOf(first)),
    bins: first.packed.bins.length,
    capacity: formatCount(first.packed.capacity),
    truncated: first.packed.truncated.length,
    refined: formatCount(first.refined.tokens),
    turns: turns.length,
    answer: answer.text,
    context: formatCount(ledger.system2ContextTokens),
    without: formatCount(ledger.system2ContextWithoutSystem1),
  };
}
