/** Sequences that are kept and read on row by row (`LanguageModel.read`): on our engine, and what all engines share. */
import type { ModelConfig } from "../checkpoint/config";
import type { Decoder } from "./decoder";
import type { KvCache } from "./kvCache";
import type { NewestRows, Reading, SequenceInput } from "./languageModel";
import { EMBEDDING_ROW, type PassBuffers, type RowMoves } from "./pass";
import { maxChunkRows, type PlacedInput, prefillLastRows } from "./prefill";
import { checkRows } from "./requests";
import type { SerialQueue } from "./serialQueue";
import { padded } from "./weights";

export interface ReadingBuffers {
  pass: PassBuffers;
  moves: RowMoves;
}

/** The first `rows` rows of a buffer whose rows are `width` numbers and padded. */
type ReadRows = (buffer: GPUBuffer, rows: number, width: number) => Promise<Float32Array>;

/** Sequences of one cache; what they share with other calls of the model is theirs only during a call. */
export class KeptSequences {
  private appended = 0;

  private constructor(
    private readonly decoder: Decoder,
    private readonly buffers: ReadingBuffers,
    private readonly readRows: ReadRows,
    private readonly cache: KvCache,
    private readonly placed: readonly PlacedInput[],
  ) {}

  /**
   * @param cache of its own; freed when this fails, and by `dispose`
   * @param room rows that each sequence may grow by
   * @throws GpuOutOfMemoryError, DeviceLostError, GpuFailure; the signal's reason
   */
  static async read(
    decoder: Decoder,
    buffers: ReadingBuffers,
    readRows: ReadRows,
    cache: KvCache,
    inputs: readonly { input: SequenceInput; length: number }[],
    { room, signal }: { room: number; signal: AbortSignal },
  ): Promise<{ sequences: KeptSequences; newest: NewestRows }> {
    const { workspace } = decoder;
    const { pass, moves } = buffers;
    let positions = 0;
    let rows = 0;
    const placed = inputs.map(({ input, length }): PlacedInput => {
      const place = { input, length, cacheStart: positions };
      positions += length + room;
      rows += length;
      return place;
    });
    const longest = Math.max(...placed.map(({ length }) => length)) + room;
    const chunkRows = Math.min(rows, maxChunkRows(decoder, longest, false));
    try {
      await cache.reserve(positions, longest);
      const sequences = new KeptSequences(decoder, buffers, readRows, cache, placed);
      await sequences.reserve(Math.max(chunkRows, inputs.length));
      await moves.reserve(inputs.length);
      await prefillLastRows(decoder, placed, { pass, moves, cache, chunkRows, signal });
      return { sequences, newest: await sequences.finish(workspace.last) };
    } catch (error) {
      cache.dispose();
      throw error;
    }
  }

  get size(): number {
    return this.placed.length;
  }

  get cacheBytes(): number {
    return this.cache.liveBytes;
  }

  /** @param rows [hiddenSize] for each sequence. The room for them is the caller's to count. */
  async append(rows: readonly Float32Array[]): Promise<NewestRows> {
    const { decoder, placed, cache } = this;
    const { gpu, workspace, config } = decoder;
    const { pass } = this.buffers;
    await this.reserve(rows.length);
    const pitch = padded(config.hiddenSize);
    const block = new Float32Array(rows.length * pitch);
    rows.forEach((row, i) => {
      block.set(row, i * pitch);
    });
    gpu.write(workspace.hidden, 0, block);
    pass.set(
      placed.map(({ cacheStart, length }, sequence) => {
        return { cacheStart, position: length + this.appended, sequence, drawn: 0, id: EMBEDDING_ROW };
      }),
    );
    this.appended++;
    const encoder = gpu.encode("read on");
    decoder.encodeLayers(encoder, pass, cache);
    encoder.submit();
    return this.finish(workspace.hidden);
  }

  dispose(): void {
    this.cache.dispose();
  }

  private async reserve(rows: number): Promise<void> {
    const { size } = this;
    await this.decoder.workspace.reserve({ rows: Math.max(rows, size), lastRows: size, logitRows: size });
    await this.buffers.pass.reserve(Math.max(rows, size));
  }

  /** Final norm and head of the rows that the pass names, from the beginning of a buffer. */
  private async finish(from: GPUBuffer): Promise<NewestRows> {
    const { decoder, readRows, size } = this;
    const { workspace, config } = decoder;
    const { pass } = this.buffers;
    const encoder = decoder.gpu.encode("newest rows");
    decoder.encodeFinalNorm(encoder, pass, from);
    decoder.encodeHead(encoder, pass);
    encoder.submit();
    const split = (values: Float32Array, width: number) =>
      Array.from({ length: size }, (_, i) => values.slice(i * width, (i + 1) * width));
    return {
      hidden: split(await readRows(workspace.normed, size, config.hiddenSize), config.hiddenSize),
      logits: split(await readRows(workspace.logits, size, config.vocabSize), config.vocabSize),
    };
  }
}

/** As if they were of one cache. */
export function joinedRows(parts: readonly NewestRows[]): NewestRows {
  return { hidden: parts.flatMap(({ hidden }) => hidden), logits: parts.flatMap(({ logits }) => logits) };
}

export interface OpenReading {
  newest: NewestRows;
  sequences: number;
  room: number;
  config: ModelConfig;
  /** Of the model. */
  queue: SerialQueue;
  /** Runs work when its turn comes. @throws the signal's reason; an error when the model has been disposed of */
  enqueue: <T>(signal: AbortSignal | undefined, work: () => Promise<T>) => Promise<T>;
  append(rows: readonly Float32Array[]): Promise<NewestRows>;
  /** Gives the caches back. */
  drop(): void;
}

/** A reading whose rows are checked and counted, and whose end waits until the model is done with it. */
export function openReading({ newest, sequences, room, config, queue, enqueue, append, drop }: OpenReading): Reading {
  let appended = 0;
  let isOver = false;
  return {
    newest,
    append: async (rows, signal) => {
      checkRows(rows, sequences, config);
      if (appended >= room) throw new RangeError(`append: there was room for ${room} more rows`);
      appended++;
      return enqueue(signal, async () => {
        if (isOver) throw new Error("append: the sequences have been given up");
        return append(rows);
      });
    },
    dispose: () => {
      isOver = true;
      if (queue.isIdle) drop();
      else void queue.run(async () => drop());
    },
  };
}
