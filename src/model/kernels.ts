/** The compiled kernels of one decoder, with the variants that suit the device. */
import type { ModelConfig } from "../checkpoint/config";
import type { MatrixDtype } from "../checkpoint/quantize";
import type { Gpu } from "../gpu/device";
import type { Kernel, KernelSource } from "../gpu/kernel";
import type { BufferScope } from "../gpu/scope";
import { fixedSubgroup, SUBGROUP_PRODUCT_ROWS } from "../tensor/rowKernels";
import { type CacheDtype, shaders, WORD_COUNTS } from "./shaders";
import { type DecoderWeights, type Matrix, padded } from "./weights";

/** Tokens of a row that the sampling kernel keeps until they are read back; at least the steps of a submit. */
export const TOKENS_KEPT = 8;

/** Weight rows that one invocation of a product takes (half as many outputs with SwiGLU), in every variant. */
export const MATMUL = { columns: 4 } as const;

/** Bits of `Product.kind` in shaders/common/matmulOutput.wgsl. */
export const PRODUCT_KIND = { bias: 1, accumulate: 2, swiglu: 4 } as const;

/** Queries of a tile that attention keeps in registers. */
const TILE_QUERIES = 8;

export interface ProductVariant {
  kernel: Kernel;
  /** Rows of a tile. */
  rows: number;
  /** Invocations of a workgroup side by side. */
  columns: number;
}

/** A matrix product of the model: its sizes on the GPU, and the kernel for a number of rows. */
export interface Product {
  /** The uniform `Product`. */
  shape: GPUBuffer;
  out: number;
  isSwiglu: boolean;
  variant(rowCount: number): ProductVariant;
}

/** Either one kernel that takes a row and a head at a time, or kernels for tiles: runs of rows of one sequence. */
export type Attention =
  | { kernel: Kernel }
  | {
      tileRows: number;
      /** For tiles of up to `tileRows` rows. */
      ofMany: Kernel;
      /** For tiles of one row. */
      ofOne: Kernel;
      /** The uniform `Shape`. */
      shape: GPUBuffer;
    };

export interface DecoderKernels {
  /** One for each part of the embedding table. */
  embedding: Kernel[];
  rmsNorm: Kernel;
  rowsPerNorm: number;
  qkv: Product;
  ropeCache: Kernel;
  ropeHeadsPerWorkgroup: number;
  attention: Attention;
  output: Product;
  gateUp: Product;
  down: Product;
  /** One for each part of the head. */
  head: Product[];
  gatherHidden: Kernel;
  gatherQuery: Kernel;
  sample: Kernel;
  /** Stands in for bindings that a kernel declares and this model does not use. */
  unused: GPUBuffer;
}

/**
 * Compiles everything at once.
 * @throws GpuFailure, GpuOutOfMemoryError
 */
export async function buildKernels(
  scope: BufferScope,
  config: ModelConfig,
  weights: DecoderWeights,
  cacheDtype: CacheDtype,
): Promise<DecoderKernels> {
  const { gpu } = scope;
  const { hiddenSize, intermediateSize, heads, kvHeads, headDim, vocabSize } = config;
  const layer = weights.layers[0]!;
  const qSize = heads * headDim;
  const qkvSize = qSize + 2 * kvHeads * headDim;
  const build = (label: string, code: string, constants: KernelSource["constants"]) =>
    gpu.kernel({ label, code, constants });
  const unused = await scope.allocate("unused bindings", 16);

  const product = async (name: string, matrix: Matrix, shape: ProductShape): Promise<Product> => {
    const { out, outWidth, outStart = 0, hasBias = false, accumulates = false, isSwiglu = false } = shape;
    const kind =
      (hasBias ? PRODUCT_KIND.bias : 0) +
      (accumulates ? PRODUCT_KIND.accumulate : 0) +
      (isSwiglu ? PRODUCT_KIND.swiglu : 0);
    const sizes = [padded(matrix.width) / 4, out, padded(outWidth) / 2, outStart / 2, kind];
    const buffer = await scope.uniform(`shape of ${name}`, sizes);
    const variants = await buildProductVariants(gpu, matrix.dtype);
    return { shape: buffer, out, isSwiglu, variant: (rowCount) => pickVariant(variants, rowCount) };
  };

  const { LANES: normLanes, ROWS: rowsPerNorm } = gpu.isSoftware ? { LANES: 1, ROWS: 8 } : { LANES: 64, ROWS: 1 };
  const rope = gpu.isSoftware ? { LANES: 1, GROUP: 8 } : { LANES: 16, GROUP: 4 };

  const [embedding, rmsNorm, ropeCache, attention, gatherHidden, gatherQuery, sample, products, head] =
    await Promise.all([
      Promise.all(
        weights.embedding.map((part) =>
          build("embedding", shaders.embedding(part.dtype), {
            WIDTH4: padded(hiddenSize) / 4,
            PART_START: part.startRow,
            PART_ROWS: part.rows,
          }),
        ),
      ),
      build("rmsNorm", shaders.rmsNorm(), {
        WIDTH: hiddenSize,
        WIDTH4: padded(hiddenSize) / 4,
        EPSILON: config.rmsNormEps,
        LANES: normLanes,
        ROWS: rowsPerNorm,
      }),
      build("ropeCache", shaders.ropeCache(cacheDtype), {
        HEADS: heads,
        KV_HEADS: kvHeads,
        HEAD_DIM: headDim,
        QKV_PITCH: padded(qkvSize),
        QK_NORM: config.qkNorm,
        EPSILON: config.rmsNormEps,
        ...rope,
      }),
      buildAttention(scope, config, cacheDtype),
      build("gatherRows", shaders.gatherRows(), { WIDTH4: padded(hiddenSize) / 4 }),
      build("gatherRows", shaders.gatherRows(), { WIDTH4: (heads * padded(headDim)) / 4 }),
      build("sample", shaders.sample(), {
        VOCAB: vocabSize,
        PITCH: padded(vocabSize),
        SEEN_PITCH: Math.ceil(vocabSize / 32),
        TOKENS: TOKENS_KEPT,
        LANES: gpu.isSoftware ? 32 : 256,
      }),
      Promise.all([
        product("q|k|v", layer.qkv, { out: qkvSize, outWidth: qkvSize, hasBias: config.qkvBias }),
        product("o", layer.output, {
          out: hiddenSize,
          outWidth: hiddenSize,
          hasBias: config.oBias,
          accumulates: true,
        }),
        product("gate|up", layer.gateUp, { out: intermediateSize, outWidth: intermediateSize, isSwiglu: true }),
        product("down", layer.down, { out: hiddenSize, outWidth: hiddenSize, accumulates: true }),
      ]),
      Promise.all(
        weights.head.map((part) =>
          product("head", part, { out: part.rows, outWidth: vocabSize, outStart: part.startRow }),
        ),
      ),
    ]);
  const [qkv, output, gateUp, down] = products;
  return {
    embedding,
    rmsNorm,
    rowsPerNorm,
    qkv,
    ropeCache,
    ropeHeadsPerWorkgroup: rope.GROUP,
    attention,
    output,
    gateUp,
    down,
    head,
    gatherHidden,
    gatherQuery,
    sample,
    unused,
  };
}

