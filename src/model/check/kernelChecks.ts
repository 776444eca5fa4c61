/**
 * The decode path's kernels on a device against the f64 reference: each format and variant that this device is given,
 * at sizes that are no multiples of tiles. Attention, rotation, cache and sampling are checked through small models of
 * random weights, where they work together as they do in a real one.
 */
import type { ModelConfig } from "../../checkpoint/config";
import { decodeTensor, encodeTensor } from "../../checkpoint/dtype";
import { openCheckpoint } from "../../checkpoint/load";
import { dequantize, interleave, type MatrixDtype, quantize } from "../../checkpoint/quantize";
import { randomCheckpoint } from "../../checkpoint/randomCheckpoint";
import type { Gpu } from "../../gpu/device";
import { Random } from "../../random/random";
import { loadReferenceModel, type ReferenceModel, referenceHidden, referenceLogits } from "../../reference/decoder";
import { embedding } from "../../reference/embedding";
import { linear } from "../../reference/linear";
import { rmsNorm } from "../../reference/rmsNorm";
import { swiglu } from "../../reference/swiglu";
import type { ModelTokenizer } from "../../text/tokenizer";
import { buildProductVariants, MATMUL, PRODUCT_KIND } from "../kernels";
import { type CacheDtype, shaders } from "../shaders";
import { padded } from "../weights";
import { loadWgslModel } from "../wgslModel";
import { padRows, runKernel, unpadRows } from "./runKernel";

export interface KernelCheck {
  kernel: string;
  /** Sizes and formats, for messages. */
  size: string;
  /** What the relative error may be. */
  tolerance: number;
  /** Largest deviation from the reference, relative to its largest element. */
  run(gpu: Gpu): Promise<number>;
}

const MATRIX_DTYPES = ["F32", "BF16", "F16", "Q8", "Q4"] as const satisfies readonly MatrixDtype[];

/** Sums of some hundred products in f32, in another order than the reference's. */
const EXACT = 1e-5;
/** Several layers of them, softmax included. */
const DEEP = 1e-4;
/** Keys and values have 11 bits. */
const F16_CACHE = 5e-3;

/** All checks of the decode path, with what this device is given; the same seed gives the same numbers. */
export function kernelChecks(seed = 1): KernelCheck[] {
  return [
    ...MATRIX_DTYPES.flatMap((dtype) => [embeddingCheck(dtype, seed), ...productChecks(dtype, seed)]),
    ...[7, 64, 131].map((width) => normCheck(width, seed)),
    gatherCheck(seed),
    ...(["f32", "f16"] as const).flatMap((cache) => attentionChecks(cache, seed)),
    samplingCheck(seed),
  ];
}

/** A random matrix as the device stores it, and the values that it then holds. */
function storedMatrix(rows: number, width: number, dtype: MatrixDtype, random: Random) {
  const values = Float32Array.from({ length: rows * width }, () => random.normal());
  if (dtype === "Q8" || dtype === "Q4") {
    const matrix = quantize(values, width, dtype === "Q8" ? 8 : 4);
    return { words: wordsOf(interleave(matrix)), values: Float64Array.from(dequantize(matrix)) };
  }
  const bytes = encodeTensor(dtype, padRows(values, width));
  return { words: wordsOf(bytes), values: Float64Array.from(unpadRows(decodeTensor(dtype, bytes), width)) };
}

const wordsOf = (bytes: Uint8Array<ArrayBuffer>) => new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
const normals = (count: number, random: Random) => Float32Array.from({ length: count }, () => random.normal());
/** Codes come in groups of 32. */
const isCodes = (dtype: MatrixDtype) => dtype === "Q8" || dtype === "Q4";

/** Largest deviation over the largest wanted value; what is not finite counts as infinite. */
function deviation(found: ArrayLike<number>, wanted: ArrayLike<number>): number {
  if (found.length !== wanted.length) return Number.POSITIVE_INFINITY;
  let worst = 0;
  let largest = 0;
  for (let i = 0; i < wanted.length; i++) {
    if (!Number.isFinite(found[i])) return Number.POSITIVE_INFINITY;
    worst = Math.max(worst, Math.abs((found[i] as number) - (wanted[i] as number)));
    largest = Math.max(largest, Math.abs(wanted[i] as number));
  }
  return worst / Math.max(largest, 1e-30);
}

