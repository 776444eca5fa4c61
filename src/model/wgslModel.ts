/** Our own engine behind the LanguageModel interface: a checkpoint's decoder on our WGSL kernels. */
import type { Checkpoint } from "../checkpoint/checkpoint";
import type { Quantization } from "../checkpoint/quantize";
import type { Gpu } from "../gpu/device";
import { GpuOutOfMemoryError } from "../gpu/errors";
import { BufferScope } from "../gpu/scope";
import type { ModelTokenizer } from "../text/tokenizer";
import { Decoder } from "./decoder";
import { type GenerateBuffers, generateBatch, positionsOf } from "./generate";
import { buildKernels } from "./kernels";
import { KvCache } from "./kvCache";
import type {
  ForwardOptions,
  GenerateOptions,
  GenerateRequest,
  GenerateResult,
  LanguageModel,
  NewestRows,
  Reading,
  ReadOptions,
  SequenceInput,
} from "./languageModel";
import { PassBuffers, RowMoves } from "./pass";
import { maxChunkRows, type PlacedInput, prefillEveryRow, prefillLastRows } from "./prefill";
import { joinedRows, KeptSequences, openReading } from "./reading";
import { checkIds, checkInput, checkReading, checkRequest } from "./requests";
import { SamplingBuffers } from "./samplingBuffers";
import { SerialQueue } from "./serialQueue";
import type { CacheDtype } from "./shaders";
import { type DecoderWeights, loadWeights, padded } from "./weights";
import { Workspace } from "./workspace";

export interface LoadWgslModelOptions {
  /** What the model is called. */
  id: string;
  gpu: Gpu;
  checkpoint: Checkpoint;
  tokenizer: ModelTokenizer;
  /** Number format of the key/value cache. Default "f32"; "f16" halves its memory at a relative error of 5e-4. */
  kvDtype?: CacheDtype;
  /** How matrices are kept: as stored, or in 8 or 4 bits. Default "stored". */
  quantization?: Quantization;
  onProgress?: (loadedBytes: number, totalBytes: number) => void;
  signal?: AbortSignal;
}

/** Bytes on the device, by what they are for. */
export interface ModelBytes {
  weights: number;
  keyValueCache: number;
  activations: number;
}

/** A model of our own engine. */
export interface WgslLanguageModel extends LanguageModel {
  /** What `liveBytes` consists of now: caches and activations come with the first use and grow with longer texts. */
  readonly bytes: ModelBytes;
  /** On the device, for the differentiable decoder, which may read the same matrices until the model is disposed of. */
  readonly weights: DecoderWeights;
}

/** Logits that are read back at a time by `forward`. */
const LOGITS_BYTES = 64 * 2 ** 20;

/**
 * Uploads a checkpoint and compiles its kernels. Calls of the model are queued, so that they may come at any time from
 * anywhere; `generate` splits batches that exceed the device's limits.
 * @throws GpuOutOfMemoryError, GpuFailure, DeviceLostError, CheckpointError; the signal's reason after an abort.
 * Nothing stays allocated then.
 */
export async function loadWgslModel(options: LoadWgslModelOptions): Promise<WgslLanguageModel> {
  const { gpu, checkpoint, kvDtype = "f32" } = options;
  const scope = new BufferScope(gpu);
  try {
    const weights = await loadWeights(scope, checkpoint, options);
    const kernels = await buildKernels(scope, checkpoint.config, weights, kvDtype);
    const workspace = new Workspace(scope, checkpoint.config);
    await gpu.finish();
    options.signal?.throwIfAborted();
    const decoder = new Decoder(gpu, checkpoint.config, weights, kernels, workspace);
    return new WgslModel(options.id, options.tokenizer, decoder, scope, {
      pass: new PassBuffers(scope),
      moves: new RowMoves(scope),
      cache: new KvCache(scope, checkpoint.config, kvDtype),
      sampling: new SamplingBuffers(scope, checkpoint.config.vocabSize),
    });
  } catch (error) {
    scope.freeAll();
    throw error;
  }
}

