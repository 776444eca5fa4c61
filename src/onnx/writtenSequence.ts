/** One sequence while it is written: which token is drawn from its logits, and when it ends. */
import type { ModelConfig } from "../checkpoint/config";
import type { GenerateRequest, GenerateResult } from "../model/languageModel";
import { SequenceWriter } from "../model/sequenceWriter";
import type { ModelTokenizer } from "../text/tokenizer";
import { sampleToken } from "./sampleToken";

export class WrittenSequence {
  hasEnded: boolean;
  /** The newest token; 0 before the first. */
  lastId = 0;
  private drawn = 0;
  private readonly seen: Set<number>;
  private readonly stopIds: ReadonlySet<number>;
  private readonly writer: SequenceWriter;

  /**
   * @param index into the caller's requests; errors name it
   * @param length of the prompt
   * @param emit called for each token, with the text that it completes
   */
  constructor(
    readonly request: GenerateRequest,
    private readonly index: number,
    readonly length: number,
    { eosIds }: ModelConfig,
    tokenizer: ModelTokenizer,
    emit: (id: number, text: string) => void,
  ) {
    this.writer = new SequenceWriter(tokenizer, length, emit);
    this.stopIds = new Set([...eosIds, ...(request.stopIds ?? [])]);
    this.seen = new Set("ids" in request.input ? Array.from(request.input.ids) : []);
    this.hasEnded = request.maxTokens === 0;
    if (this.hasEnded) this.writer.finish("length");
  }

  /** Draws the next token. @param logits [vocabSize] @throws Error when they are not finite */
  take(logits: Float32Array): void {
    const { request, index, writer } = this;
    const id = sampleToken(logits, request, this.seen, this.drawn);
    if (id === undefined) {
      throw new Error(`request ${index}: the model's logits are not finite after ${this.drawn} new tokens`);
    }
    this.drawn++;
    this.lastId = id;
    this.seen.add(id);
    if (this.stopIds.has(id)) {
      writer.finish("stop");
      this.hasEnded = true;
      return;
    }
    const isLast = this.drawn === request.maxTokens;
    writer.push(id, isLast);
    if (isLast) {
      writer.finish("length");
      this.hasEnded = true;
    }
  }

  result(): GenerateResult {
    return this.writer.result();
  }
}
