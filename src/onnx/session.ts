/**
 * A decoder in ONNX as one function: new columns of a padded batch, and what was computed of those before. What the
 * model takes and gives is read from its names, which are those of usual exports (Optimum's, and our own writer's).
 */
import type { ModelConfig } from "../checkpoint/config";
import { decodeTensorF32 } from "../checkpoint/dtype";
import { CheckpointError } from "../checkpoint/errors";
import type { ExternalData, OnnxElementType, OnnxRuntime, OnnxSession, OnnxTensor } from "./runtime";

/** Key or value of one layer. */
interface CacheSlot {
  past: string;
  present: string;
  type: OnnxElementType;
  heads: number;
  width: number;
}

export interface Columns {
  /** [batch, columns] token ids, or [batch, columns, hiddenSize] embeddings. */
  input: BigInt64Array<ArrayBuffer> | Float32Array<ArrayBuffer>;
  batch: number;
  columns: number;
  /** [batch, cached + columns]: 1 from a sequence's first token on, 0 in the padding before it. */
  mask: BigInt64Array<ArrayBuffer>;
  /** [batch, columns], counted from each sequence's first token. */
  positions: BigInt64Array<ArrayBuffer>;
  /** By name; empty before the first columns. */
  cache: ReadonlyMap<string, OnnxTensor>;
}

export interface Wanted {
  /** Of the last column, or of all of them. */
  logits?: "last" | "all";
  hidden?: boolean;
}

export interface Computed {
  /** [batch, 1 or columns, vocabSize]. */
  logits?: Float32Array;
  /** [batch, columns, hiddenSize]. */
  hidden?: Float32Array;
  cache: Map<string, OnnxTensor>;
}

const PAST = /^past_key_values\.(\d+)\.(key|value)$/;
const WHOLE_NUMBERS = ["input_ids", "attention_mask", "position_ids", "num_logits_to_keep"];
const EMBEDDINGS = "inputs_embeds";
const KNOWN_INPUTS = [...WHOLE_NUMBERS, EMBEDDINGS];
const HIDDEN = "last_hidden_state";
const MAX_SEQUENCES = 64;

export class DecoderSession {
  readonly takes: "ids" | "embeddings";
  readonly hasHidden: boolean;
  /** Sequences of a block. */
  readonly maxSequences: number;
  readonly cacheSlots: readonly CacheSlot[];
  /** Number types of the inputs, by name. */
  private readonly types: ReadonlyMap<string, string>;

  private constructor(
    readonly runtime: OnnxRuntime,
    private readonly session: OnnxSession,
    private readonly label: string,
    private readonly config: ModelConfig,
  ) {
    const { inputMetadata, inputNames, outputNames } = session;
    const outputs = new Set(outputNames);
    const fail = (problem: string) => {
      const can = "only decoders from token ids to logits with past_key_values can be run";
      return new CheckpointError(`${label}: ${problem}; ${can}`);
    };
    const unknown = inputNames.filter((name) => !KNOWN_INPUTS.includes(name) && !PAST.test(name));
    if (unknown.length > 0) throw fail(`the model takes ${unknown.map((name) => `"${name}"`).join(", ")}`);
    const takesIds = inputNames.includes("input_ids");
    if (takesIds === inputNames.includes(EMBEDDINGS)) {
      throw fail("the model takes neither input_ids nor inputs_embeds, or both");
    }
    if (!outputs.has("logits")) throw fail(`the model gives no logits (but ${outputNames.join(", ")})`);
    this.types = new Map(inputMetadata.map((input) => [input.name, input.isTensor ? input.type : "no tensor"]));
    for (const name of WHOLE_NUMBERS) {
      const type = this.types.get(name);
      if (type !== undefined && type !== "int64" && type !== "int32") throw fail(`its ${name} is ${type}`);
    }
    this.cacheSlots = inputMetadata.flatMap((input): CacheSlot[] => {
      const match = PAST.exec(input.name);
      if (!match) return [];
      const present = `present.${match[1]}.${match[2]}`;
      if (!outputs.has(present)) throw fail(`the model takes ${input.name} and gives no ${present}`);
      const isFloat = input.isTensor && (input.type === "float32" || input.type === "float16");
      // No declared sizes at all are as good as open ones.
      const isFitting = input.isTensor && (input.shape.length === 4 || input.shape.length === 0);
      if (!isFloat || !isFitting || typeof input.shape[2] === "number") {
        throw fail(`${input.name} is not [batch, heads, any length, headDim] of f32 or f16`);
      }
      const [, heads, , width] = input.shape;
      return [
        {
          past: input.name,
          present,
          type: input.type,
          // Sizes that the graph leaves open are those of the configuration.
          heads: typeof heads === "number" ? heads : config.kvHeads,
          width: typeof width === "number" ? width : config.headDim,
        },
      ];
    });
    if (this.cacheSlots.length === 0) throw fail("the model takes no past_key_values");
    this.takes = takesIds ? "ids" : "embeddings";
    this.hasHidden = outputs.has(HIDDEN);
    const [batch] = inputMetadata.flatMap((input) => (input.isTensor && input.shape.length > 0 ? input.shape[0] : []));
    if (typeof batch === "number" && batch !== 1) throw fail(`the model takes ${batch} sequences at a time, never one`);
    this.maxSequences = batch === 1 ? 1 : MAX_SEQUENCES;
    this.checkConfig();
  }

