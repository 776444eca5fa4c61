/** Reads prompts: the rows of a ragged batch in chunks that keep the device responsive. */
import type { ModelConfig } from "../checkpoint/config";
import type { Gpu } from "../gpu/device";
import type { DispatchEncoder } from "../gpu/encoder";
import type { Decoder } from "./decoder";
import type { KvCache } from "./kvCache";
import type { SequenceInput } from "./languageModel";
import { EMBEDDING_ROW, type PassBuffers, type PassRow, type RowMoves } from "./pass";
import { padded } from "./weights";

/** Sequences and where each has its positions in the cache. */
export interface PlacedInput {
  input: SequenceInput;
  length: number;
  cacheStart: number;
}

/** One chunk: rows [start, start + count) of all rows of the batch, which are the pass's rows 0 to count. */
interface Chunk {
  start: number;
  count: number;
}

/** Multiply-add pairs that a device surely does in a millisecond. Too low costs little, too high trips watchdogs. */
const OPERATIONS_PER_MS = { software: 1.5e6, hardware: 5e7 };

/** Drivers reset a device that is busy with one dispatch for seconds; a page that shares it stutters much earlier. */
const DISPATCH_MS = 50;

const TILE_ROWS = 16;

/** Bounds the activations. */
const MAX_CHUNK_ROWS = 4096;

/** The most rows of which no dispatch takes too long, at positions up to `longest`, with `headRows` going to the head. */
export function maxChunkRows(
  { gpu, config }: { gpu: Pick<Gpu, "isSoftware" | "limits">; config: ModelConfig },
  longest: number,
  everyRowToHead: boolean,
): number {
  const { hiddenSize, intermediateSize, heads, headDim, kvHeads, vocabSize } = config;
  const perRow = Math.max(
    hiddenSize * (heads + 2 * kvHeads) * headDim,
    hiddenSize * 2 * intermediateSize,
    2 * heads * headDim * longest,
    everyRowToHead ? hiddenSize * vocabSize : 0,
  );
  const operations = OPERATIONS_PER_MS[gpu.isSoftware ? "software" : "hardware"] * DISPATCH_MS;
  const widest = Math.max(hiddenSize, (heads + 2 * kvHeads) * headDim, heads * padded(headDim), intermediateSize);
  const { maxBindingBytes, maxBufferBytes } = gpu.limits;
  const fitting = Math.floor(Math.min(maxBindingBytes, maxBufferBytes) / (padded(widest) * 4));
  const rows = Math.max(1, Math.min(MAX_CHUNK_ROWS, fitting, Math.floor(operations / perRow)));
  // Products take rows in tiles of up to 16: half a tile costs as much as a whole one.
  return rows >= TILE_ROWS
    ? rows - (rows % TILE_ROWS)
    : rows >= TILE_ROWS / 2 && fitting >= TILE_ROWS
      ? TILE_ROWS
      : rows;
}

export interface PrefillOptions {
  pass: PassBuffers;
  cache: KvCache;
  /** The most rows of a pass: `maxChunkRows` or fewer. */
  chunkRows: number;
  signal?: AbortSignal | undefined;
}

/**
 * Runs all rows of the inputs through the decoder. Of each chunk, the hidden states before the final norm are in the
 * first rows of workspace.hidden when `encodeOutput` adds what shall happen with them; `afterChunk` runs when the chunk
 * is done.
 */
export function prefillEveryRow(
  decoder: Decoder,
  inputs: readonly PlacedInput[],
  options: PrefillOptions & {
    encodeOutput: (encoder: DispatchEncoder) => void;
    afterChunk: (chunk: Chunk) => Promise<void>;
  },
): Promise<void> {
  const { pass, cache, encodeOutput, afterChunk } = options;
  const encode = (encoder: DispatchEncoder) => {
    decoder.encodeLayers(encoder, pass, cache);
    encodeOutput(encoder);
  };
  return prefillChunks(decoder, inputs, options, encode, afterChunk);
}

