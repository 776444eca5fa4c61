/**
 * Prompts with slots, tokenized and read by one agent for a batch of questions. The chat template is rendered with the
 * slot markers inside, cut at them, and each piece is tokenized on its own; messages come in between without any
 * delimiter, at contiguous positions (RecursiveMAS, released code). What stands before the first slot is computed once,
 * without gradients, and continued as often as wanted.
 */
import type { DifferentiableDecoder } from "../tensor/decoder";
import { KeyCache } from "../tensor/keyCache";
import { concatRows, gatherRows } from "../tensor/ops/rows";
import type { Tensor } from "../tensor/tensor";
import type { ChatMessage, ChatTemplateOptions, ModelTokenizer } from "../text/tokenizer";
import { SLOT } from "./prompts";

/** A rendered prompt, cut at its slots. */
export interface CutPrompt {
  /** With the slot markers. */
  text: string;
  /** Token ids before, between and after the slots: one piece more than there are slots. */
  pieces: readonly (readonly number[])[];
}

/**
 * Renders a conversation through the agent's own chat template and cuts it at its slots.
 * @throws RangeError when nothing stands before the first slot; CheckpointError without a chat template
 */
export function cutPrompt(
  tokenizer: ModelTokenizer,
  messages: readonly ChatMessage[],
  options: Pick<ChatTemplateOptions, "tools" | "enableThinking"> = {},
): CutPrompt {
  const text = tokenizer.renderChat(messages, { enableThinking: false, ...options });
  const pieces = text.split(SLOT).map((piece) => tokenizer.encode(piece));
  if (pieces[0]?.length === 0) throw new RangeError("prompt: no token stands before the first slot");
  return { text, pieces };
}

/**
 * What fills one slot in the prompts of a batch.
 * - ids: a text for each question;
 * - vectors: latent messages [count * questions, hiddenSize], row `step * questions + question`. With `order`, question
 *   i gets the message of question `order[i]`.
 */
export type SlotFill =
  | { kind: "ids"; ids: readonly (readonly number[])[] }
  | { kind: "vectors"; vectors: Tensor; count: number; order?: readonly number[] };

/** Prompts of one agent for a batch of questions. All tensors that methods return belong to the tape's current scope. */
export class PromptBatch {
  private beginnings: KeyCache | undefined;

  /** @throws RangeError when the prompts have different numbers of slots */
  constructor(
    readonly decoder: DifferentiableDecoder,
    readonly prompts: readonly CutPrompt[],
  ) {
    const odd = prompts.findIndex(({ pieces }) => pieces.length !== prompts[0]?.pieces.length);
    if (odd >= 0) throw new RangeError(`prompt ${odd} has ${(prompts[odd] as CutPrompt).pieces.length - 1} slots`);
  }

  get size(): number {
    return this.prompts.length;
  }

  get slots(): number {
    return (this.prompts[0] as CutPrompt).pieces.length - 1;
  }

  /** Ids before the first slot; a prompt without slots leaves its last token to be read anew. */
  beginning(question: number): readonly number[] {
    const { pieces } = this.prompts[question] as CutPrompt;
    const first = pieces[0] as readonly number[];
    return pieces.length > 1 || first.length < 2 ? first : first.slice(0, -1);
  }

  /** Rows of each whole prompt: tokens and vectors. */
  lengths(fills: readonly SlotFill[]): number[] {
    return this.prompts.map((_, question) => this.beginning(question).length + this.after(question, fills).length);
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

  /** The whole prompt of a question as ids. @throws RangeError when a slot is filled with vectors */
  ids(question: number, fills: readonly SlotFill[]): number[] {
    const rest = this.after(question, fills).map((place) => {
      if (place.slot !== undefined) throw new RangeError(`slot ${place.slot} holds latent vectors`);
      return place.row;
    });
    return [...this.beginning(question), ...rest];
  }

  dispose(): void {
    this.beginnings?.dispose();
    this.beginnings = undefined;
  }

  private after(question: number, fills: readonly SlotFill[], tail: readonly number[] = []): Place[] {
    if (fills.length !== this.slots) throw new RangeError(`${fills.length} fillings for ${this.slots} slots`);
    const { pieces } = this.prompts[question] as CutPrompt;
    const begun = this.beginning(question).length;
    const first = (pieces[0] as readonly number[]).slice(begun).map(tokenPlace);
    const others = fills.flatMap((fill, slot) => [
      ...this.filling(question, fill, slot),
      ...(pieces[slot + 1] as readonly number[]).map(tokenPlace),
    ]);
    return [...first, ...others, ...tail.map(tokenPlace)];
  }

  private filling(question: number, fill: SlotFill, slot: number): Place[] {
    if (fill.kind === "ids") {
      const ids = fill.ids[question];
      if (!ids) throw new RangeError(`slot ${slot}: ${fill.ids.length} texts for ${this.size} questions`);
      return ids.map(tokenPlace);
    }
    const { vectors, count, order } = fill;
    if (vectors.rows !== count * this.size) {
      throw new RangeError(`slot ${slot}: ${vectors.rows} vectors instead of ${count} for ${this.size} questions`);
    }
    const source = order ? (order[question] as number) : question;
    return Array.from({ length: count }, (_, step) => ({ slot, row: step * this.size + source }));
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

/** Where a row of a prompt comes from: a vector of a slot's filling, or, without a slot, a token's embedding. */
interface Place {
  slot?: number;
  row: number;
}

const tokenPlace = (row: number): Place => ({ row });
