/** Which rows of a batch belong together: sequences of different lengths, one after the other, without padding. */
import type { Integers, Saved, Tape } from "./tape";

export interface SequenceLengths {
  /** Rows of each sequence, at least 1. */
  queryLengths: readonly number[];
  /**
   * Keys that each sequence has in all, its own rows last; more than queryLengths where keys of earlier rows are handed
   * in as well. Default: queryLengths.
   */
  keyLengths?: readonly number[];
  /** Position of each row for the rotary embedding. Default: its place among the keys of its sequence. */
  positions?: ArrayLike<number>;
}

/** The row of a causal batch t rows before the end of its sequence sees all keys of the sequence but the last t. */
export class Sequences implements Saved {
  readonly rows: number;
  readonly keyRows: number;
  readonly queryLengths: readonly number[];
  readonly keyLengths: readonly number[];
  /** First row of each sequence. */
  readonly starts: readonly number[];
  readonly positions: Integers;
  /** Pairs for each row: the first key it sees, and the one after the last. */
  readonly queryKeys: Integers;
  /** Pairs for each key: the first row that sees it, and the one after the last. */
  readonly keyQueries: Integers;
  readonly maxPosition: number;

  /** @throws RangeError naming the sequence whose lengths do not fit */
  constructor(tape: Tape, { queryLengths, keyLengths = queryLengths, positions }: SequenceLengths) {
    if (keyLengths.length !== queryLengths.length || queryLengths.length === 0) {
      throw new RangeError(`${queryLengths.length} sequences of rows, ${keyLengths.length} of keys`);
    }
    const ranges: number[] = [];
    const seenBy: number[] = [];
    const places: number[] = [];
    const starts: number[] = [];
    let row = 0;
    let key = 0;
    queryLengths.forEach((queries, sequence) => {
      const keys = keyLengths[sequence] as number;
      if (!Number.isInteger(queries) || !Number.isInteger(keys) || queries < 1 || keys < queries) {
        throw new RangeError(`sequence ${sequence} has ${queries} rows and ${keys} keys`);
      }
      for (let t = 0; t < queries; t++) {
        ranges.push(key, key + keys - queries + t + 1);
        places.push(keys - queries + t);
      }
      for (let k = 0; k < keys; k++) seenBy.push(row + Math.max(0, k - (keys - queries)), row + queries);
      starts.push(row);
      row += queries;
      key += keys;
    });
    if (positions && positions.length !== row) throw new RangeError(`${positions.length} positions for ${row} rows`);
    this.rows = row;
    this.keyRows = key;
    this.queryLengths = queryLengths;
    this.keyLengths = keyLengths;
    this.starts = starts;
    this.positions = tape.integers(positions ?? places, "positions");
    this.maxPosition = this.positions.values.reduce((a, b) => Math.max(a, b), 0);
    this.queryKeys = tape.integers(ranges, "keys of rows");
    this.keyQueries = tape.integers(seenBy, "rows of keys");
  }

  share(): Sequences {
    const { positions, queryKeys, keyQueries } = this;
    return Object.assign(Object.create(Sequences.prototype) as Sequences, this, {
      positions: positions.share(),
      queryKeys: queryKeys.share(),
      keyQueries: keyQueries.share(),
    });
  }

  dispose(): void {
    for (const integers of [this.positions, this.queryKeys, this.keyQueries]) integers.dispose();
  }
}
