/**
 * Links over plain arrays, for engines without the tape: trained ones, computed in f64 by the reference, and the
 * stand-ins that need neither a head nor a fit. What each is: linkChoice.ts in src/recursion, and baselines.ts.
 */
import { Random } from "../random/random";
import { linkForward } from "../reference/link";
import type { LinkSizes } from "./link";
import { isResidual, LinkError, linkMultiplyAdds } from "./linkConfig";
import { NOISE_STREAM, noiseRows } from "./noise";
import type { StoredLink } from "./release";
import { orthonormalProjection } from "./ridge";

export interface PlainLink extends LinkSizes {
  /** Each row on its own, [rows, inputSize] to [rows, outputSize]. */
  apply(rows: Float32Array): Float32Array;
}

interface Sizes {
  inputSize: number;
  outputSize: number;
}

function linkOf({ inputSize, outputSize }: Sizes, multiplyAdds: number, apply: PlainLink["apply"]): PlainLink {
  return {
    inputSize,
    outputSize,
    multiplyAdds,
    apply(rows) {
      if (rows.length % inputSize !== 0) {
        throw new RangeError(`link: ${rows.length} values are no rows of ${inputSize}`);
      }
      return apply(rows);
    },
  };
}

/** A link out of a file. */
export function plainLink({ config, tensors }: StoredLink): PlainLink {
  const weights = new Map(tensors.map(({ name, values }) => [name, Float64Array.from(values)]));
  const { kind, form, inputSize, outputSize } = config;
  const link = { inputSize, outputSize, addsInput: kind === "inner" && isResidual(form), weights };
  return linkOf(config, linkMultiplyAdds(config), (rows) => {
    return Float32Array.from(linkForward(link, Float64Array.from(rows)));
  });
}

/** As `normMatchedIdentity`; where the widths differ, through the same seeded orthonormal projection. */
export function plainIdentity({ embeddingNorm, seed = 0, ...sizes }: Sizes & { embeddingNorm: number; seed?: number }) {
  if (!(embeddingNorm > 0)) throw new LinkError(`identity: embeddingNorm is ${embeddingNorm}`);
  const { inputSize, outputSize } = sizes;
  const matrix = inputSize === outputSize ? undefined : orthonormalProjection(inputSize, outputSize, seed);
  return linkOf(sizes, matrix ? inputSize * outputSize : 0, (rows) => {
    const count = rows.length / inputSize;
    const result = new Float32Array(count * outputSize);
    for (let row = 0; row < count; row++) {
      const input = rows.subarray(row * inputSize, (row + 1) * inputSize);
      const output = result.subarray(row * outputSize, (row + 1) * outputSize);
      if (!matrix) output.set(input);
      else {
        for (let o = 0; o < outputSize; o++) {
          let sum = 0;
          for (let i = 0; i < inputSize; i++) sum += (matrix[o * inputSize + i] as number) * (input[i] as number);
          output[o] = sum;
        }
      }
      const length = Math.hypot(...output);
      // A row of zeros stays one.
      if (length > 0) for (let o = 0; o < outputSize; o++) output[o] = ((output[o] as number) * embeddingNorm) / length;
    }
    return result;
  });
}

/** Zeros. */
export function plainZero(sizes: Sizes): PlainLink {
  return linkOf(sizes, 0, (rows) => new Float32Array((rows.length / sizes.inputSize) * sizes.outputSize));
}

/** As `noiseLink`, with the same numbers. */
export function plainNoise({
  embeddingNorm,
  seed,
  ...sizes
}: Sizes & { embeddingNorm: number; seed: number }): PlainLink {
  const random = new Random(seed, NOISE_STREAM);
  return linkOf(sizes, 0, (rows) => noiseRows(random, rows.length / sizes.inputSize, sizes.outputSize, embeddingNorm));
}
