/**
 * Prompts with slots, tokenized for a batch of questions, whatever computes them. The chat template is rendered with the
 * slot markers inside, cut at them, and each piece is tokenized on its own; messages come in between without any
 * delimiter, at contiguous positions (RecursiveMAS, released code).
 */
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

/** Prompts of one agent for a batch of questions. */
export class SlottedPrompts {
  /** @throws RangeError when the prompts have different numbers of slots */
  constructor(readonly prompts: readonly CutPrompt[]) {
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

  /** The whole prompt of a question as ids. @throws RangeError when a slot is filled with vectors */
  ids(question: number, fills: readonly SlotFill[]): number[] {
    const rest = this.after(question, fills).map((place) => {
      if (place.slot !== undefined) throw new RangeError(`slot ${place.slot} holds latent vectors`);
      return place.row;
    });
    return [...this.beginning(question), ...rest];
  }

  /** Gives back what was computed of the prompts. */
  dispose(): void {}

  protected after(question: number, fills: readonly SlotFill[], tail: readonly number[] = []): Place[] {
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
}

/** Where a row of a prompt comes from: a vector of a slot's filling, or, without a slot, a token's embedding. */
export interface Place {
  slot?: number;
  row: number;
}

export const tokenPlace = (row: number): Place => ({ row });
