/** Reads prompts: the rows of a ragged batch in chunks that keep the device responsive. */
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
export interface Chunk {
  start: number;
  count: number;
}

/** Multiply-add pairs that a device surely does in a millisecond. Too low costs little, too high trips watchdogs. */
const OPERATIONS_PER_MS = { software: 1.5e6, hardware: 5e7 };

/** Drivers reset a device that is busy with one dispatch for seconds; a page that shares it stutters much earlier. */
const DISPATCH_MS = 50;

/** Bounds the activations. */
const MAX_CHUNK_ROWS = 4096;

/** The most rows of which no dispatch takes too long, at positions up to `longest`, with `headRows` going to the head. */
export function maxChunkRows({ gpu, config }: Decoder, longest: number, everyRowToHead: boolean): number {
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
  return Math.max(1, Math.min(MAX_CHUNK_ROWS, fitting, Math.floor(operations / perRow)));
}

/**
 * Runs all rows of the inputs through the layers, chunk by chunk. After the layers of a chunk are encoded, `encodeMore`
 * adds what shall happen with the hidden states; `afterChunk` runs when the chunk is done.
 */
export async function prefill(
  decoder: Decoder,
  inputs: readonly PlacedInput[],
  {
    pass,
    cache,
    chunkRows,
    signal,
    encodeMore,
    afterChunk,
  }: {
    pass: PassBuffers;
    cache: KvCache;
    chunkRows: number;
    signal?: AbortSignal | undefined;
    encodeMore: (encoder: ReturnType<Decoder["gpu"]["encode"]>, chunk: Chunk) => void;
    afterChunk?: (chunk: Chunk) => Promise<void>;
  },
): Promise<void> {
  const { gpu, workspace } = decoder;
  const rowBytes = padded(decoder.config.hiddenSize) * 4;
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
    const { attention } = decoder.kernels;
    pass.set(rows, "tileRows" in attention ? attention.tileRows : 1);
    const encoder = gpu.encode("prefill");
    decoder.encodeLayers(encoder, pass, cache);
    encodeMore(encoder, { start, count });
    encoder.submit();
    // Waiting keeps the queue short, so that an abort takes effect and buffers are free to be written again.
    await gpu.finish();
    await afterChunk?.({ start, count });
  }
}

/** The pairs (row of the chunk, sequence) of the last rows of the sequences that end in a chunk. */
export function lastRowsIn(inputs: readonly PlacedInput[], { start, count }: Chunk): [number, number][] {
  const moves: [number, number][] = [];
  let end = 0;
  inputs.forEach(({ length }, sequence) => {
    end += length;
    if (end > start && end <= start + count) moves.push([end - 1 - start, sequence]);
  });
  return moves;
}

/** Adds the gathering of the chunk's last rows to workspace.last. */
export function encodeLastRows(
  decoder: Decoder,
  encoder: ReturnType<Decoder["gpu"]["encode"]>,
  moves: RowMoves,
  inputs: readonly PlacedInput[],
  chunk: Chunk,
): void {
  const pairs = lastRowsIn(inputs, chunk);
  if (pairs.length === 0) return;
  moves.set(pairs);
  decoder.encodeGather(encoder, moves, moves.pairs);
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
