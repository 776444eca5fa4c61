/**
 * A checkpoint's weights for the differentiable decoder, laid out as the decode path keeps them: q, k, v and gate, up
 * in one matrix each, the rows of o padded by heads. Frozen weights keep their number format, and their matrices may be
 * those of the decode path; trainable ones are f32.
 */
import type { Checkpoint, CheckpointTensor } from "../checkpoint/checkpoint";
import type { ModelConfig } from "../checkpoint/config";
import { decodeTensor } from "../checkpoint/dtype";
import type { MatrixDtype } from "../checkpoint/quantize";
import type { Tape } from "./tape";
import { padded, type Tensor } from "./tensor";

export interface DecoderLayerTensors {
  inputNorm: Tensor;
  /** [(heads + 2 kvHeads) * headDim, hiddenSize]. */
  qkv: Tensor;
  qkvBias: Tensor | undefined;
  qNorm: Tensor | undefined;
  kNorm: Tensor | undefined;
  /** [hiddenSize, heads * padded(headDim)]. */
  output: Tensor;
  outputBias: Tensor | undefined;
  postAttentionNorm: Tensor;
  /** [2 intermediateSize, hiddenSize]. */
  gateUp: Tensor;
  down: Tensor;
}

export interface DecoderTensors {
  config: ModelConfig;
  /** Parts of [vocabSize, hiddenSize]. */
  embedding: readonly Tensor[];
  /** Those of the embedding when tied. */
  head: readonly Tensor[];
  finalNorm: Tensor;
  layers: readonly DecoderLayerTensors[];
}

/** A matrix that already stands on the device, with rows padded to multiples of 4. */
export interface SharedMatrix {
  buffer: GPUBuffer;
  dtype: MatrixDtype;
  rows: number;
}

/** Matrices of the decode path (DecoderWeights of src/model). */
export interface SharedMatrices {
  embedding: readonly SharedMatrix[];
  head: readonly SharedMatrix[];
  layers: readonly Record<"qkv" | "output" | "gateUp" | "down", SharedMatrix>[];
}

export interface LoadDecoderOptions {
  /** Whether the weights are trained. Default false: frozen. */
  trainable?: boolean;
  /** Frozen matrices to use instead of loading them anew. */
  shared?: SharedMatrices;
  signal?: AbortSignal;
}

/**
 * @throws GpuOutOfMemoryError, here or at the next flush; the signal's reason after an abort
 */
export async function loadDecoderTensors(
  tape: Tape,
  { config, tensors }: Checkpoint,
  { trainable = false, shared, signal }: LoadDecoderOptions = {},
): Promise<DecoderTensors> {
  if (trainable && shared) throw new Error("weights that are shared with the decode path cannot be trained");
  const { heads, headDim, hiddenSize, intermediateSize, tieWordEmbeddings } = config;
  const made: Tensor[] = [];
  const keep = (tensor: Tensor) => {
    made.push(tensor);
    return tensor;
  };

  /** Tensors of one width one below the other; rows are runs of `group` elements, each padded. */
  const load = async (names: readonly string[], group?: number): Promise<Tensor> => {
    const sources = names.map((name) => tensors.get(name) as CheckpointTensor);
    const isVector = sources[0]?.shape.length === 1;
    const dtypes = new Set(sources.map(({ dtype }) => dtype));
    const dtype = isVector || trainable || dtypes.size > 1 ? "F32" : (sources[0] as CheckpointTensor).dtype;
    const values: Float64Array[] = [];
    for (const source of sources) {
      signal?.throwIfAborted();
      values.push(decodeTensor(source.dtype, await source.read(signal)));
    }
    const joined = new Float64Array(values.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of values) {
      joined.set(part, at);
      at += part.length;
    }
    const width = isVector ? joined.length : (sources[0]?.shape[1] as number);
    const rows = joined.length / width;
    const grouped = group === undefined ? joined : padGroups(joined, group);
    const label = names.join(" and ");
    return keep(tape.tensor(grouped, rows, grouped.length / rows, { label, requiresGrad: trainable, dtype }));
  };
  const wrap = ({ buffer, dtype, rows }: SharedMatrix, columns: number, label: string): Tensor =>
    keep(tape.wrap(buffer, rows, columns, dtype, label));
  const columnsOf = {
    qkv: hiddenSize,
    output: heads * padded(headDim),
    gateUp: hiddenSize,
    down: intermediateSize,
  } as const;

  try {
    const embeddingName = "model.embed_tokens.weight";
    const embedding = shared
      ? shared.embedding.map((part) => wrap(part, hiddenSize, embeddingName))
      : [await load([embeddingName])];
    const layers: DecoderLayerTensors[] = [];
    for (let index = 0; index < config.layers; index++) {
      const prefix = `model.layers.${index}`;
      const attention = (names: readonly string[], kind: string) =>
        names.map((name) => `${prefix}.self_attn.${name}.${kind}`);
      const qkv = ["q_proj", "k_proj", "v_proj"];
      const matrices = shared?.layers[index];
      const matrix = async (kind: keyof SharedMatrices["layers"][number], names: readonly string[], group?: number) =>
        matrices ? wrap(matrices[kind], columnsOf[kind], names.join(" and ")) : load(names, group);
      layers.push({
        inputNorm: await load([`${prefix}.input_layernorm.weight`]),
        qkv: await matrix("qkv", attention(qkv, "weight")),
        qkvBias: config.qkvBias ? await load(attention(qkv, "bias")) : undefined,
        qNorm: config.qkNorm ? await load(attention(["q_norm"], "weight")) : undefined,
        kNorm: config.qkNorm ? await load(attention(["k_norm"], "weight")) : undefined,
        output: await matrix("output", attention(["o_proj"], "weight"), headDim),
        outputBias: config.oBias ? await load(attention(["o_proj"], "bias")) : undefined,
        postAttentionNorm: await load([`${prefix}.post_attention_layernorm.weight`]),
        gateUp: await matrix("gateUp", [`${prefix}.mlp.gate_proj.weight`, `${prefix}.mlp.up_proj.weight`]),
        down: await matrix("down", [`${prefix}.mlp.down_proj.weight`]),
      });
    }
    const finalNorm = await load(["model.norm.weight"]);
    const head = tieWordEmbeddings
      ? embedding
      : shared
        ? shared.head.map((part) => wrap(part, hiddenSize, "lm_head.weight"))
        : [await load(["lm_head.weight"])];
    return { config, embedding, head, finalNorm, layers };
  } catch (error) {
    for (const tensor of made) tensor.dispose();
    throw error;
  }
}

