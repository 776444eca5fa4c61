/**
 * Generation for a ragged batch. Prompts are read in chunks; then every pass writes one token of each sequence. Several
 * passes are submitted together: the token drawn by one is the input of the next without leaving the GPU, and only the
 * ids are read back. A sequence that ends within such a run is carried to its end, and the surplus is dropped.
 */
import type { ModelTokenizer } from "../text/tokenizer";
import type { Decoder } from "./decoder";
import { TOKENS_KEPT } from "./kernels";
import type { KvCache } from "./kvCache";
import type { GenerateOptions, GenerateRequest, GenerateResult } from "./languageModel";
import type { PassBuffers, PassRow, RowMoves } from "./pass";
import { maxChunkRows, type PlacedInput, prefillLastRows } from "./prefill";
import { NOT_FINITE, type SamplingBuffers } from "./samplingBuffers";
import { SequenceWriter } from "./sequenceWriter";

export interface GenerateBuffers {
  pass: PassBuffers;
  moves: RowMoves;
  cache: KvCache;
  sampling: SamplingBuffers;
}

/** Time that a submit may take: tokens should appear smoothly, and an abort should take effect soon. */
const SUBMIT_MS = 30;

/** Positions that a sequence may need beyond its own, as it is carried to the end of a submit. */
const SURPLUS = TOKENS_KEPT - 1;

/** One sequence while it is written. */
interface Sequence {
  request: GenerateRequest;
  /** Index into the caller's requests. */
  index: number;
  /** Number in this batch: where the GPU keeps its settings. */
  number: number;
  placed: PlacedInput;
  stopIds: ReadonlySet<number>;
  writer: SequenceWriter;
  drawn: number;
  lastId: number;
}

/** Positions in the cache that a request takes. */
export function positionsOf(request: GenerateRequest, promptTokens: number): number {
  return promptTokens + request.maxTokens + SURPLUS;
}

/**
 * Generates for requests that fit the cache together (`positionsOf` each). After an abort the results hold what was
 * written until then.
 * @param requests with their prompt lengths, checked, maxTokens at least 1
 * @throws GpuOutOfMemoryError, DeviceLostError, GpuFailure; Error when logits are not finite
 */
export async function generateBatch(
  decoder: Decoder,
  tokenizer: ModelTokenizer,
  { pass, moves, cache, sampling }: GenerateBuffers,
  requests: readonly { request: GenerateRequest; index: number; promptTokens: number }[],
  { signal, onToken }: GenerateOptions,
): Promise<GenerateResult[]> {
  const { gpu, workspace, config } = decoder;
  let positions = 0;
  const sequences = requests.map(({ request, index, promptTokens }, number): Sequence => {
    const placed = { input: request.input, length: promptTokens, cacheStart: positions };
    positions += positionsOf(request, promptTokens);
    const stopIds = new Set([...config.eosIds, ...(request.stopIds ?? [])]);
    const writer = new SequenceWriter(tokenizer, promptTokens, (id, text) => onToken?.({ request: index, id, text }));
    return { request, index, number, placed, stopIds, writer, drawn: 0, lastId: 0 };
  });
  const results = () => sequences.map(({ writer }) => writer.result());
  const placed = sequences.map((sequence) => sequence.placed);
  const promptRows = placed.reduce((sum, { length }) => sum + length, 0);
  const longest = Math.max(...requests.map(({ request, promptTokens }) => positionsOf(request, promptTokens)));
  const chunkRows = Math.min(promptRows, maxChunkRows(decoder, longest, false));

  await cache.reserve(positions, longest);
  await workspace.reserve({
    rows: Math.max(chunkRows, sequences.length),
    lastRows: sequences.length,
    logitRows: sequences.length,
  });
  await pass.reserve(Math.max(chunkRows, sequences.length));
  await moves.reserve(sequences.length);
  await sampling.reserve(sequences.length);
  sampling.set(
    sequences.map(({ request }) => ({ options: request, promptIds: "ids" in request.input ? request.input.ids : [] })),
  );

  try {
    await prefillLastRows(decoder, placed, { pass, moves, cache, chunkRows, signal });
  } catch (error) {
    if (signal?.aborted) return results();
    throw error;
  }

  // The first token comes from the prompts' last rows.
  let live = sequences;
  pass.set(live.map(rowOf));
  const first = gpu.encode("first token");
  decoder.encodeFinalNorm(first, pass, workspace.last);
  decoder.encodeHead(first, pass);
  decoder.encodeSample(first, pass, sampling);
  first.submit();
  let startMs = performance.now();
  let steps = 1;
  for (;;) {
    const tokens = new Uint32Array(await gpu.read(sampling.tokens, 0, live.length * TOKENS_KEPT * 4));
    const stepMs = (performance.now() - startMs) / steps;
    live = takeTokens(live, tokens, steps);
    if (live.length === 0 || signal?.aborted) return results();

    // Rows of sequences that have ended are left out from here on.
    pass.set(live.map(rowOf));
    const remaining = Math.max(...live.map(({ request, drawn }) => request.maxTokens - drawn));
    steps = Math.max(1, Math.min(TOKENS_KEPT, remaining, Math.round(SUBMIT_MS / stepMs)));
    startMs = performance.now();
    const encoder = gpu.encode("decode");
    for (let step = 0; step < steps; step++) {
      decoder.encodeLayers(encoder, pass, cache);
      decoder.encodeFinalNorm(encoder, pass, workspace.hidden);
      decoder.encodeHead(encoder, pass);
      decoder.encodeSample(encoder, pass, sampling);
    }
    encoder.submit();
  }
}

/** The row that reads a sequence's last token; before the first token, the row whose logits are drawn from. */
function rowOf({ placed, number, drawn, lastId }: Sequence): PassRow {
  return { cacheStart: placed.cacheStart, position: placed.length - 1 + drawn, sequence: number, drawn, id: lastId };
}

/** Hands each sequence its new tokens; returns those that go on. */
function takeTokens(live: readonly Sequence[], tokens: Uint32Array, steps: number): Sequence[] {
  return live.filter((sequence, row) => {
    const { request, stopIds, writer, index } = sequence;
    for (let step = 0; step < steps; step++) {
      const id = tokens[row * TOKENS_KEPT + (sequence.drawn % TOKENS_KEPT)]!;
      if (id === NOT_FINITE) {
        throw new Error(`request ${index}: the model's logits are not finite after ${sequence.drawn} new tokens`);
      }
      sequence.drawn++;
      sequence.lastId = id;
      if (stopIds.has(id)) {
        writer.finish("stop");
        return false;
      }
      const isLast = sequence.drawn === request.maxTokens;
      writer.push(id, isLast);
      if (isLast) {
        writer.finish("length");
        return false;
      }
    }
    return true;
  });
}
