/** onnxruntime-web behind the LanguageModel interface. */
import type { ModelConfig } from "../checkpoint/config";
import type {
  ForwardOptions,
  GenerateOptions,
  GenerateRequest,
  GenerateResult,
  LanguageModel,
  ModelCapabilities,
  NewestRows,
  Reading,
  ReadOptions,
  SequenceInput,
} from "../model/languageModel";
import { openReading } from "../model/reading";
import { checkIds, checkInput, checkReading, checkRequest } from "../model/requests";
import { SerialQueue } from "../model/serialQueue";
import type { ModelTokenizer } from "../text/tokenizer";
import type { EmbeddingTable } from "./embeddingTable";
import { groupSequences } from "./grouping";
import { rowsPerRun } from "./memoryEstimate";
import { PaddedBatch } from "./paddedBatch";
import { turnOfEvents } from "./runtime";
import type { Computed, DecoderSession, Wanted } from "./session";
import { WrittenSequence } from "./writtenSequence";

export interface OnnxModelParts {
  id: string;
  config: ModelConfig;
  tokenizer: ModelTokenizer;
  session: DecoderSession;
  /** The input embedding, for sessions that take embeddings. */
  table: EmbeddingTable | undefined;
  /** Of weights and table. */
  bytes: number;
  /** Whether sequences may be padded on the left. */
  canPad: boolean;
}

/** Keys and values of a batch; while a step runs there are three copies. */
const CACHE_BYTES = 256 * 2 ** 20;
/** Between two turns of the event loop while tokens are written. */
const TURN_MS = 8;

interface Placed {
  input: SequenceInput;
  length: number;
}

interface RunOptions {
  wanted: (isLast: boolean) => Wanted;
  everyRowToHead: boolean;
  signal: AbortSignal | undefined;
}

/** Columns that were read together, and what was computed of them. */
interface Run {
  start: number;
  columns: number;
  computed: Omit<Computed, "cache">;
}

export class OnnxModel implements LanguageModel {
  readonly id: string;
  readonly config: ModelConfig;
  readonly tokenizer: ModelTokenizer;
  readonly capabilities: ModelCapabilities;
  private readonly queue = new SerialQueue();
  /** Ends what is running when the model is disposed of. */
  private readonly disposal = new AbortController();
  /** Those that hold a cache now. */
  private readonly batches = new Set<PaddedBatch>();
  private isFree = false;

  constructor(private readonly parts: OnnxModelParts) {
    this.id = parts.id;
    this.config = parts.config;
    this.tokenizer = parts.tokenizer;
    this.capabilities = { embeddingsIn: parts.table !== undefined, hiddenStates: parts.session.hasHidden };
  }

  /** Bytes of weights and caches, wherever the provider has them. */
  get liveBytes(): number {
    return this.isFree ? 0 : [...this.batches].reduce((sum, own) => sum + own.cacheBytes, this.parts.bytes);
  }

  async embed(ids: ArrayLike<number>): Promise<Float32Array> {
    const { hiddenSize, vocabSize } = this.config;
    const { table } = this.parts;
    if (!table) throw this.inability("does not give embeddings");
    checkIds(ids, vocabSize, "embed");
    return this.enqueue(undefined, async () => {
      const rows = new Float32Array(ids.length * hiddenSize);
      for (let i = 0; i < ids.length; i++) table.copyRow(ids[i]!, rows, i * hiddenSize);
      return rows;
    });
  }

