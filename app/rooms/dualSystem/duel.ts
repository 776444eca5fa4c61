/** What fills System 2's context in a run, turn by turn. */
import type { RunView } from "../../engine/runView";

export type ContextKind = "question" | "own" | "refined" | "raw" | "error";

export interface ContextPart {
  kind: ContextKind;
  tokens: number;
  /** Turn in which it came, from 1; 0 is the question. */
  turn: number;
}

/** Parts in the order in which System 2 reads them; their sum is its context at the end. */
export function contextParts({ turns, settings, ledger }: RunView): ContextPart[] {
  const parts: ContextPart[] = [];
  const add = (kind: ContextKind, tokens: number, turn: number) => {
    if (tokens > 0) parts.push({ kind, tokens, turn });
  };
  add("question", turns[0]?.promptTokens ?? 0, 0);
  for (const [i, turn] of turns.entries()) {
    const own = turn.message?.outputTokens ?? 0;
    add("own", own, i + 1);
    // What a tool's answer costs, with the marks of the chat around it, is what the next prompt is longer by.
    const next = turns[i + 1]?.promptTokens ?? ledger.system2ContextTokens;
    const kind = turn.toolError !== undefined ? "error" : settings.useSystem1 ? "refined" : "raw";
    add(turn.refined || turn.toolError !== undefined ? kind : "own", next - turn.promptTokens - own, i + 1);
  }
  return parts;
}
