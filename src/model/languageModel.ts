/**
 * What agents and systems see of a language model. Every engine implements this interface; nothing above
 * `model/` asks which engine it has. Engines that cannot do a thing say so in `capabilities`.
 */
import type { ModelConfig } from "../checkpoint/config";
import type { ModelTokenizer } from "../text/tokenizer";

/** One sequence to be read: token ids, or embeddings of shape [T, hiddenSize] as row-major f32. */
export type SequenceInput = { ids: ArrayLike<number> } | { embeddings: Float32Array };

export interface SamplingOptions {
  /** 0 means greedy (argmax). Default 0. */
  temperature?: number;
  /** Keep the k most probable tokens; 0 keeps all. Default 0. */
  topK?: number;
  /** Keep the smallest set of tokens whose probability sums to at least topP. Default 1. */
  topP?: number;
  /** Drop tokens less probable than minP times the most probable one. Default 0. */
  minP?: number;
  /** Divide positive (multiply negative) logits of tokens seen in prompt or output, as in CTRL. Default 1. */
  repetitionPenalty?: number;
  /** Seeds the counter-based generator; the same seed on the same device gives the same tokens. Default 0. */
  seed?: number;
}

export interface GenerateRequest extends SamplingOptions {
  input: SequenceInput;
  /** At most this many new tokens. */
  maxTokens: number;
  /** Further end tokens beside the checkpoint's own. */
  stopIds?: readonly number[];
}

export type FinishReason = "stop" | "length" | "aborted";

export interface GenerateResult {
  /** New token ids without the end token. */
  ids: number[];
  /** Decoded text without special tokens skipped: what the model wrote, verbatim, less the end token. */
  text: string;
  finishReason: FinishReason;
  promptTokens: number;
}

/** A piece of text that became final (never half a character) in one sequence of a batch. */
export interface TokenEvent {
  /** Index into the requests. */
  request: number;
  id: number;
  /** Newly completed text; may be empty while a multi-byte character is incomplete. */
  text: string;
}

export interface GenerateOptions {
  signal?: AbortSignal;
  onToken?: (event: TokenEvent) => void;
}

export interface ForwardOptions {
  /** "logits" -> [T, vocabSize]; "hidden" -> the state after the final norm, [T, hiddenSize]. */
  output: "logits" | "hidden";
  /** Only the last row of each sequence. Default false. */
  lastOnly?: boolean;
  signal?: AbortSignal;
}

/** What was computed of the newest row of each sequence. */
export interface NewestRows {
  /** The state after the final norm, [hiddenSize] each. */
  hidden: Float32Array[];
  /** [vocabSize] each. */
  logits: Float32Array[];
}

export interface ReadOptions {
  /** Rows that each sequence may be read on by. */
  room: number;
  signal?: AbortSignal;
}

/**
 * Sequences whose keys and values are kept, to be read on one row at a time. Other calls of the model may come in
 * between. Ends with `dispose`, or with the model.
 */
export interface Reading {
  readonly newest: NewestRows;
  /**
   * @param rows an input embedding for each sequence, [hiddenSize] each
   * @throws RangeError for rows of another size or number, and beyond the room; after a failure nothing more can be read
   */
  append(rows: readonly Float32Array[], signal?: AbortSignal): Promise<NewestRows>;
  dispose(): void;
}

export interface ModelCapabilities {
  embeddingsIn: boolean;
  hiddenStates: boolean;
}

export interface LanguageModel {
  /** Directory name under public/models, hub id, or a name chosen by the caller. */
  readonly id: string;
  readonly config: ModelConfig;
  readonly tokenizer: ModelTokenizer;
  readonly capabilities: ModelCapabilities;
  /** GPU bytes held by weights and caches of this model. 0 after dispose(). */
  readonly liveBytes: number;
  /** Rows of the input embedding, [ids.length, hiddenSize]. */
  embed(ids: ArrayLike<number>): Promise<Float32Array>;
  /** One pass over a ragged batch without keeping a cache. One result per input, row-major. */
  forward(inputs: readonly SequenceInput[], options: ForwardOptions): Promise<Float32Array[]>;
  /** Reads a ragged batch and keeps it. @throws as `forward`; where the model gives no hidden states */
  read(inputs: readonly SequenceInput[], options: ReadOptions): Promise<Reading>;
  /** All requests as one ragged batch; results in the order of the requests. */
  generate(requests: readonly GenerateRequest[], options?: GenerateOptions): Promise<GenerateResult[]>;
  dispose(): void;
}