  async forward(inputs: readonly SequenceInput[], options: ForwardOptions): Promise<Float32Array[]> {
    if (inputs.length === 0) throw new RangeError("forward: the batch is empty");
    if (options.output === "hidden" && !this.capabilities.hiddenStates) throw this.inability("gives no hidden states");
    const placed = inputs.map((input, index): Placed => {
      return { input, length: checkInput(input, this.config, `input ${index}`) };
    });
    this.checkKinds(inputs);
    return this.enqueue(options.signal, async () => {
      const signal = this.withDisposal(options.signal);
      const results = new Array<Float32Array>(inputs.length);
      const lengths = placed.map(({ length }) => length);
      for (const group of this.groups(lengths, new Array(inputs.length).fill(0))) {
        const own = await this.forwardGroup(
          group.map((index) => placed[index]!),
          { ...options, signal },
        );
        group.forEach((index, row) => {
          results[index] = own[row]!;
        });
      }
      return results;
    });
  }

  async read(inputs: readonly SequenceInput[], options: ReadOptions): Promise<Reading> {
    if (!this.capabilities.hiddenStates || !this.capabilities.embeddingsIn) throw this.inability("cannot be read on");
    const { room } = options;
    const lengths = checkReading(inputs, options, this.config);
    const parts: { batch: PaddedBatch; group: number[] }[] = [];
    const drop = () => {
      for (const { batch } of parts.splice(0)) this.end(batch);
    };
    /** One row for each sequence of a group, to their places among all. */
    const place = (newest: NewestRows, group: readonly number[], { hidden, logits }: Omit<Computed, "cache">) => {
      const { hiddenSize, vocabSize } = this.config;
      group.forEach((index, row) => {
        newest.hidden[index] = lastRowOf(hidden!, group.length, row, hiddenSize);
        newest.logits[index] = lastRowOf(logits!, group.length, row, vocabSize);
      });
    };
    const newest: NewestRows = { hidden: [], logits: [] };
    await this.enqueue(options.signal, async () => {
      const signal = this.withDisposal(options.signal);
      const wanted = (isLast: boolean): Wanted => (isLast ? { logits: "last", hidden: true } : {});
      try {
        for (const group of this.groups(lengths, new Array(inputs.length).fill(room))) {
          const placed = group.map((index): Placed => ({ input: inputs[index]!, length: lengths[index]! }));
          const batch = this.begin(placed);
          parts.push({ batch, group });
          for await (const { computed } of this.readInto(batch, placed, { wanted, everyRowToHead: false, signal })) {
            if (computed.logits) place(newest, group, computed);
          }
        }
      } catch (error) {
        drop();
        throw error;
      }
    });
    const append = async (rows: readonly Float32Array[]) => {
      const found: NewestRows = { hidden: [], logits: [] };
      for (const { batch, group } of parts) {
        await turnOfEvents();
        const next = group.map((index): Placed => ({ input: { embeddings: rows[index]! }, length: 1 }));
        const columns = this.columnsOf(next, 1, 0, 1);
        place(found, group, await batch.append(columns, 1, { logits: "last", hidden: true }));
      }
      return found;
    };
    return openReading({
      ...{ newest, sequences: inputs.length, room, append, drop },
      ...{ config: this.config, queue: this.queue, enqueue: (signal, work) => this.enqueue(signal, work) },
    });
  }

  async generate(requests: readonly GenerateRequest[], options: GenerateOptions = {}): Promise<GenerateResult[]> {
    if (requests.length === 0) throw new RangeError("generate: the batch is empty");
    const sequences = requests.map((request, index) => {
      const length = checkRequest(request, this.config, `request ${index}`);
      const emit = (id: number, text: string) => options.onToken?.({ request: index, id, text });
      return new WrittenSequence(request, index, length, this.config, this.tokenizer, emit);
    });
    this.checkKinds(requests.map(({ input }) => input));
    const active = sequences.filter(({ hasEnded }) => !hasEnded);
    if (!options.signal?.aborted) {
      await this.enqueue(undefined, async () => {
        const signal = this.withDisposal(options.signal);
        const lengths = active.map(({ length }) => length);
        const later = active.map(({ request }) => request.maxTokens);
        for (const group of this.groups(lengths, later)) {
          if (signal.aborted) break;
          await this.generateGroup(
            group.map((index) => active[index]!),
            signal,
          );
        }
        this.disposal.signal.throwIfAborted();
      });
    }
    return sequences.map((sequence) => sequence.result());
  }