/**
 * Runs all rows of the inputs through the decoder as far as their last rows need it. These rows' hidden states before
 * the final norm are then in workspace.last, in the order of the inputs, and the cache is full.
 */
export async function prefillLastRows(
  decoder: Decoder,
  inputs: readonly PlacedInput[],
  options: PrefillOptions & { moves: RowMoves },
): Promise<void> {
  const { pass, cache, moves } = options;
  await prefillChunks(decoder, inputs, options, (encoder, chunk) => {
    decoder.encodePrompt(encoder, pass, cache);
    const pairs = lastRowsIn(inputs, chunk);
    if (pairs.length > 0) {
      moves.set(pairs);
      decoder.encodeGather(encoder, moves);
    }
  });
  pass.set(
    inputs.map(({ cacheStart, length }, sequence) => ({ cacheStart, position: length - 1, sequence, drawn: 0, id: 0 })),
  );
  const encoder = decoder.gpu.encode("last rows");
  decoder.encodeLastRows(encoder, pass, cache);
  encoder.submit();
}

async function prefillChunks(
  decoder: Decoder,
  inputs: readonly PlacedInput[],
  { pass, chunkRows, signal }: PrefillOptions,
  encode: (encoder: DispatchEncoder, chunk: Chunk) => void,
  afterChunk?: (chunk: Chunk) => Promise<void>,
): Promise<void> {
  const { gpu, workspace, kernels } = decoder;
  const rowBytes = padded(decoder.config.hiddenSize) * 4;
  const tileRows = "tileRows" in kernels.attention ? kernels.attention.tileRows : 1;
  const totalRows = inputs.reduce((sum, { length }) => sum + length, 0);
  let sequence = 0;
  let position = 0;
  for (let start = 0; start < totalRows; start += chunkRows) {
    signal?.throwIfAborted();
    const count = Math.min(chunkRows, totalRows - start);
    const rows: PassRow[] = [];
    while (rows.length < count) {
      const { input, length, cacheStart } = inputs[sequence]!;
      const end = Math.min(length, position + count - rows.length);
      if ("embeddings" in input) {
        const embeddings = embeddingRows(input.embeddings, position, end, decoder.config.hiddenSize);
        gpu.write(workspace.hidden, rows.length * rowBytes, embeddings);
      }
      for (; position < end; position++) {
        const id = "ids" in input ? input.ids[position]! : EMBEDDING_ROW;
        rows.push({ cacheStart, position, sequence, drawn: 0, id });
      }
      if (position === length) {
        sequence++;
        position = 0;
      }
    }
    pass.set(rows, tileRows);
    const encoder = gpu.encode("prefill");
    encode(encoder, { start, count });
    encoder.submit();
    // Waiting keeps the queue short, so that an abort takes effect and buffers are free to be written again.
    await gpu.finish();
    await afterChunk?.({ start, count });
  }
}

/** The pairs (row of the chunk, sequence) of the last rows of the sequences that end in a chunk. */
function lastRowsIn(inputs: readonly PlacedInput[], { start, count }: Chunk): [number, number][] {
  const moves: [number, number][] = [];
  let end = 0;
  inputs.forEach(({ length }, sequence) => {
    end += length;
    if (end > start && end <= start + count) moves.push([end - 1 - start, sequence]);
  });
  return moves;
}

/** Rows [start, end) of embeddings, at the pitch of the workspace. */
function embeddingRows(embeddings: Float32Array, start: number, end: number, width: number): Float32Array {
  const pitch = padded(width);
  if (pitch === width) return embeddings.subarray(start * width, end * width);
  const rows = new Float32Array((end - start) * pitch);
  for (let row = start; row < end; row++) {
    rows.set(embeddings.subarray(row * width, (row + 1) * width), (row - start) * pitch);
  }
  return rows;
}