/** All tensors of a decoder, each once. */
export function decoderTensorList({ embedding, head, finalNorm, layers }: DecoderTensors): Tensor[] {
  const inLayers = layers.flatMap((layer) => Object.values(layer) as (Tensor | undefined)[]);
  const all = [...embedding, ...inLayers, finalNorm, ...head];
  return [...new Set(all.filter((tensor) => tensor !== undefined))];
}

/**
 * What the tensors hold for each parameter of the checkpoint: their values, or their gradients.
 * @param read gives a tensor's numbers, [rows, columns]; undefined where it has none
 */
export async function byCheckpointName(
  decoder: DecoderTensors,
  read: (tensor: Tensor) => Promise<Float32Array | undefined>,
): Promise<Map<string, Float32Array>> {
  const { headDim, heads } = decoder.config;
  const found = new Map<string, Float32Array>();
  for (const tensor of decoderTensorList(decoder)) {
    const values = await read(tensor);
    if (!values) continue;
    const names = tensor.label.split(" and ");
    const isOutput = tensor.label.endsWith("o_proj.weight");
    const plain = isOutput && headDim % 4 !== 0 ? unpadGroups(values, headDim) : values;
    const sizes = names.map((name) => shareOf(name, decoder.config, plain.length, heads));
    let at = 0;
    names.forEach((name, i) => {
      found.set(name, plain.slice(at, at + (sizes[i] as number)));
      at += sizes[i] as number;
    });
  }
  return found;
}

/** Elements of one parameter within a fused tensor of `total` elements. */
function shareOf(name: string, { kvHeads }: ModelConfig, total: number, heads: number): number {
  const part = /\.(q|k|v)_proj\./.exec(name)?.[1];
  if (part) return (total * (part === "q" ? heads : kvHeads)) / (heads + 2 * kvHeads);
  return /\.(gate|up)_proj\./.test(name) ? total / 2 : total;
}

function padGroups(values: Float64Array, group: number): Float64Array {
  const pitch = padded(group);
  if (pitch === group) return values;
  const result = new Float64Array((values.length / group) * pitch);
  for (let i = 0; i < values.length; i++) result[Math.floor(i / group) * pitch + (i % group)] = values[i] as number;
  return result;
}

function unpadGroups(values: Float32Array, group: number): Float32Array {
  const pitch = padded(group);
  return Float32Array.from({ length: (values.length / pitch) * group }, (_, i) => {
    return values[Math.floor(i / group) * pitch + (i % group)] as number;
  });
}
