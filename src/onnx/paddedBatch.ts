/**
 * Sequences of different lengths as one block of columns, padded on the left, so that the newest column is the last one
 * of all of them; and their cache, which grows by the columns that are read.
 */
import type { OnnxTensor } from "./runtime";
import type { Computed, DecoderSession, Wanted } from "./session";

type Values = Float32Array<ArrayBuffer> | Uint16Array<ArrayBuffer>;

export class PaddedBatch {
  private cache = new Map<string, OnnxTensor>();
  private length = 0;

  /**
   * @param padding columns before the first token of each sequence
   * @param maxPositions of the model
   */
  constructor(
    private readonly session: DecoderSession,
    private padding: number[],
    private readonly maxPositions: number,
  ) {}

  get size(): number {
    return this.padding.length;
  }

  /** Bytes of the cache. */
  get cacheBytes(): number {
    return this.size * this.length * this.session.positionBytes;
  }

  /**
   * Reads further columns of all sequences.
   * @param input [size, columns] ids, or [size, columns, hiddenSize] embeddings; anything in the padding
   */
  async append(
    input: BigInt64Array<ArrayBuffer> | Float32Array<ArrayBuffer>,
    columns: number,
    wanted: Wanted,
  ): Promise<Omit<Computed, "cache">> {
    const { size, length, padding } = this;
    const total = length + columns;
    // What has ended goes along with the others, and with the longest of them past the model's end; nobody reads it.
    const positionOf = (column: number, first: number) => Math.min(Math.max(0, column - first), this.maxPositions - 1);
    const mask = new BigInt64Array(size * total);
    const positions = new BigInt64Array(size * columns);
    for (let sequence = 0; sequence < size; sequence++) {
      const first = padding[sequence]!;
      for (let column = first; column < total; column++) mask[sequence * total + column] = 1n;
      for (let i = 0; i < columns; i++) positions[sequence * columns + i] = BigInt(positionOf(length + i, first));
    }
    const { cache } = this;
    // Whatever fails, the old cache must not be used or freed twice.
    this.cache = new Map();
    const computed = await this.session.run({ input, batch: size, columns, mask, positions, cache }, wanted);
    this.cache = computed.cache;
    this.length = total;
    return computed;
  }

  /** Goes on with some of the sequences, without columns that are padding in all of them. */
  async keep(sequences: readonly number[]): Promise<void> {
    const cut = Math.min(this.length, ...sequences.map((sequence) => this.padding[sequence]!));
    const length = this.length - cut;
    const { runtime, cacheSlots } = this.session;
    for (const { past, type, heads, width } of cacheSlots) {
      const before = (await runtime.read(this.cache.get(past) as OnnxTensor)) as Values;
      const Kind = before.constructor as new (length: number) => Values;
      const after = new Kind(sequences.length * heads * length * width);
      const run = length * width;
      sequences.forEach((sequence, row) => {
        for (let head = 0; head < heads; head++) {
          const from = ((sequence * heads + head) * this.length + cut) * width;
          after.set(before.subarray(from, from + run), (row * heads + head) * run);
        }
      });
      this.cache.set(past, runtime.tensor(type, after, [sequences.length, heads, length, width]));
    }
    this.padding = sequences.map((sequence) => this.padding[sequence]! - cut);
    this.length = length;
  }

  dispose(): void {
    for (const tensor of this.cache.values()) tensor.dispose();
    this.cache = new Map();
    this.length = 0;
  }
}