function embeddingCheck(dtype: MatrixDtype, seed: number): KernelCheck {
  const [vocabulary, width, count] = [50, isCodes(dtype) ? 64 : 37, 29];
  return {
    kernel: "embedding",
    size: `${count} of ${vocabulary} x ${width}, ${dtype}`,
    tolerance: EXACT,
    async run(gpu) {
      const table = storedMatrix(vocabulary, width, dtype, new Random(seed, 1));
      const ids = Uint32Array.from({ length: count }, (_, i) => (i * 17 + 3) % vocabulary);
      const WIDTH4 = padded(width) / 4;
      const source = {
        label: "embedding",
        code: shaders.embedding(dtype),
        constants: { WIDTH4, PART_START: 0, PART_ROWS: vocabulary },
      };
      const bindings = [{ uniform: [count, 0, 0, 0] }, ids, table.words, { outputs: count * padded(width) }] as const;
      const [out] = await runKernel(gpu, source, bindings, Math.ceil((count * WIDTH4) / 64));
      return deviation(unpadRows(out as Float32Array, width), embedding(ids, table.values, width));
    },
  };
}

/** Products of one row and of many, with all that the kernel may do beside them. */
function productChecks(dtype: MatrixDtype, seed: number): KernelCheck[] {
  const { bias, accumulate, swiglu: gated } = PRODUCT_KIND;
  return (
    [
      [1, 96, 131, 0],
      [3, 64, 37, bias],
      [17, 160, 70, bias + accumulate],
      [5, 32, 66, gated],
    ] as const
  ).map(([rows, codesWidth, out, kind]): KernelCheck => {
    const width = isCodes(dtype) ? codesWidth : codesWidth + 5;
    const isGated = kind === gated;
    const what = [kind & bias && "bias", kind & accumulate && "added", isGated && "SwiGLU"].filter(Boolean).join(", ");
    return {
      kernel: "matmul",
      size: `${rows} x ${width} -> ${out}, ${dtype}${what && `, ${what}`}`,
      tolerance: EXACT,
      async run(gpu) {
        const random = new Random(seed, rows);
        const variants = await buildProductVariants(gpu, dtype);
        const variant = variants.find(({ upTo }) => rows <= upTo);
        if (!variant) return Number.POSITIVE_INFINITY;
        const x = normals(rows * width, random);
        const weight = storedMatrix(isGated ? 2 * out : out, width, dtype, random);
        const biases = normals(out, random);
        const before = normals(rows * out, random);
        const perInvocation = isGated ? MATMUL.columns / 2 : MATMUL.columns;
        const grid = [Math.ceil(out / (variant.columns * perInvocation)), Math.ceil(rows / variant.rows)] as const;
        const [found] = await runKernel(
          gpu,
          variant.kernel,
          [
            { uniform: [rows, 0, 0, 0] },
            padRows(x, width),
            weight.words,
            padRows(biases, out),
            { inOut: padRows(before, out) },
            { uniform: [padded(width) / 4, out, padded(out) / 2, 0, kind, 0, 0, 0] },
          ],
          grid,
        );
        const own = kind & bias ? Float64Array.from(biases) : undefined;
        let wanted = linear(Float64Array.from(x), weight.values, width, own);
        if (isGated) {
          const half = (from: number) => wanted.filter((_, i) => Math.floor((i % (2 * out)) / out) === from);
          wanted = swiglu(half(0), half(1));
        }
        if (kind & accumulate) wanted = wanted.map((value, i) => value + (before[i] as number));
        return deviation(unpadRows(found as Float32Array, out), wanted);
      },
    };
  });
}

function normCheck(width: number, seed: number): KernelCheck {
  const rows = 9;
  return {
    kernel: "rmsNorm",
    size: `${rows} x ${width}`,
    tolerance: EXACT,
    async run(gpu) {
      const random = new Random(seed, width);
      const x = normals(rows * width, random);
      const weight = normals(width, random);
      // As buildKernels chooses them.
      const { LANES, ROWS } = gpu.isSoftware ? { LANES: 1, ROWS: 8 } : { LANES: 64, ROWS: 1 };
      const constants = { WIDTH: width, WIDTH4: padded(width) / 4, EPSILON: 1e-5, LANES, ROWS };
      const [out] = await runKernel(
        gpu,
        { label: "rmsNorm", code: shaders.rmsNorm(), constants },
        [{ uniform: [rows, 0, 0, 0] }, padRows(x, width), padRows(weight, width), { outputs: rows * padded(width) }],
        Math.ceil(rows / ROWS),
      );
      const wanted = rmsNorm(Float64Array.from(x), Float64Array.from(weight), 1e-5);
      return deviation(unpadRows(out as Float32Array, width), wanted);
    },
  };
}

