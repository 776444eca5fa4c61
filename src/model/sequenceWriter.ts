/** What one sequence of a batch writes, whatever engine computes it. */
import type { ModelTokenizer } from "../text/tokenizer";
import type { GenerateResult } from "./languageModel";

/** Gathers the tokens of one sequence and turns them into text. */
export class SequenceWriter {
  private readonly ids: number[] = [];
  private text = "";
  private finishReason: GenerateResult["finishReason"] = "aborted";
  private readonly detokenizer;

  constructor(
    tokenizer: ModelTokenizer,
    private readonly promptTokens: number,
    private readonly emit: (id: number, text: string) => void,
  ) {
    this.detokenizer = tokenizer.detokenizer();
  }

  push(id: number, isLast: boolean): void {
    this.ids.push(id);
    // Half a character at the end becomes U+FFFD.
    const text = this.detokenizer.push(id) + (isLast ? this.detokenizer.flush() : "");
    this.text += text;
    this.emit(id, text);
  }

  finish(reason: "stop" | "length"): void {
    this.finishReason = reason;
  }

  /** What was written; asked for once. */
  result(): GenerateResult {
    return {
      ids: this.ids,
      text: this.text + this.detokenizer.flush(),
      finishReason: this.finishReason,
      promptTokens: this.promptTokens,
    };
  }
}
