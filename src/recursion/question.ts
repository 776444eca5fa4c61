/** What a recursion is asked: prompts for every agent, and, where the task knows them, targets and a grader. */
import type { ChatMessage, ChatTemplateOptions } from "../text/tokenizer";
import type { Register } from "./prompts";

export interface PromptRequest {
  /** Index into the pattern's roles. */
  agent: number;
  /** From 1. */
  round: number;
  register: Register;
}

export interface Grade {
  /** What the grader reads out of a text; undefined when it finds no answer. */
  answer?: string;
  /** Undefined when no right answer is known. */
  correct?: boolean;
}

export interface RecursionQuestion {
  /** For people. */
  text: string;
  gold?: string;
  /** Rounds after which the writer can know the answer, where the task tells. */
  roundsNeeded?: number;
  /** Steps of reasoning that the question takes, for groups of an evaluation. */
  hops?: number;
  /**
   * The conversation that an agent reads, with SLOT once for each of its incoming edges. What stands before the first
   * slot should be the same in every round: it is then computed once.
   */
  messages(request: PromptRequest): ChatMessage[];
  /** How the agent's chat template is rendered. Default: without tools, thinking off. */
  template?(request: PromptRequest): Pick<ChatTemplateOptions, "tools" | "enableThinking">;
  /**
   * What the agent should write in that turn, given what the others should have written before: the text of its
   * message, or of the answer. For training; absent where nobody knows.
   */
  target?(request: PromptRequest): string;
  grade?(text: string): Grade;
}
