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
 *
 * The keys and values of a layer are one tensor, [rows * 2 kvHeads, headDim], in which every sequence has room for the
 * rows to come: a pass writes its own there, and no more. Those of a prompt stay where they are.
 */
import { gatherRows } from "./ops/rows";
import { Sequences } from "./sequences";
import type { Tape } from "./tape";
import type { Tensor } from "./tensor";

export interface CacheOptions {
  /** Rows that each sequence will add after its first pass. More may come, but cost a copy. Default 0. */
  room?: number;
}

export interface ForkOptions extends CacheOptions {
  /** For each continuation the sequence of this cache that it goes on from; may repeat. Default: each once, in order. */
  sequences?: readonly number[];
}

/** Rows of each sequence within the tensors of a cache. */
interface Places {
  starts: readonly number[];
  lengths: readonly number[];
}

interface Prefix {
  places: Places;
  layers: readonly Tensor[];
}

export class KeyCache {
  private own: Places = { starts: [], lengths: [] };
  /** Rows that each sequence can have where it is. */
  private capacities: readonly number[] = [];
  private layers: Tensor[] = [];
  private prefix: Prefix | undefined;
  private readonly room: number;

  constructor(
    private readonly tape: Tape,
    { room = 0 }: CacheOptions = {},
  ) {
    this.room = room;
  }

  /** Rows that each sequence has so far, those of its prompt included. */
  get keyLengths(): readonly number[] {
    const { prefix } = this;
    if (this.own.lengths.length === 0) return prefix?.places.lengths ?? [];
    return this.own.lengths.map((length, i) => length + (prefix?.places.lengths[i] ?? 0));
  }

  /**
   * A cache whose sequences go on from those of this one, which stays as it is and may be continued by others, and
   * disposed of before them. The rows so far must have been computed without gradients (`Tape.noGrad`): none flow to
   * them.
   * @throws Error when this cache is empty or has gradients; RangeError for a sequence that it does not have
   */
  fork({ sequences, room = 0 }: ForkOptions = {}): KeyCache {
    if (this.layers.length === 0) throw new Error("a key cache without rows cannot be forked");
    if (this.layers.some(({ requiresGrad }) => requiresGrad)) {
      throw new Error("only a key cache that was computed without gradients can be forked");
    }
    if (this.prefix) this.join(this.prefix);
    const { starts, lengths } = this.own;
    const chosen = sequences ?? lengths.map((_, i) => i);
    const unknown = chosen.find((sequence) => lengths[sequence] === undefined);
    if (unknown !== undefined) throw new RangeError(`fork: sequence ${unknown}, and there are ${lengths.length}`);
    const fork = new KeyCache(this.tape, { room });
    const of = (list: readonly number[]) => chosen.map((sequence) => list[sequence] as number);
    fork.prefix = {
      places: { starts: of(starts), lengths: of(lengths) },
      layers: this.tape.outsideScopes(() => this.layers.map((layer) => layer.alias())),
    };
    return fork;
  }

  /**
   * The batch of a pass that adds rows to every sequence; the first call begins the sequences.
   * @param queryLengths rows that are added to each, at least 1
   * @throws RangeError when the number of sequences changes
   */
  next(queryLengths: readonly number[]): Sequences {
    const { tape, prefix } = this;
    const sequences = this.keyLengths.length || queryLengths.length;
    if (sequences !== queryLengths.length) {
      throw new RangeError(`${queryLengths.length} sequences go on, and there are ${sequences}`);
    }
    const before = this.own.lengths;
    const lengths = queryLengths.map((length, i) => length + (before[i] ?? 0));
    if (before.length === 0) {
      this.capacities = lengths.map((length) => length + this.room);
      this.own = { starts: startsOf(this.capacities), lengths: [] };
    } else if (lengths.some((length, i) => length > (this.capacities[i] as number))) {
      this.grow(lengths.map((length) => 2 * length));
    }
    this.own = { starts: this.own.starts, lengths };
    const keys = { starts: this.own.starts, rows: sum(this.capacities) };
    return new Sequences(tape, { queryLengths, keyLengths: lengths, keys, prefix: prefix?.places });
  }

  /** For decoders: what attention of a layer reads besides the new rows' keys and values, and where it puts those. */
  layer(index: number): { prefix: Tensor | undefined; into: Tensor | undefined } {
    return { prefix: this.prefix?.layers[index], into: this.layers[index] };
  }

  /** For decoders: the keys and values of a layer after the pass begun with `next`, made in the current scope. */
  setLayer(index: number, keysValues: Tensor): void {
    this.layers[index]?.dispose();
    this.layers[index] = this.tape.keep(keysValues);
  }

  dispose(): void {
    for (const tensor of [...this.layers, ...(this.prefix?.layers ?? [])]) tensor.dispose();
  }

  /** Moves the rows to where each sequence has room for more. */
  private grow(capacities: readonly number[]): void {
    const { starts, lengths } = this.own;
    const rows = capacities.flatMap((capacity, i) =>
      Array.from({ length: capacity }, (_, t) => (t < (lengths[i] as number) ? (starts[i] as number) + t : undefined)),
    );
    this.layers = this.gathered((layer) => [layer], rows);
    this.own = { starts: startsOf(capacities), lengths };
    this.capacities = capacities;
  }

  /** Makes one tensor of a layer's prompt and what has been added to it. */
  private join(prefix: Prefix): void {
    const { own } = this;
    const headsOfRow = (this.layers[0] as Tensor).rows / sum(this.capacities);
    const prefixRows = (prefix.layers[0] as Tensor).rows / headsOfRow;
    const lengths = this.keyLengths;
    const rows = own.lengths.flatMap((length, i) => [
      ...Array.from({ length: prefix.places.lengths[i] as number }, (_, t) => (prefix.places.starts[i] as number) + t),
      ...Array.from({ length }, (_, t) => prefixRows + (own.starts[i] as number) + t),
    ]);
    this.layers = this.gathered((layer, index) => [prefix.layers[index] as Tensor, layer], rows);
    for (const tensor of prefix.layers) tensor.dispose();
    this.prefix = undefined;
    this.capacities = lengths;
    this.own = { starts: startsOf(lengths), lengths };
  }

  /** Rows of each layer's tensors, in a new tensor in place of the layer's; undefined: room. */
  private gathered(
    tables: (layer: Tensor, index: number) => readonly Tensor[],
    rows: readonly (number | undefined)[],
  ): Tensor[] {
    const { tape, layers } = this;
    const [first, ...others] = tables(layers[0] as Tensor, 0) as [Tensor, ...Tensor[]];
    const headRows = others.reduce((total, table) => total + table.rows, first.rows);
    const heads = (layers[0] as Tensor).rows / sum(this.capacities);
    return tape.outsideScopes(() => {
      // What stands in the room must not be any row's: later rows will have their gradients there.
      const nothing = tape.zeros("room", 1, first.columns);
      const ids = tape.integers(
        rows.flatMap((row) =>
          Array.from({ length: heads }, (_, head) => (row === undefined ? headRows : row * heads + head)),
        ),
      );
      const moved = layers.map((layer, index) => {
        const result = gatherRows([...tables(layer, index), nothing], ids);
        layer.dispose();
        return result;
      });
      for (const resource of [ids, nothing]) resource.dispose();
      return moved;
    });
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0);
}

/** First places of runs of these lengths, one after the other. */
function startsOf(lengths: readonly number[]): number[] {
  let start = 0;
  return lengths.map((length) => {
    start += length;
    return start - length;
  });
}
