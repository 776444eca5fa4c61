/**
 * A checkpoint as an ONNX model: a graph, and its weights as external data that is read from the checkpoint, converted
 * and handed on tensor by tensor.
 */
import type { Checkpoint } from "../checkpoint/checkpoint";
import { decoderGraph, type GraphOptions } from "./decoderGraph";
import { encodeOnnx } from "./protobuf";
import { type StoredTensor, type TensorGroup, type WeightFormat, WeightPlan } from "./weights";

export interface OnnxExportOptions extends Partial<GraphOptions> {
  /** Default "f32". */
  weights?: WeightFormat;
  /** Name of the file that holds the weights. Default "model.onnx_data". */
  dataFile?: string;
}

export interface OnnxExport {
  /** The content of model.onnx. */
  model: Uint8Array;
  dataFile: string;
  /** Size of the weights' file. */
  dataBytes: number;
  /** What the weights' file holds, in its order. */
  groups: readonly TensorGroup[];
  /** Where a tensor begins in the weights' file. */
  offsetOf(tensor: StoredTensor): number;
}

/** A page: tensors that begin on one can be mapped into memory. */
const ALIGNMENT = 4096;

/** Plans the export of a checkpoint; no weight is read yet. */
export function onnxExport(
  checkpoint: Checkpoint,
  { inputs = "ids", logits = "all", weights = "f32", dataFile = "model.onnx_data" }: OnnxExportOptions = {},
): OnnxExport {
  const plan = new WeightPlan(checkpoint, weights);
  const offsets = new Map<string, number>();
  let end = 0;
  const { model } = decoderGraph(checkpoint.config, plan, { inputs, logits }, ({ name, bytes }) => {
    const offset = Math.ceil(end / ALIGNMENT) * ALIGNMENT;
    offsets.set(name, offset);
    end = offset + bytes;
    return { file: dataFile, offset, bytes };
  });
  return {
    model: encodeOnnx(model),
    dataFile,
    dataBytes: end,
    groups: plan.groups,
    offsetOf: ({ name }) => offsets.get(name) as number,
  };
}

/**
 * The weights' file piece by piece, from its first byte to its last; zeros between the tensors.
 * @throws whatever reading the checkpoint throws; the signal's reason after an abort
 */
export async function* onnxData(
  { groups, offsetOf }: OnnxExport,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  let position = 0;
  for (const group of groups) {
    const contents = await group.read(signal);
    for (const [i, tensor] of group.tensors.entries()) {
      const offset = offsetOf(tensor);
      if (offset > position) yield new Uint8Array(offset - position);
      yield contents[i] as Uint8Array;
      position = offset + tensor.bytes;
    }
  }
}
