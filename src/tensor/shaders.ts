/** The shaders of tensor operations with the preludes their headers name; one KernelSource object for each use. */
import attentionHeads from "../../shaders/common/attentionHeads.wgsl?raw";
import attentionShape from "../../shaders/common/attentionShape.wgsl?raw";
import attentionTiles from "../../shaders/common/attentionTiles.wgsl?raw";
import grid from "../../shaders/common/grid.wgsl?raw";
import matmulOutput from "../../shaders/common/matmulOutput.wgsl?raw";
import passRows from "../../shaders/common/rows.wgsl?raw";
import weightBf16 from "../../shaders/common/weightBf16.wgsl?raw";
import weightF16 from "../../shaders/common/weightF16.wgsl?raw";
import weightF32 from "../../shaders/common/weightF32.wgsl?raw";
import weightQ4 from "../../shaders/common/weightQ4.wgsl?raw";
import weightQ8 from "../../shaders/common/weightQ8.wgsl?raw";
import matmul from "../../shaders/matmul.wgsl?raw";
import matmulSubgroup from "../../shaders/matmulSubgroup.wgsl?raw";
import rmsNorm from "../../shaders/rmsNorm.wgsl?raw";
import adamW from "../../shaders/tensor/adamW.wgsl?raw";
import add from "../../shaders/tensor/add.wgsl?raw";
import attention from "../../shaders/tensor/attention.wgsl?raw";
import attentionGradient from "../../shaders/tensor/attentionGradient.wgsl?raw";
import attentionGradientSubgroup from "../../shaders/tensor/attentionGradientSubgroup.wgsl?raw";
import attentionInputs from "../../shaders/tensor/attentionInputs.wgsl?raw";
import attentionSubgroup from "../../shaders/tensor/attentionSubgroup.wgsl?raw";
import clippedPolicy from "../../shaders/tensor/clippedPolicy.wgsl?raw";
import copyRows from "../../shaders/tensor/copyRows.wgsl?raw";
import gather from "../../shaders/tensor/gather.wgsl?raw";
import gelu from "../../shaders/tensor/gelu.wgsl?raw";
import layerNorm from "../../shaders/tensor/layerNorm.wgsl?raw";
import linear from "../../shaders/tensor/linear.wgsl?raw";
import linearSubgroup from "../../shaders/tensor/linearSubgroup.wgsl?raw";
import logProb from "../../shaders/tensor/logProb.wgsl?raw";
import rmsNormGradient from "../../shaders/tensor/rmsNorm.wgsl?raw";
import rowLoss from "../../shaders/tensor/rowLoss.wgsl?raw";
import scale from "../../shaders/tensor/scale.wgsl?raw";
import softmax from "../../shaders/tensor/softmax.wgsl?raw";
import swiglu from "../../shaders/tensor/swiglu.wgsl?raw";
import type { MatrixDtype } from "../checkpoint/quantize";
import type { KernelSource } from "../gpu/kernel";

const shaders = {
  adamW: [adamW, grid],
  add: [add, grid],
  attention: [attention, attentionShape, attentionTiles, grid],
  attentionGradient: [attentionGradient, attentionShape, attentionTiles, grid],
  attentionGradientSubgroup: [attentionGradientSubgroup, attentionShape, attentionHeads, grid],
  attentionInputs: [attentionInputs, grid],
  attentionSubgroup: [attentionSubgroup, attentionShape, attentionHeads, grid],
  clippedPolicy: [clippedPolicy, grid],
  copyRows: [copyRows, grid],
  gather: [gather, grid],
  gelu: [gelu, grid],
  layerNorm: [layerNorm, grid],
  linear: [linear],
  linearSubgroup: [linearSubgroup],
  logProb: [logProb, grid],
  rowLoss: [rowLoss, grid],
  scale: [scale, grid],
  softmax: [softmax, grid],
  swiglu: [swiglu, grid],
  matmul: [matmul, passRows, matmulOutput],
  matmulSubgroup: [matmulSubgroup, passRows, matmulOutput],
  rmsNorm: [rmsNorm, passRows, grid],
  rmsNormGradient: [rmsNormGradient, grid],
} as const;

export type ShaderName = keyof typeof shaders;

const weightPrelude: Readonly<Record<MatrixDtype, string>> = {
  F32: weightF32,
  BF16: weightBf16,
  F16: weightF16,
  Q8: weightQ8,
  Q4: weightQ4,
};

const known = new Map<string, KernelSource>();

/**
 * An entry point of a shader.
 * @param weights format of the weights, for shaders that read them
 */
export function kernel(
  name: ShaderName,
  entryPoint: string,
  { weights, constants = {} }: { weights?: MatrixDtype; constants?: Readonly<Record<string, number>> } = {},
): KernelSource {
  const key = JSON.stringify([name, entryPoint, weights, constants]);
  let source = known.get(key);
  if (!source) {
    const [shader, ...preludes] = shaders[name];
    const enables = shader.match(/^enable .*;$/gm) ?? [];
    const code = [
      ...enables,
      ...(weights ? [weightPrelude[weights]] : []),
      ...preludes,
      shader.replace(/^enable .*;$/gm, ""),
    ].join("\n");
    source = { label: `${name}.${entryPoint}`, code, entryPoint, constants };
    known.set(key, source);
  }
  return source;
}