interface ProductShape {
  out: number;
  /** Width of an output row. */
  outWidth: number;
  /** The first output's place in its row. */
  outStart?: number;
  hasBias?: boolean;
  accumulates?: boolean;
  isSwiglu?: boolean;
}

/** In order of the rows they are for: up to `upTo`. */
type Variants = (ProductVariant & { upTo: number })[];

function pickVariant(variants: Variants, rowCount: number): ProductVariant {
  return variants.find(({ upTo }) => rowCount <= upTo) as ProductVariant;
}

/** The kernels of a product with matrices of a format, as this device is given them. */
export async function buildProductVariants(gpu: Gpu, dtype: MatrixDtype): Promise<Variants> {
  const all = Number.POSITIVE_INFINITY;
  const variant = async (
    upTo: number,
    code: string,
    constants: Record<string, number>,
    columns: number,
  ): Promise<Variants[number]> => {
    const kernel = await gpu.kernel({ label: `matmul ${dtype}`, code, constants });
    return { kernel, upTo, rows: constants.ROWS as number, columns };
  };
  const SUBGROUP = fixedSubgroup(gpu);
  if (SUBGROUP) {
    const code = shaders.matmulSubgroup(dtype);
    const most = Math.max(...SUBGROUP_PRODUCT_ROWS);
    return Promise.all(
      SUBGROUP_PRODUCT_ROWS.map((ROWS) => variant(ROWS < most ? ROWS : all, code, { ROWS, LANES: 32, SUBGROUP }, 32)),
    );
  }
  const code = shaders.matmul(dtype);
  if (gpu.isSoftware) {
    return Promise.all([
      variant(1, code, { ROWS: 1, COL_LANES: 32, K_LANES: 1 }, 32),
      variant(all, code, { ROWS: 4, COL_LANES: 32, K_LANES: 1 }, 32),
    ]);
  }
  // Few rows have few tiles: more invocations share one, so that the device is busy and reads long runs of weights.
  return Promise.all([
    variant(1, code, { ROWS: 1, COL_LANES: 2, K_LANES: 32 }, 2),
    variant(4, code, { ROWS: 4, COL_LANES: 2, K_LANES: 32 }, 2),
    variant(all, code, { ROWS: 4, COL_LANES: 8, K_LANES: 8 }, 8),
  ]);
}

async function buildAttention(scope: BufferScope, config: ModelConfig, cacheDtype: CacheDtype): Promise<Attention> {
  const { gpu } = scope;
  const { heads, kvHeads, headDim } = config;
  const group = heads / kvHeads;
  const SUBGROUP = fixedSubgroup(gpu);
  const words = WORD_COUNTS.find((count) => count * 4 * (SUBGROUP ?? 0) >= headDim);
  if (SUBGROUP && group <= TILE_QUERIES && words !== undefined) {
    const code = shaders.attentionSubgroup(cacheDtype, words);
    const build = (QUADS: number) => gpu.kernel({ label: "attention", code, constants: { SUBGROUP, QUADS } });
    const [shape, ofMany, ofOne] = await Promise.all([
      scope.uniform("shape of attention", [heads, kvHeads, headDim]),
      build(TILE_QUERIES / 4),
      build(Math.ceil(group / 4)),
    ]);
    return { tileRows: Math.floor(TILE_QUERIES / group), ofMany, ofOne, shape };
  }
  // As many invocations as a head has vec4s at least, as the values are summed by vec4.
  const LANES = Math.max(64, 2 ** Math.ceil(Math.log2(headDim / 4)));
  const constants = { HEADS: heads, KV_HEADS: kvHeads, HEAD_DIM: headDim, LANES };
  return { kernel: await gpu.kernel({ label: "attention", code: shaders.attention(cacheDtype), constants }) };
}
