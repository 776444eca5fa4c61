/**
 * The prompts of both systems, the same for every checkpoint: System 1 reads numbered documents for a purpose,
 * System 2 thinks, calls tools and answers. The agents in `pretrain/` are trained on exactly these strings.
 */
import type { ChatMessage } from "../text/tokenizer";
import type { ToolDocument } from "./tool";

export const NOTHING_RELEVANT = "nothing relevant";

export const SYSTEM1_INSTRUCTION =
  "List the sentences of the documents that serve the purpose, word for word, one a line after a dash. If there are " +
  `none, write: ${NOTHING_RELEVANT}`;

export const SYSTEM2_INSTRUCTION =
  "Research the question. Think, then call one tool and say in its purpose what you need to know, or give the answer " +
  "alone.";

/** A document as System 1 reads it. `number` counts from 1 within the tool's result. */
export function formatDocument(number: number, document: Pick<ToolDocument, "title" | "text">): string {
  return `[${number}] ${document.title}: ${document.text}\n`;
}

/** What System 1 reads of one bin. `documents` are already formatted, in bin order. */
export function system1Messages(documents: readonly string[], purpose: string): ChatMessage[] {
  return [
    { role: "system", content: SYSTEM1_INSTRUCTION },
    { role: "user", content: `Documents:\n${documents.join("")}\nPurpose: ${purpose}` },
  ];
}

/** How System 2's conversation begins. */
export function system2Messages(question: string): ChatMessage[] {
  return [
    { role: "system", content: SYSTEM2_INSTRUCTION },
    { role: "user", content: question },
  ];
}