function gatherCheck(seed: number): KernelCheck {
  return {
    kernel: "gatherRows",
    size: "2 of 5 x 8",
    tolerance: 0,
    async run(gpu) {
      const input = normals(5 * 8, new Random(seed, 3));
      const source = { label: "gatherRows", code: shaders.gatherRows(), constants: { WIDTH4: 2 } };
      const pairs = Uint32Array.of(4, 0, 1, 2);
      const [out] = await runKernel(gpu, source, [{ uniform: [2, 0, 0, 0] }, pairs, input, { outputs: 24 }], 1);
      return deviation(out as Float32Array, [...input.slice(32, 40), ...new Array(8).fill(0), ...input.slice(8, 16)]);
    },
  };
}

const SMALL: ModelConfig = {
  modelType: "qwen3",
  vocabSize: 131,
  hiddenSize: 36,
  intermediateSize: 50,
  layers: 1,
  heads: 4,
  kvHeads: 2,
  headDim: 10,
  ropeTheta: 10000,
  rmsNormEps: 1e-6,
  tieWordEmbeddings: true,
  qkvBias: false,
  oBias: false,
  qkNorm: true,
  maxPositions: 256,
  eosIds: [],
};

/** Nothing here reads or writes text. */
const NO_TEXT: ModelTokenizer = {
  vocabSize: SMALL.vocabSize,
  encode: () => [],
  decode: (ids) => Array.from(ids).join(" "),
  countTokens: () => 0,
  renderChat: () => "",
  detokenizer: () => ({ push: () => "", flush: () => "" }),
};

const idsOf = (count: number, start: number) =>
  Array.from({ length: count }, (_, i) => (i * i * 7 + i * 31 + start) % SMALL.vocabSize);

async function openSmall(gpu: Gpu, config: ModelConfig, cache: CacheDtype, seed: number) {
  const checkpoint = await openCheckpoint(randomCheckpoint(config, { seed }));
  const reference = await loadReferenceModel(checkpoint);
  const model = await loadWgslModel({ id: "check", gpu, checkpoint, tokenizer: NO_TEXT, kvDtype: cache });
  return { model, reference };
}

/** Heads that share keys or not, of small and large sizes; lengths at the edges of blocks and tiles. */
function attentionChecks(cache: CacheDtype, seed: number): KernelCheck[] {
  const lengths = [1, 7, 16, 33, 65];
  return (
    [
      [4, 2, 10],
      [3, 1, 64],
    ] as const
  ).map(([heads, kvHeads, headDim]): KernelCheck => {
    const config = { ...SMALL, heads, kvHeads, headDim };
    return {
      kernel: "attention, ropeCache",
      size: `heads ${heads}:${kvHeads} of ${headDim}, cache ${cache}, rows ${lengths}`,
      tolerance: cache === "f16" ? F16_CACHE : DEEP,
      async run(gpu) {
        const { model, reference } = await openSmall(gpu, config, cache, seed);
        try {
          const inputs = lengths.map((length, i) => ({ ids: idsOf(length, i) }));
          const hidden = await model.forward(inputs, { output: "hidden" });
          const errors = inputs.map((input, i) =>
            deviation(hidden[i] as Float32Array, referenceHidden(reference, input)),
          );
          return Math.max(...errors);
        } finally {
          model.dispose();
        }
      },
    };
  });
}

/**
 * Greedy decoding over the cache, token by token: how far the logit of each token that the device drew is, by the
 * reference, below the largest one. Two that are all but equal may change places.
 */
function samplingCheck(seed: number): KernelCheck {
  const steps = 12;
  return {
    kernel: "sample",
    size: `${steps} greedy tokens of 3 sequences`,
    tolerance: DEEP,
    async run(gpu) {
      const { model, reference } = await openSmall(gpu, { ...SMALL, layers: 2 }, "f32", seed);
      try {
        const prompts = [5, 1, 20].map(idsOf);
        const requests = prompts.map((ids) => ({ input: { ids }, maxTokens: steps }));
        const results = await model.generate(requests);
        return Math.max(...results.map(({ ids }, i) => shortfall(reference, prompts[i] as number[], ids, steps)));
      } finally {
        model.dispose();
      }
    },
  };
}

function shortfall(reference: ReferenceModel, prompt: number[], drawn: number[], steps: number): number {
  if (drawn.length !== steps) return Number.POSITIVE_INFINITY;
  const { vocabSize } = reference.config;
  const logits = referenceLogits(reference, { ids: [...prompt, ...drawn] });
  let worst = 0;
  drawn.forEach((id, step) => {
    const at = (prompt.length - 1 + step) * vocabSize;
    const row = logits.subarray(at, at + vocabSize);
    const [most, scale] = row.reduce(([m, s], v) => [Math.max(m, v), Math.max(s, Math.abs(v))], [-Infinity, 0]);
    worst = Math.max(worst, ((most as number) - (row[id] as number)) / (scale as number));
  });
  return worst;
}
