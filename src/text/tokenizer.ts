/** The tokenizer and chat template of a checkpoint, behind the names that the rest of the library uses. */

export interface ToolFunction {
  name: string;
  description: string;
  /** JSON schema of the arguments. */
  parameters: Record<string, unknown>;
}

export interface ChatMessage {
  role: "system" | "user" | "assistant" | "tool";
  content: string;
}

export interface ChatTemplateOptions {
  tools?: readonly ToolFunction[];
  /** Qwen3's switch; ignored by templates that do not know it. */
  enableThinking?: boolean;
  /** End with the opening of an assistant message. Default true. */
  addGenerationPrompt?: boolean;
}

/** Turns token ids into text piece by piece and never emits half a character. */
export interface IncrementalDetokenizer {
  push(id: number): string;
  /** What is left at the end (U+FFFD for an incomplete character). */
  flush(): string;
}

export interface ModelTokenizer {
  readonly vocabSize: number;
  /** Plain text to ids; special tokens written in the text are recognised; none are added. */
  encode(text: string): number[];
  /** Ids to text, special tokens kept verbatim. */
  decode(ids: ArrayLike<number>): string;
  countTokens(text: string): number;
  /** Renders messages through the checkpoint's own chat template (Jinja). */
  renderChat(messages: readonly ChatMessage[], options?: ChatTemplateOptions): string;
  detokenizer(): IncrementalDetokenizer;
}