class WgslModel implements WgslLanguageModel {
  readonly capabilities = { embeddingsIn: true, hiddenStates: true };
  private readonly queue = new SerialQueue();
  /** Ends what is running when the model is disposed of. */
  private readonly disposal = new AbortController();
  /** Those that have not ended. */
  private readonly kept = new Set<KeptSequences>();

  constructor(
    readonly id: string,
    readonly tokenizer: ModelTokenizer,
    private readonly decoder: Decoder,
    private readonly scope: BufferScope,
    private readonly buffers: GenerateBuffers,
  ) {}

  get config() {
    return this.decoder.config;
  }

  get weights(): DecoderWeights {
    return this.decoder.weights;
  }

  get liveBytes(): number {
    return this.scope.liveBytes;
  }

  get bytes(): ModelBytes {
    if (this.disposal.signal.aborted) return { weights: 0, keyValueCache: 0, activations: 0 };
    const keyValueCache = [...this.kept].reduce((sum, own) => sum + own.cacheBytes, this.buffers.cache.liveBytes);
    const activations = this.decoder.workspace.liveBytes;
    return { weights: this.liveBytes - keyValueCache - activations, keyValueCache, activations };
  }

  async embed(ids: ArrayLike<number>): Promise<Float32Array> {
    const { hiddenSize, vocabSize } = this.config;
    checkIds(ids, vocabSize, "embed");
    return this.enqueue(undefined, async () => {
      const { decoder, buffers } = this;
      const result = new Float32Array(ids.length * hiddenSize);
      const chunkRows = maxChunkRows(decoder, 1, false);
      for (let start = 0; start < ids.length; start += chunkRows) {
        const count = Math.min(chunkRows, ids.length - start);
        await decoder.workspace.reserve({ rows: count });
        await buffers.pass.reserve(count);
        const rows = Array.from({ length: count }, (_, i) => ({
          cacheStart: 0,
          position: 0,
          sequence: i,
          drawn: 0,
          id: ids[start + i]!,
        }));
        buffers.pass.set(rows);
        const encoder = decoder.gpu.encode("embed");
        decoder.encodeEmbedding(encoder, buffers.pass);
        encoder.submit();
        result.set(await this.readRows(decoder.workspace.hidden, count, hiddenSize), start * hiddenSize);
      }
      return result;
    });
  }

  async forward(inputs: readonly SequenceInput[], options: ForwardOptions): Promise<Float32Array[]> {
    if (inputs.length === 0) throw new RangeError("forward: the batch is empty");
    const lengths = inputs.map((input, index) => checkInput(input, this.config, `input ${index}`));
    return this.enqueue(options.signal, async () => {
      const signal = this.withDisposal(options.signal);
      const results: Float32Array[] = [];
      for (const { from, to } of this.split(lengths)) {
        const part = await this.withinMemory(from, to, (start, end) =>
          this.forwardBatch(inputs.slice(start, end), lengths.slice(start, end), { ...options, signal }),
        );
        results.push(...part);
      }
      return results;
    });
  }

  async read(inputs: readonly SequenceInput[], options: ReadOptions): Promise<Reading> {
    const { room } = options;
    const lengths = checkReading(inputs, options, this.config);
    const parts: KeptSequences[] = [];
    const drop = () => {
      for (const part of parts.splice(0)) {
        this.kept.delete(part);
        part.dispose();
      }
    };
    const newest = await this.enqueue(options.signal, async () => {
      const signal = this.withDisposal(options.signal);
      const found: NewestRows[] = [];
      const { decoder, buffers } = this;
      /** What fits stays, so that what is tried again is only the rest. */
      const readPart = async (from: number, to: number) => {
        const own = inputs.slice(from, to).map((input, i) => ({ input, length: lengths[from + i]! }));
        const cache = buffers.cache.another();
        const part = await KeptSequences.read(decoder, buffers, this.readRows, cache, own, { room, signal });
        parts.push(part.sequences);
        this.kept.add(part.sequences);
        return [part.newest];
      };
      try {
        for (const { from, to } of this.split(lengths.map((length) => length + room))) {
          found.push(...(await this.withinMemory(from, to, readPart)));
        }
      } catch (error) {
        drop();
        throw error;
      }
      return joinedRows(found);
    });
    const append = async (rows: readonly Float32Array[]) => {
      const found: NewestRows[] = [];
      let from = 0;
      for (const part of parts) {
        found.push(await part.append(rows.slice(from, from + part.size)));
        from += part.size;
      }
      return joinedRows(found);
    };
    return openReading({
      ...{ newest, sequences: inputs.length, room, append, drop },
      ...{ config: this.config, queue: this.queue, enqueue: (signal, work) => this.enqueue(signal, work) },
    });
  }