  /** Frees everything: at once, or, when a call is running, as soon as that has noticed. Its caller gets an error. */
  dispose(): void {
    if (this.disposal.signal.aborted) return;
    this.disposal.abort(new Error(`model ${this.id} has been disposed of`));
    const free = async () => {
      this.isFree = true;
      for (const batch of this.batches) this.end(batch);
      await this.parts.session.release();
    };
    if (this.queue.isIdle) void free();
    else void this.queue.run(free);
  }

  private async forwardGroup(
    placed: readonly Placed[],
    { output, lastOnly = false, signal }: ForwardOptions,
  ): Promise<Float32Array[]> {
    const width = output === "logits" ? this.config.vocabSize : this.config.hiddenSize;
    const longest = Math.max(...placed.map(({ length }) => length));
    const results = placed.map(({ length }) => new Float32Array((lastOnly ? 1 : length) * width));
    const wanted = (isLast: boolean): Wanted => {
      if (lastOnly && !isLast) return {};
      return output === "hidden" ? { hidden: true } : { logits: lastOnly ? "last" : "all" };
    };
    const everyRowToHead = output === "logits" && !lastOnly;
    for await (const { start, columns, computed } of this.readThrough(placed, { wanted, everyRowToHead, signal })) {
      const values = output === "hidden" ? computed.hidden : computed.logits;
      if (!values) continue;
      const rows = values.length / (placed.length * width);
      placed.forEach(({ length }, sequence) => {
        // Rows of `values` are the last ones of this run's columns.
        const firstColumn = start + columns - rows;
        const skipped = Math.max(0, longest - length - firstColumn, lastOnly ? rows - 1 : 0);
        const from = (sequence * rows + skipped) * width;
        const to = (sequence + 1) * rows * width;
        const at = lastOnly ? 0 : (firstColumn + skipped - (longest - length)) * width;
        if (from < to) results[sequence]!.set(values.subarray(from, to), at);
      });
    }
    return results;
  }

