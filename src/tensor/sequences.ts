/** Which rows of a batch belong together: sequences of different lengths, one after the other, without padding. */
import type { Integers, Saved, Tape } from "./tape";

export interface SequenceLengths {
  /** Rows of each sequence, at least 1. */
  queryLengths: readonly number[];
  /**
   * Keys that each sequence has in the tensor of keys and values, its own rows last; more than queryLengths where those
   * of earlier rows are handed in as well. Default: queryLengths.
   */
  keyLengths?: readonly number[];
  /** Where they begin there, in rows, and how many rows it has. Default: one sequence after the other. */
  keys?: { starts: readonly number[]; rows: number };
  /**
   * Rows of a second tensor of keys and values that each sequence sees before those, through which no gradients flow.
   * Default: none.
   */
  prefix?: { starts: readonly number[]; lengths: readonly number[] };
  /** Position of each row for the rotary embedding. Default: its place among all keys of its sequence. */
  positions?: ArrayLike<number>;
}

/** The row of a causal batch t rows before the end of its sequence sees all keys of the sequence but the last t. */
export class Sequences implements Saved {
  readonly rows: number;
  readonly keyRows: number;
  /** Rows of the second tensor that some sequence sees. */
  readonly prefixRows: number;
  readonly queryLengths: readonly number[];
  readonly keyLengths: readonly number[];
  /** First row of each sequence. */
  readonly starts: readonly number[];
  /** Pairs for each row: its position, and the row of its key and value. */
  readonly placement: Integers;
  /** `Sequence` of shaders/common/attentionTiles.wgsl for each. */
  readonly table: Integers;
  readonly maxPosition: number;
  /** Whether the rows of keys are those of the sequences and no others. */
  readonly areKeysWhole: boolean;

  /** @throws RangeError naming the sequence whose lengths do not fit */
  constructor(
    tape: Tape,
    private readonly given: SequenceLengths,
  ) {
    const { queryLengths, keyLengths = queryLengths, keys, prefix, positions } = given;
    const count = queryLengths.length;
    if (count === 0 || keyLengths.length !== count) {
      throw new RangeError(`${count} sequences of rows, ${keyLengths.length} of keys`);
    }
    for (const list of [keys?.starts, prefix?.starts, prefix?.lengths]) {
      if (list && list.length !== count) throw new RangeError(`${count} sequences of rows, ${list.length} of keys`);
    }
    const placement: number[] = [];
    const table: number[] = [];
    const starts: number[] = [];
    let row = 0;
    let key = 0;
    let maxPosition = 0;
    let prefixRows = 0;
    queryLengths.forEach((queries, sequence) => {
      const own = keyLengths[sequence] as number;
      const start = keys ? (keys.starts[sequence] as number) : key;
      const [prefixStart, prefixLength] = [prefix?.starts[sequence] ?? 0, prefix?.lengths[sequence] ?? 0];
      if (!Number.isInteger(queries) || !Number.isInteger(own) || queries < 1 || own < queries) {
        throw new RangeError(`sequence ${sequence} has ${queries} rows and ${own} keys`);
      }
      if (keys && start + own > keys.rows) {
        throw new RangeError(`sequence ${sequence} has keys up to ${start + own}, and there are ${keys.rows}`);
      }
      const before = own - queries;
      for (let t = 0; t < queries; t++) {
        const position = positions?.[row + t] ?? prefixLength + before + t;
        placement.push(position, start + before + t);
        maxPosition = Math.max(maxPosition, position);
      }
      table.push(row, queries, prefixStart, prefixLength, start, before);
      starts.push(row);
      row += queries;
      key += own;
      prefixRows = Math.max(prefixRows, prefixStart + prefixLength);
    });
    if (positions && positions.length !== row) throw new RangeError(`${positions.length} positions for ${row} rows`);
    this.rows = row;
    this.keyRows = keys?.rows ?? key;
    this.prefixRows = prefixRows;
    this.queryLengths = queryLengths;
    this.keyLengths = keyLengths;
    this.starts = starts;
    this.maxPosition = maxPosition;
    this.areKeysWhole = key === this.keyRows;
    this.placement = tape.integers(placement, "positions of rows");
    this.table = tape.integers(table, "sequences");
  }

  /**
   * The last rows of each sequence alone; keys stay those of all.
   * @param counts at least 1 and at most as many as the sequence has
   * @returns the sequences, and which rows of the whole batch they are
   * @throws RangeError naming the sequence whose count does not fit
   */
  last(tape: Tape, counts: readonly number[]): { sequences: Sequences; rows: number[] } {
    const { given, queryLengths, keyLengths, starts } = this;
    const wrong = queryLengths.findIndex(
      (length, i) => !((counts[i] as number) >= 1 && (counts[i] as number) <= length),
    );
    if (wrong >= 0 || counts.length !== queryLengths.length) {
      throw new RangeError(`sequence ${wrong} has ${queryLengths[wrong]} rows, and ${counts[wrong]} are wanted`);
    }
    const rows = counts.flatMap((count, i) => {
      const end = (starts[i] as number) + (queryLengths[i] as number);
      return Array.from({ length: count }, (_, t) => end - count + t);
    });
    const positions = given.positions && rows.map((row) => given.positions?.[row] as number);
    return { sequences: new Sequences(tape, { ...given, queryLengths: counts, keyLengths, positions }), rows };
  }

  share(): Sequences {
    return Object.assign(Object.create(Sequences.prototype) as Sequences, this, {
      placement: this.placement.share(),
      table: this.table.share(),
    });
  }

  dispose(): void {
    this.placement.dispose();
    this.table.dispose();
  }
}
