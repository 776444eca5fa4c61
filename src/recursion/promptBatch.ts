/**
 * Prompts with slots, read by one agent on the tape. What stands before the first slot is computed once, without
 * gradients, and continued as often as wanted.
 */
import type { DifferentiableDecoder } from "../tensor/decoder";
import { KeyCache } from "../tensor/keyCache";
import { concatRows, gatherRows } from "../tensor/ops/rows";
import type { Tensor } from "../tensor/tensor";
import { type CutPrompt, type Place, type SlotFill, SlottedPrompts, tokenPlace } from "./slottedPrompts";

/** Prompts of one agent for a batch of questions. All tensors that methods return belong to the tape's current scope. */
export class PromptBatch extends SlottedPrompts {
  private beginnings: KeyCache | undefined;

  /** @throws RangeError when the prompts have different numbers of slots */
  constructor(
    readonly decoder: DifferentiableDecoder,
    prompts: readonly CutPrompt[],
  ) {
    super(prompts);
  }

  /** A cache that ends before the first slot; the beginnings are computed once. The caller disposes of it. */
  begin(room: number): KeyCache {
    const { tape } = this.decoder;
    if (!this.beginnings) {
      const cache = new KeyCache(tape);
      const ids = this.prompts.map((_, question) => this.beginning(question));
      tape.noGrad(() =>
        tape.scope(() => {
          const rows = this.decoder.embed(tape.integers(ids.flat()));
          this.decoder.read(rows, cache.next(ids.map(({ length }) => length)), cache);
        }),
      );
      this.beginnings = cache;
    }
    return this.beginnings.fork({ room });
  }

  /**
   * What follows the beginnings, question by question: fillings, the pieces between and after them, and a tail.
   * @param tails ids that follow each prompt: the words of a target
   * @returns embeddings [sum of lengths, hiddenSize], and the rows of each question
   * @throws RangeError naming the slot whose filling does not fit
   */
  rest(fills: readonly SlotFill[], tails?: readonly (readonly number[])[]): { rows: Tensor; lengths: number[] } {
    const places = this.prompts.map((_, question) => this.after(question, fills, tails?.[question]));
    return { rows: this.assemble(places.flat(), fills), lengths: places.map(({ length }) => length) };
  }

  /**
   * Hidden states where the agent, having read its prompts and the targets so far, predicts each token of the targets.
   * @param targets at least one id for each question
   * @returns after the final norm, [ids of all targets, hiddenSize], question by question
   */
  predicting(fills: readonly SlotFill[], targets: readonly (readonly number[])[]): Tensor {
    const { decoder } = this;
    const { tape } = decoder;
    const cache = this.begin(0);
    try {
      return tape.scope(() => {
        const tails = targets.map((ids) => ids.slice(0, -1));
        const { rows, lengths } = this.rest(fills, tails);
        return decoder.forward(rows, cache.next(lengths), { cache, last: targets.map(({ length }) => length) });
      });
    } finally {
      cache.dispose();
    }
  }

  /** The whole prompts as embeddings, for engines that read them without this cache; lengths as `lengths`. */
  whole(fills: readonly SlotFill[]): Tensor {
    const places = this.prompts.flatMap((_, question) => [
      ...this.beginning(question).map(tokenPlace),
      ...this.after(question, fills),
    ]);
    return this.assemble(places, fills);
  }

  override dispose(): void {
    this.beginnings?.dispose();
    this.beginnings = undefined;
  }

  private assemble(places: readonly Place[], fills: readonly SlotFill[]): Tensor {
    const { decoder } = this;
    const { tape } = decoder;
    const ids = places.flatMap(({ slot, row }) => (slot === undefined ? [row] : []));
    if (ids.length === places.length) return tape.scope(() => decoder.embed(tape.integers(ids)));
    return tape.scope(() => {
      const sources: Tensor[] = ids.length > 0 ? [decoder.embed(tape.integers(ids))] : [];
      let start = ids.length;
      const starts = fills.map((fill) => {
        if (fill.kind === "ids") return 0;
        sources.push(fill.vectors);
        start += fill.vectors.rows;
        return start - fill.vectors.rows;
      });
      let nextId = 0;
      const order = places.map(({ slot, row }) => (slot === undefined ? nextId++ : (starts[slot] as number) + row));
      return gatherRows(concatRows(sources), tape.integers(order));
    });
  }
}
