/** Tokens as a person reads them. */
import type { LensEntry } from "../../../src/index";

/** The likeliest reading of a vector, short enough for a label. */
export function readingOf(lens: readonly LensEntry[]): string {
  return lens[0] ? tokenWords(lens[0].text) : "…";
}

/** Blanks at the ends are dropped; a token of blanks alone, or a control word, is named. */
export function tokenWords(token: string): string {
  const words = token.trim();
  if (words) return words.replace("<|im_end|>", "⟨end⟩");
  return token.includes("\n") ? "⏎" : "␣";
}
