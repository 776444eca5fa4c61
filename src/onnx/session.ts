/**
 * A decoder in ONNX as one function: new columns of a padded batch, and what was computed of those before. What the
 * model takes and gives is read from its names, which are those of usual exports (Optimum's, and our own writer's).
 */
import type { ModelConfig } from "../checkpoint/config";
import { decodeTensorF32 } from "../checkpoint/dtype";
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
const KNOWN_INPUTS = ["input_ids", "inputs_embeds", "attention_mask", "position_ids", "num_logits_to_keep"];
const HIDDEN = "last_hidden_state";

export class DecoderSession {
  readonly takes: "ids" | "embeddings";
  readonly hasHidden: boolean;
  readonly cacheSlots: readonly CacheSlot[];
  private readonly inputs: ReadonlySet<string>;

  private constructor(
    readonly runtime: OnnxRuntime,
    private readonly session: OnnxSession,
    label: string,
  ) {
    const inputs = new Set(session.inputNames);
    const outputs = new Set(session.outputNames);
    const fail = (problem: string) => {
      return new Error(`${label}: ${problem}; only decoders from token ids to logits with past_key_values can be run`);
    };
    const unknown = session.inputNames.filter((name) => !KNOWN_INPUTS.includes(name) && !PAST.test(name));
    if (unknown.length > 0) throw fail(`the model takes ${unknown.map((name) => `"${name}"`).join(", ")}`);
    if (inputs.has("input_ids") === inputs.has("inputs_embeds")) {
      throw fail("the model takes neither input_ids nor inputs_embeds, or both");
    }
    if (!outputs.has("logits")) throw fail(`the model gives no logits (but ${session.outputNames.join(", ")})`);
    this.cacheSlots = session.inputMetadata.flatMap((input): CacheSlot[] => {
      const match = PAST.exec(input.name);
      if (!match) return [];
      const present = `present.${match[1]}.${match[2]}`;
      if (!outputs.has(present)) throw fail(`the model takes ${input.name} and gives no ${present}`);
      const [, heads, , width] = input.isTensor ? input.shape : [];
      const isFloat = input.isTensor && (input.type === "float32" || input.type === "float16");
      if (!isFloat || typeof heads !== "number" || typeof width !== "number") {
        throw fail(`${input.name} is not [batch, heads, length, headDim] of f32 or f16`);
      }
      return [{ past: input.name, present, type: input.type, heads, width }];
    });
    if (this.cacheSlots.length === 0) throw fail("the model takes no past_key_values");
    this.takes = inputs.has("input_ids") ? "ids" : "embeddings";
    this.hasHidden = outputs.has(HIDDEN);
    this.inputs = inputs;
  }

  /**
   * @param label what errors call the model
   * @throws Error when onnxruntime-web refuses the model, or it is no decoder with a cache
   */
  static async open(
    runtime: OnnxRuntime,
    label: string,
    { model, externalData, layers }: { model: Uint8Array; externalData: readonly ExternalData[]; layers: number },
  ): Promise<DecoderSession> {
    const presents = Array.from({ length: layers }, (_, layer) => [`present.${layer}.key`, `present.${layer}.value`]);
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
      return new DecoderSession(runtime, session, label);
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

  /** @throws Error when the cache is not that of a configuration: the export belongs to another model */
  checkConfig({ layers, kvHeads, headDim }: ModelConfig, label: string): void {
    const found = this.cacheSlots.length / 2;
    if (found !== layers) throw new Error(`${label}: the ONNX model has ${found} layers, and config.json ${layers}`);
    const other = this.cacheSlots.find(({ heads, width }) => heads !== kvHeads || width !== headDim);
    if (other) {
      const { past, heads, width } = other;
      throw new Error(
        `${label}: ${past} has ${heads} heads of ${width}, and config.json says ${kvHeads} key/value heads of ${headDim}`,
      );
    }
  }

  /** Whether "last" spares the logits of the other columns. */
  get keepsLastLogits(): boolean {
    return this.inputs.has("num_logits_to_keep");
  }

  /** The cache that was given is given up. */
  async run({ input, batch, columns, mask, positions, cache }: Columns, wanted: Wanted): Promise<Computed> {
    const { runtime } = this;
    const int64 = (data: BigInt64Array, dims: number[]) => runtime.tensor("int64", data, dims);
    const possible: Record<string, () => OnnxTensor> = {
      input_ids: () => int64(input as BigInt64Array, [batch, columns]),
      inputs_embeds: () => runtime.tensor("float32", input, [batch, columns, input.length / (batch * columns)]),
      attention_mask: () => int64(mask, [batch, mask.length / batch]),
      position_ids: () => int64(positions, [batch, columns]),
      num_logits_to_keep: () => int64(BigInt64Array.of(wanted.logits === "all" ? 0n : 1n), []),
    };
    const feeds: Record<string, OnnxTensor> = {};
    for (const name of KNOWN_INPUTS) if (this.inputs.has(name)) feeds[name] = possible[name]!();
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
    if (wanted.hidden) computed.hidden = await this.floats(results[HIDDEN] as OnnxTensor);
    if (wanted.logits) {
      const logits = results.logits as OnnxTensor;
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
