/** The decoder's shaders: each file of shaders/ with the preludes its header names. */
import attention from "../../shaders/attention.wgsl?raw";
import attentionSubgroup from "../../shaders/attentionSubgroup.wgsl?raw";
import cacheF16 from "../../shaders/common/cacheF16.wgsl?raw";
import cacheF32 from "../../shaders/common/cacheF32.wgsl?raw";
import grid from "../../shaders/common/grid.wgsl?raw";
import matmulOutput from "../../shaders/common/matmulOutput.wgsl?raw";
import random from "../../shaders/common/random.wgsl?raw";
import rows from "../../shaders/common/rows.wgsl?raw";
import weightBf16 from "../../shaders/common/weightBf16.wgsl?raw";
import weightF16 from "../../shaders/common/weightF16.wgsl?raw";
import weightF32 from "../../shaders/common/weightF32.wgsl?raw";
import weightQ4 from "../../shaders/common/weightQ4.wgsl?raw";
import weightQ8 from "../../shaders/common/weightQ8.wgsl?raw";
import words1 from "../../shaders/common/words1.wgsl?raw";
import words2 from "../../shaders/common/words2.wgsl?raw";
import words4 from "../../shaders/common/words4.wgsl?raw";
import words8 from "../../shaders/common/words8.wgsl?raw";
import embedding from "../../shaders/embedding.wgsl?raw";
import gatherRows from "../../shaders/gatherRows.wgsl?raw";
import matmul from "../../shaders/matmul.wgsl?raw";
import matmulSubgroup from "../../shaders/matmulSubgroup.wgsl?raw";
import rmsNorm from "../../shaders/rmsNorm.wgsl?raw";
import ropeCache from "../../shaders/ropeCache.wgsl?raw";
import sample from "../../shaders/sample.wgsl?raw";
import type { MatrixDtype } from "../checkpoint/quantize";

export type CacheDtype = "f32" | "f16";

const weightPrelude: Readonly<Record<MatrixDtype, string>> = {
  F32: weightF32,
  BF16: weightBf16,
  F16: weightF16,
  Q8: weightQ8,
  Q4: weightQ4,
};
const cachePrelude: Readonly<Record<CacheDtype, string>> = { f32: cacheF32, f16: cacheF16 };

/** vec4s of a head that one invocation of attentionSubgroup may hold. */
export const WORD_COUNTS = [1, 2, 4, 8] as const;
export type WordCount = (typeof WORD_COUNTS)[number];
const wordsPrelude: Readonly<Record<WordCount, string>> = { 1: words1, 2: words2, 4: words4, 8: words8 };

export const shaders = {
  embedding: (dtype: MatrixDtype) => join(embedding, grid, rows, weightPrelude[dtype]),
  rmsNorm: () => join(rmsNorm, grid, rows),
  matmul: (dtype: MatrixDtype) => join(matmul, rows, weightPrelude[dtype], matmulOutput),
  matmulSubgroup: (dtype: MatrixDtype) => join(matmulSubgroup, rows, weightPrelude[dtype], matmulOutput),
  ropeCache: (cache: CacheDtype) => join(ropeCache, grid, rows, cachePrelude[cache]),
  attention: (cache: CacheDtype) => join(attention, grid, rows, cachePrelude[cache]),
  attentionSubgroup: (cache: CacheDtype, words: WordCount) =>
    join(attentionSubgroup, grid, rows, cachePrelude[cache], wordsPrelude[words]),
  gatherRows: () => join(gatherRows, grid, rows),
  sample: () => join(sample, grid, rows, random),
};

/** Preludes go before the shader, but `enable` lines must come first of all. */
function join(shader: string, ...preludes: string[]): string {
  const enables = shader.match(/^enable .*;$/gm) ?? [];
  return [...enables, ...preludes, shader.replace(/^enable .*;$/gm, "")].join("\n");
}
