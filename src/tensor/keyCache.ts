/**
 * Keys and values of the rows that a decoder has seen, for sequences that go on row by row, as latent thoughts do.
 * Gradients flow through them: the rows of a later pass change the keys and values of all earlier ones' embeddings.
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
