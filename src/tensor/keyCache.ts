/**
 * Keys and values of the rows that a decoder has seen, for sequences that go on row by row, as latent thoughts do.
 * Gradients flow through them: the rows of a later pass change the keys and values of all earlier ones' embeddings.
 *
 * A prompt that is the same each time is computed once and then continued any number of times:
 *
 *     const prompts = new KeyCache(tape);
 *     tape.noGrad(() => tape.scope(() => void decoder.forward(embeddings, prompts.next(lengths), { cache: prompts })));
 *     for each round:
 *       const cache = prompts.fork({ room: latentSteps - 1 });
 *       let hidden = decoder.forward(rows, cache.next(rowsOfEach), { cache });      // with gradients
 *       hidden = decoder.forward(link(hidden), cache.next(onesOfEach), { cache });  // and so on
 *       cache.dispose();                                                            // the tape keeps what it needs
 *     prompts.dispose();
 */
import { concatRows, gatherRows } from "./ops/rows";
import { Sequences } from "./sequences";
import type { Integers, Tape } from "./tape";
import type { Tensor } from "./tensor";

/** Keys and values of a layer, [keyRows * kvHeads, headDim] each. */
export interface KeysValues {
  keys: Tensor;
  values: Tensor;
}

export interface ForkOptions {
  /** For each continuation the sequence of this cache that it goes on from; may repeat. Default: each once, in order. */
  sequences?: readonly number[];
  /** Rows that each continuation will add after its first pass. More may come, but cost a copy. Default 0. */
  room?: number;
}

export class KeyCache {
  private lengths: readonly number[] = [];
  private readonly layers: KeysValues[] = [];
  /** For each sequence the rows of the cache, then the new ones, as numbers of rows in [cache, new]. */
  private order: number[] = [];
  private orderOfHeads: Integers | undefined;

  constructor(private readonly tape: Tape) {}

  /** Rows that each sequence has so far. */
  get keyLengths(): readonly number[] {
    return this.lengths;
  }

  /**
   * A cache whose sequences go on from those of this one, which stays as it is and may be continued by others, and
   * disposed of before them. The rows so far must have been computed without gradients (`Tape.noGrad`): none flow to
   * them.
   * @throws Error when this cache is empty or has gradients; RangeError for a sequence that it does not have
   */
  fork({ sequences = this.lengths.map((_, i) => i) }: ForkOptions = {}): KeyCache {
    if (this.layers.length === 0) throw new Error("a key cache without rows cannot be forked");
    if (this.layers.some(({ keys, values }) => keys.requiresGrad || values.requiresGrad)) {
      throw new Error("only a key cache that was computed without gradients can be forked");
    }
    const starts: number[] = [];
    this.lengths.reduce((start, length) => {
      starts.push(start);
      return start + length;
    }, 0);
    const fork = new KeyCache(this.tape);
    fork.lengths = sequences.map((sequence) => {
      const length = this.lengths[sequence];
      if (length === undefined) throw new RangeError(`fork: sequence ${sequence} of ${this.lengths.length}`);
      return length;
    });
    const rows = sequences.flatMap((sequence, i) =>
      Array.from({ length: fork.lengths[i] as number }, (_, t) => (starts[sequence] as number) + t),
    );
    for (const { keys, values } of this.layers) {
      const kvHeads = keys.rows / this.lengths.reduce((a, b) => a + b, 0);
      const ids = rows.flatMap((row) => Array.from({ length: kvHeads }, (_, head) => row * kvHeads + head));
      fork.layers.push(
        this.tape.outsideScopes(() => {
          const chosen = this.tape.integers(ids);
          const own = { keys: gatherRows(keys, chosen), values: gatherRows(values, chosen) };
          chosen.dispose();
          return own;
        }),
      );
    }
    return fork;
  }

  /**
   * The batch of a pass that adds rows to every sequence; the first call begins the sequences.
   * @param queryLengths rows that are added to each, at least 1
   * @throws RangeError when the number of sequences changes
   */
  next(queryLengths: readonly number[]): Sequences {
    const before = this.lengths.length > 0 ? this.lengths : queryLengths.map(() => 0);
    if (before.length !== queryLengths.length) {
      throw new RangeError(`${queryLengths.length} sequences go on, and there are ${before.length}`);
    }
    const keyLengths = queryLengths.map((length, i) => length + (before[i] as number));
    const cached = before.reduce((a, b) => a + b, 0);
    let [old, added] = [0, 0];
    this.order = queryLengths.flatMap((length, i) => {
      const own = before[i] as number;
      const rows = [
        ...Array.from({ length: own }, (_, k) => old + k),
        ...Array.from({ length }, (_, k) => cached + added + k),
      ];
      old += own;
      added += length;
      return rows;
    });
    this.orderOfHeads?.dispose();
    this.orderOfHeads = undefined;
    this.lengths = keyLengths;
    return new Sequences(this.tape, { queryLengths, keyLengths });
  }

  /** Adds the keys and values of the pass begun with `next`. For decoders, once a layer. */
  join(layer: number, own: KeysValues, kvHeads: number): KeysValues {
    const { tape } = this;
    const before = this.layers[layer];
    let joined = own;
    if (before) {
      this.orderOfHeads ??= tape.outsideScopes(() =>
        tape.integers(this.order.flatMap((row) => Array.from({ length: kvHeads }, (_, head) => row * kvHeads + head))),
      );
      const ids = this.orderOfHeads;
      const both = (a: Tensor, b: Tensor) => tape.scope(() => gatherRows(concatRows([a, b]), ids));
      joined = { keys: both(before.keys, own.keys), values: both(before.values, own.values) };
      for (const tensor of [before.keys, before.values]) tensor.dispose();
    }
    this.layers[layer] = { keys: tape.keep(joined.keys), values: tape.keep(joined.values) };
    return joined;
  }

  dispose(): void {
    this.orderOfHeads?.dispose();
    for (const { keys, values } of this.layers) {
      keys.dispose();
      values.dispose();
    }
  }
}