  async generate(requests: readonly GenerateRequest[], options: GenerateOptions = {}): Promise<GenerateResult[]> {
    if (requests.length === 0) throw new RangeError("generate: the batch is empty");
    const checked = requests.map((request, index) => {
      const promptTokens = checkRequest(request, this.config, `request ${index}`);
      return { request, index, promptTokens };
    });
    const results = checked.map(({ request, promptTokens }): GenerateResult => {
      const finishReason = request.maxTokens === 0 ? "length" : "aborted";
      return { ids: [], text: "", finishReason, promptTokens };
    });
    const active = checked.filter(({ request }) => request.maxTokens > 0);
    if (options.signal?.aborted) return results;
    await this.enqueue(undefined, async () => {
      const { decoder, tokenizer, buffers } = this;
      const signal = this.withDisposal(options.signal);
      const positions = active.map(({ request, promptTokens }) => positionsOf(request, promptTokens));
      for (const { from, to } of this.split(positions)) {
        if (signal.aborted) break;
        const part = await this.withinMemory(from, to, (start, end) =>
          generateBatch(decoder, tokenizer, buffers, active.slice(start, end), { ...options, signal }),
        );
        part.forEach((result, i) => {
          results[active[from + i]!.index] = result;
        });
      }
      this.disposal.signal.throwIfAborted();
    });
    return results;
  }

  /** Frees everything: at once, or, when a call is running, as soon as that has noticed. Its caller gets an error. */
  dispose(): void {
    if (this.disposal.signal.aborted) return;
    this.disposal.abort(new Error(`model ${this.id} has been disposed of`));
    const free = () => {
      this.scope.freeAll();
      this.decoder.gpu.pool.drain();
    };
    if (this.queue.isIdle) free();
    else void this.queue.run(async () => free());
  }

  private withDisposal(signal: AbortSignal | undefined): AbortSignal {
    return signal ? AbortSignal.any([signal, this.disposal.signal]) : this.disposal.signal;
  }

  private async forwardBatch(
    inputs: readonly SequenceInput[],
    lengths: readonly number[],
    { output, lastOnly = false, signal }: ForwardOptions,
  ): Promise<Float32Array[]> {
    const { decoder, buffers } = this;
    const { gpu, workspace } = decoder;
    const { hiddenSize, vocabSize } = this.config;
    const width = output === "logits" ? vocabSize : hiddenSize;
    const everyRowToHead = output === "logits" && !lastOnly;
    let rows = 0;
    const placed = inputs.map((input, i): PlacedInput => {
      const place = { input, length: lengths[i]!, cacheStart: rows };
      rows += lengths[i]!;
      return place;
    });
    const longest = Math.max(...lengths);
    const logitsLimit = Math.max(1, Math.floor(this.maxLogitsBytes / (padded(vocabSize) * 4)));
    const chunkRows = Math.min(
      rows,
      maxChunkRows(decoder, longest, everyRowToHead),
      everyRowToHead ? logitsLimit : rows,
    );
    const headRows = Math.min(inputs.length, logitsLimit);
    await buffers.cache.reserve(rows, longest);
    await workspace.reserve({
      rows: Math.max(chunkRows, lastOnly ? inputs.length : 0),
      lastRows: lastOnly ? inputs.length : 0,
      logitRows: output === "hidden" ? 0 : lastOnly ? headRows : chunkRows,
    });
    await buffers.pass.reserve(Math.max(chunkRows, lastOnly ? inputs.length : 0));
    await buffers.moves.reserve(lastOnly ? inputs.length : 0);

    const all = new Float32Array((lastOnly ? inputs.length : rows) * width);
    const { pass, moves, cache } = buffers;
    if (!lastOnly) {
      await prefillEveryRow(decoder, placed, {
        pass,
        cache,
        chunkRows,
        signal,
        encodeOutput: (encoder) => {
          decoder.encodeFinalNorm(encoder, pass, workspace.hidden);
          if (output === "logits") decoder.encodeHead(encoder, pass);
        },
        afterChunk: async ({ start, count }) => {
          const source = output === "logits" ? workspace.logits : workspace.normed;
          all.set(await this.readRows(source, count, width), start * width);
        },
      });
      return placed.map(({ cacheStart, length }) => all.slice(cacheStart * width, (cacheStart + length) * width));
    }
    await prefillLastRows(decoder, placed, { pass, moves, cache, chunkRows, signal });
    const perRead = output === "logits" ? headRows : inputs.length;
    for (let start = 0; start < inputs.length; start += perRead) {
      const count = Math.min(perRead, inputs.length - start);
      const encoder = gpu.encode("head");
      // Kernels take rows from the beginning of a buffer.
      moves.set(Array.from({ length: count }, (_, i) => [start + i, i] as const));
      decoder.encodeRows(encoder, moves, workspace.last, workspace.hidden);
      decoder.encodeFinalNorm(encoder, moves, workspace.hidden);
      if (output === "logits") decoder.encodeHead(encoder, moves);
      encoder.submit();
      const source = output === "logits" ? workspace.logits : workspace.normed;
      all.set(await this.readRows(source, count, width), start * width);
    }
    return inputs.map((_, i) => all.slice(i * width, (i + 1) * width));
  }