  /**
   * @param label what errors call the model
   * @throws Error when onnxruntime-web refuses the model; CheckpointError when it is no decoder with a cache, or that of
   * another configuration
   */
  static async open(
    runtime: OnnxRuntime,
    label: string,
    { model, externalData, config }: { model: Uint8Array; externalData: readonly ExternalData[]; config: ModelConfig },
  ): Promise<DecoderSession> {
    const presents = Array.from({ length: config.layers }, (_, layer) => [
      `present.${layer}.key`,
      `present.${layer}.value`,
    ]);
    let session: OnnxSession;
    try {
      session = await runtime.openSession(model, externalData, presents.flat());
    } catch (error) {
      const bytes = externalData.reduce((sum, { data }) => sum + data.length, model.length);
      const size = `${Math.ceil(bytes / 2 ** 20)} MiB`;
      throw new Error(
        `${label}: onnxruntime-web (${runtime.provider}) cannot open the model of ${size}: ${reason(error)}`,
        {
          cause: error,
        },
      );
    }
    try {
      return new DecoderSession(runtime, session, label, config);
    } catch (error) {
      await runtime.release(session);
      throw error;
    }
  }

  /** Bytes of one position of one sequence in the cache. */
  get positionBytes(): number {
    return this.cacheSlots.reduce(
      (sum, { heads, width, type }) => sum + heads * width * (type === "float16" ? 2 : 4),
      0,
    );
  }

  /** @throws CheckpointError when the sizes are those of another configuration */
  private checkConfig(): void {
    const { label, config, session } = this;
    const { layers, kvHeads, headDim } = config;
    const found = this.cacheSlots.length / 2;
    if (found !== layers) {
      throw new CheckpointError(`${label}: the ONNX model has ${found} layers, and config.json ${layers}`);
    }
    const other = this.cacheSlots.find(({ heads, width }) => heads !== kvHeads || width !== headDim);
    if (other) {
      const { past, heads, width } = other;
      throw new CheckpointError(
        `${label}: ${past} has ${heads} heads of ${width}, and config.json says ${kvHeads} key/value heads of ${headDim}`,
      );
    }
    for (const output of session.outputMetadata) {
      if (output.isTensor) this.checkWidth(output.name, output.shape.at(-1));
    }
  }