  /** Writes until all sequences have ended, or the signal says so. */
  private async generateGroup(sequences: readonly WrittenSequence[], signal: AbortSignal): Promise<void> {
    const wanted = (isLast: boolean): Wanted => (isLast ? { logits: "last" } : {});
    const placed = sequences.map(({ request, length }): Placed => ({ input: request.input, length }));
    let rows = sequences;
    try {
      for await (const { batch, computed } of this.readThrough(placed, { wanted, everyRowToHead: false, signal })) {
        let { logits } = computed;
        let lastTurn = performance.now();
        while (logits) {
          const { vocabSize } = this.config;
          rows.forEach((sequence, row) => {
            if (!sequence.hasEnded) sequence.take(logits!.subarray(row * vocabSize, (row + 1) * vocabSize));
          });
          const live = rows.flatMap(({ hasEnded }, row) => (hasEnded ? [] : [row]));
          if (live.length === 0) break;
          // Rows of sequences that have ended cost as much as others; leaving them out costs a copy of the cache.
          if (live.length <= rows.length / 2) {
            await batch.keep(live);
            rows = live.map((row) => rows[row]!);
          }
          if (performance.now() - lastTurn > TURN_MS) {
            await turnOfEvents();
            lastTurn = performance.now();
          }
          if (signal.aborted) break;
          const next = rows.map(({ lastId }): Placed => ({ input: { ids: [lastId] }, length: 1 }));
          ({ logits } = await batch.append(this.columnsOf(next, 1, 0, 1), 1, { logits: "last" }));
        }
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** An empty block for these sequences. Ends with `end`. */
  private begin(placed: readonly Placed[]): PaddedBatch {
    const longest = Math.max(...placed.map(({ length }) => length));
    const padding = placed.map(({ length }) => longest - length);
    const batch = new PaddedBatch(this.parts.session, padding, this.config.maxPositions);
    this.batches.add(batch);
    return batch;
  }

  private end(batch: PaddedBatch): void {
    this.batches.delete(batch);
    batch.dispose();
  }

  /** Reads sequences run by run; their block is gone when this ends. */
  private async *readThrough(
    placed: readonly Placed[],
    options: RunOptions,
  ): AsyncGenerator<Run & { batch: PaddedBatch }> {
    const batch = this.begin(placed);
    try {
      for await (const run of this.readInto(batch, placed, options)) yield { ...run, batch };
    } finally {
      this.end(batch);
    }
  }

  private async *readInto(
    batch: PaddedBatch,
    placed: readonly Placed[],
    { wanted, everyRowToHead, signal }: RunOptions,
  ): AsyncGenerator<Run> {
    const longest = Math.max(...placed.map(({ length }) => length));
    const perRun = this.columnsPerRun(placed.length, everyRowToHead);
    for (let start = 0; start < longest; start += perRun) {
      await turnOfEvents();
      signal?.throwIfAborted();
      const columns = Math.min(perRun, longest - start);
      const input = this.columnsOf(placed, longest, start, columns);
      const computed = await batch.append(input, columns, wanted(start + columns === longest));
      yield { start, columns, computed };
    }
  }

  /** Columns [start, start + columns) of sequences that end at column `longest`, as the session takes them. */
  private columnsOf(placed: readonly Placed[], longest: number, start: number, columns: number) {
    const { session, table } = this.parts;
    const { hiddenSize } = this.config;
    const ids = session.takes === "ids" ? new BigInt64Array(placed.length * columns) : undefined;
    const rows = new Float32Array(ids ? 0 : placed.length * columns * hiddenSize);
    placed.forEach(({ input, length }, sequence) => {
      const padding = longest - length;
      for (let column = Math.max(start, padding); column < start + columns; column++) {
        const position = column - padding;
        const row = sequence * columns + column - start;
        if ("embeddings" in input) {
          const from = position * hiddenSize;
          rows.set(input.embeddings.subarray(from, from + hiddenSize), row * hiddenSize);
        } else if (ids) {
          ids[row] = BigInt(input.ids[position]!);
        } else {
          table?.copyRow(input.ids[position]!, rows, row * hiddenSize);
        }
      }
    });
    return ids ?? rows;
  }

  private columnsPerRun(batch: number, everyRowToHead: boolean): number {
    const { session } = this.parts;
    const hasAllLogits = everyRowToHead || !session.keepsLastLogits;
    return Math.max(1, Math.floor(rowsPerRun(this.config, session.runtime.provider, hasAllLogits) / batch));
  }

  private groups(lengths: readonly number[], later: readonly number[]): number[][] {
    const { session, canPad } = this.parts;
    const maxPositions = Math.floor(CACHE_BYTES / session.positionBytes);
    return groupSequences(lengths, later, { canPad, maxPositions, maxSequences: session.maxSequences });
  }

  private checkKinds(inputs: readonly SequenceInput[]): void {
    if (this.capabilities.embeddingsIn) return;
    if (inputs.some((input) => "embeddings" in input)) throw this.inability("takes no embeddings");
  }

  private inability(what: string): Error {
    return new Error(`model ${this.id} ${what}: its ONNX export only leads from token ids to logits`);
  }

  private withDisposal(signal: AbortSignal | undefined): AbortSignal {
    return signal ? AbortSignal.any([signal, this.disposal.signal]) : this.disposal.signal;
  }

  private enqueue<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    return this.queue.run(async () => {
      this.withDisposal(signal).throwIfAborted();
      return work();
    });
  }
}

/** The last row of one of the sequences of a block. */
function lastRowOf(values: Float32Array, sequences: number, sequence: number, width: number): Float32Array {
  const end = ((sequence + 1) * values.length) / sequences;
  return values.slice(end - width, end);
}