  private get maxLogitsBytes(): number {
    const { maxBindingBytes, maxBufferBytes } = this.decoder.gpu.limits;
    return Math.min(maxBindingBytes, maxBufferBytes, LOGITS_BYTES);
  }

  /** The first rows of a buffer whose rows are padded. */
  private readonly readRows = async (buffer: GPUBuffer, rows: number, width: number): Promise<Float32Array> => {
    const pitch = padded(width);
    const read = new Float32Array(await this.decoder.gpu.read(buffer, 0, rows * pitch * 4));
    if (pitch === width) return read;
    const packed = new Float32Array(rows * width);
    for (let row = 0; row < rows; row++) packed.set(read.subarray(row * pitch, row * pitch + width), row * width);
    return packed;
  };

  /**
   * Runs of sequences that fit the cache and the logits together.
   * @param positions of each sequence
   * @throws RangeError when one alone does not fit
   */
  private *split(positions: readonly number[]): Generator<{ from: number; to: number }> {
    const { maxPositions } = this.buffers.cache;
    const { maxBindingBytes, maxBufferBytes } = this.decoder.gpu.limits;
    const maxSequences = Math.max(
      1,
      Math.floor(Math.min(maxBindingBytes, maxBufferBytes) / (padded(this.config.vocabSize) * 4)),
    );
    let from = 0;
    let sum = 0;
    for (let i = 0; i < positions.length; i++) {
      const own = positions[i]!;
      if (own > maxPositions) {
        throw new RangeError(`sequence ${i}: ${own} positions, and this device's buffers hold ${maxPositions}`);
      }
      if (i > from && (sum + own > maxPositions || i - from >= maxSequences)) {
        yield { from, to: i };
        from = i;
        sum = 0;
      }
      sum += own;
    }
    if (from < positions.length) yield { from, to: positions.length };
  }

  /**
   * Runs sequences [from, to) together, or in halves when the device has not enough memory for all. What other calls left
   * in the model's own cache is given up before.
   */
  private async withinMemory<T>(
    from: number,
    to: number,
    run: (from: number, to: number) => Promise<T[]>,
  ): Promise<T[]> {
    try {
      return await run(from, to);
    } catch (error) {
      if (!(error instanceof GpuOutOfMemoryError) || to - from < 2) throw error;
      this.buffers.cache.free();
      const middle = Math.ceil((from + to) / 2);
      const first = await this.withinMemory(from, middle, run);
      return [...first, ...(await this.withinMemory(middle, to, run))];
    }
  }

  private enqueue<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    return this.queue.run(async () => {
      this.withDisposal(signal).throwIfAborted();
      return work();
    });
  }
}