  /** @throws CheckpointError when rows of an output are not as long as the configuration says; open sizes pass */
  private checkWidth(output: string, width: string | number | undefined): void {
    const field = output === "logits" ? "vocabSize" : output === HIDDEN ? "hiddenSize" : undefined;
    if (field === undefined || typeof width !== "number" || width === this.config[field]) return;
    const name = field === "vocabSize" ? "vocab_size" : "hidden_size";
    throw new CheckpointError(
      `${this.label}: rows of ${output} have ${width} numbers, and config.json says ${name} ${this.config[field]}`,
    );
  }

  /** Whether "last" spares the logits of the other columns. */
  get keepsLastLogits(): boolean {
    return this.types.has("num_logits_to_keep");
  }

  /** The cache that was given is given up. */
  async run({ input, batch, columns, mask, positions, cache }: Columns, wanted: Wanted): Promise<Computed> {
    const { runtime } = this;
    const feeds: Record<string, OnnxTensor> = {};
    const feed = (name: string, data: BigInt64Array, dims: number[]) => {
      const type = this.types.get(name);
      if (type === "int64") feeds[name] = runtime.tensor("int64", data, dims);
      if (type === "int32") feeds[name] = runtime.tensor("int32", Int32Array.from(data, Number), dims);
    };
    if (this.takes === "ids") feed("input_ids", input as BigInt64Array, [batch, columns]);
    else feeds[EMBEDDINGS] = runtime.tensor("float32", input, [batch, columns, input.length / (batch * columns)]);
    feed("attention_mask", mask, [batch, mask.length / batch]);
    feed("position_ids", positions, [batch, columns]);
    feed("num_logits_to_keep", BigInt64Array.of(wanted.logits === "all" ? 0n : 1n), []);
    for (const { past, type, heads, width } of this.cacheSlots) {
      feeds[past] = cache.get(past) ?? runtime.emptyTensor(type, [batch, heads, 0, width]);
    }
    const outputs = this.cacheSlots.map(({ present }) => present);
    if (wanted.logits) outputs.push("logits");
    if (wanted.hidden) outputs.push(HIDDEN);
    let results: Readonly<Record<string, OnnxTensor>>;
    try {
      results = await runtime.run(this.session, feeds, outputs);
    } finally {
      for (const tensor of cache.values()) tensor.dispose();
    }

    const computed: Computed = { cache: new Map() };
    for (const { past, present } of this.cacheSlots) computed.cache.set(past, results[present] as OnnxTensor);
    if (wanted.hidden) {
      const hidden = results[HIDDEN] as OnnxTensor;
      this.checkWidth(HIDDEN, hidden.dims.at(-1));
      computed.hidden = await this.floats(hidden);
    }
    if (wanted.logits) {
      const logits = results.logits as OnnxTensor;
      this.checkWidth("logits", logits.dims.at(-1));
      const values = await this.floats(logits);
      const [, rows = 0, vocabulary = 0] = logits.dims;
      computed.logits = wanted.logits === "last" && rows > 1 ? lastRows(values, batch, rows, vocabulary) : values;
    }
    return computed;
  }

  async release(): Promise<void> {
    await this.runtime.release(this.session);
  }

  private async floats(tensor: OnnxTensor): Promise<Float32Array> {
    const data = await this.runtime.read(tensor);
    return data instanceof Float32Array ? data : halfFloats(data as unknown as ArrayBufferView);
  }
}

/** The last of `rows` rows of each sequence. */
function lastRows(values: Float32Array, batch: number, rows: number, width: number): Float32Array {
  const last = new Float32Array(batch * width);
  for (let sequence = 0; sequence < batch; sequence++) {
    const end = (sequence + 1) * rows * width;
    last.set(values.subarray(end - width, end), sequence * width);
  }
  return last;
}

function halfFloats({ buffer, byteOffset, byteLength }: ArrayBufferView): Float32Array {
  return decodeTensorF32("F16", new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength));
}

/** What went wrong; onnxruntime-web throws plain numbers when its memory ends. */
function reason(error: unknown): string {
  return error instanceof Error ? error.message : `its memory ended, or it failed without a message (${String(error)})`;
}
