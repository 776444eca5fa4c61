/** Each kernel alone against the f64 reference, at sizes that are no multiples of anything. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TensorDtype } from "../../src/checkpoint/checkpoint";
import { decodeTensor, encodeTensor } from "../../src/checkpoint/dtype";
import type { Gpu } from "../../src/gpu/device";
import { openNodeGpu } from "../../src/gpu/nodeDevice";
import { shaders } from "../../src/model/shaders";
import { embedding } from "../../src/reference/embedding";
import { linear } from "../../src/reference/linear";
import { rmsNorm } from "../../src/reference/rmsNorm";
import { swiglu } from "../../src/reference/swiglu";
import { SUBGROUP_PRODUCT_ROWS } from "../../src/tensor/rowKernels";
import { padRows, randomValues, relativeError, runKernel, unpadRows } from "./support/gpu";

let gpu: Gpu;
beforeAll(async () => {
  gpu = await openNodeGpu();
});
afterAll(() => gpu.close());

const padded = (width: number) => Math.ceil(width / 4) * 4;

/** A random matrix as the GPU stores it, and the values that it then holds. */
function storedMatrix(rows: number, width: number, dtype: TensorDtype, seed: number) {
  const bytes = encodeTensor(dtype, padRows(randomValues(rows * width, seed), width));
  const values = Float64Array.from(unpadRows(decodeTensor(dtype, bytes), width));
  return { words: new Uint32Array(bytes.buffer), values };
}

describe("embedding", () => {
  it.each([
    ["F32", 7, 13, 1],
    ["BF16", 50, 37, 129],
    ["F16", 5, 64, 3],
    ["F32", 3, 1, 2],
  ] as const)("%s table of %i by %i, %i ids", async (dtype, vocab, width, count) => {
    const table = storedMatrix(vocab, width, dtype, 1);
    const ids = Uint32Array.from({ length: count }, (_, i) => (i * 17 + 3) % vocab);
    const WIDTH4 = padded(width) / 4;
    const source = {
      label: "embedding",
      code: shaders.embedding(dtype),
      constants: { WIDTH4, PART_START: 0, PART_ROWS: vocab },
    };
    const workgroups = Math.ceil((count * WIDTH4) / 64);
    const [out] = await runKernel(
      gpu,
      source,
      [{ uniform: [count, 0, 0, 0] }, ids, table.words, { outputs: count * padded(width) }],
      workgroups,
    );
    expect(unpadRows(out!, width)).toEqual([...embedding(ids, table.values, width)]);
  });

  it("writes only the rows of its part", async () => {
    const table = storedMatrix(4, 8, "F32", 2);
    const source = {
      label: "embedding",
      code: shaders.embedding("F32"),
      constants: { WIDTH4: 2, PART_START: 3, PART_ROWS: 4 },
    };
    const ids = Uint32Array.of(2, 3, 6, 7, 0xffffffff);
    const [out] = await runKernel(gpu, source, [{ uniform: [5, 0, 0, 0] }, ids, table.words, { outputs: 40 }], 1);
    const row = (i: number) => [...table.values.slice(i * 8, i * 8 + 8)];
    expect([...out!]).toEqual([...Array(8).fill(0), ...row(0), ...row(3), ...Array(16).fill(0)]);
  });
});

describe("rmsNorm", () => {
  it.each([
    [1, 1, 1, 8],
    [5, 7, 1, 8],
    [9, 37, 64, 1],
    [13, 128, 16, 2],
    [3, 300, 64, 1],
    [17, 64, 1, 8],
  ])("%i rows of %i, %i lanes", async (rows, width, LANES, ROWS) => {
    const x = randomValues(rows * width, 3, 5);
    const weight = randomValues(width, 4);
    const source = {
      label: "rmsNorm",
      code: shaders.rmsNorm(),
      constants: { WIDTH: width, WIDTH4: padded(width) / 4, EPSILON: 1e-5, LANES, ROWS },
    };
    const [out] = await runKernel(
      gpu,
      source,
      [{ uniform: [rows, 0, 0, 0] }, padRows(x, width), padRows(weight, width), { outputs: rows * padded(width) }],
      Math.ceil(rows / ROWS),
    );
    const expected = rmsNorm(Float64Array.from(x), Float64Array.from(weight), 1e-5);
    expect(relativeError(unpadRows(out!, width), expected)).toBeLessThan(1e-6);
  });
});

describe("matmul", () => {
  const BIAS = 1;
  const ACCUMULATE = 2;
  const SWIGLU = 4;
  /** The kernel, rows of a tile and invocations side by side. */
  const variants = (dtype: TensorDtype) =>
    [
      ["plain, 1 row", shaders.matmul(dtype), { ROWS: 1, COL_LANES: 2, K_LANES: 32 }, 2],
      ["plain, 4 rows", shaders.matmul(dtype), { ROWS: 4, COL_LANES: 8, K_LANES: 8 }, 8],
      ["plain, no shared sums", shaders.matmul(dtype), { ROWS: 4, COL_LANES: 32, K_LANES: 1 }, 32],
      ...(gpu.subgroupSize === 4 || gpu.subgroupSize === 8
        ? SUBGROUP_PRODUCT_ROWS.map((ROWS) => {
            const constants = { ROWS, LANES: 32, SUBGROUP: gpu.subgroupSize as number };
            return [`subgroups, ${ROWS} rows`, shaders.matmulSubgroup(dtype), constants, 32] as const;
          })
        : []),
    ] as const;

  /** Rows, inputs, outputs: single ones, primes, tiles and one more or less. */
  const shapes = [
    [1, 1, 1],
    [1, 128, 64],
    [2, 7, 5],
    [5, 13, 131],
    [16, 64, 128],
    [17, 65, 129],
    [33, 100, 6],
  ] as const;

  it.each(["F32", "BF16", "F16"] as const)("%s, every variant, every shape and kind", async (dtype) => {
    for (const [name, code, constants, columns] of variants(dtype)) {
      for (const [rows, width, out] of shapes) {
        for (const kind of [0, BIAS, ACCUMULATE, BIAS + ACCUMULATE, SWIGLU]) {
          const isSwiglu = kind === SWIGLU;
          const x = randomValues(rows * width, 5);
          const weight = storedMatrix(isSwiglu ? 2 * out : out, width, dtype, 6);
          const bias = randomValues(out, 7);
          const before = randomValues(rows * out, 8);
          const kernel = await gpu.kernel({ label: name, code, constants });
          const buffers = await Promise.all([
            upload(Uint32Array.of(rows, 0, 0, 0), GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST),
            upload(padRows(x, width)),
            upload(weight.words),
            upload(bias),
            upload(padRows(before, out)),
            upload(
              Uint32Array.of(padded(width) / 4, out, padded(out) / 2, 0, kind, 0, 0, 0),
              GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST,
            ),
          ]);
          const encoder = gpu.encode("test");
          const perInvocation = isSwiglu ? 2 : 4;
          const grid = [Math.ceil(out / (columns * perInvocation)), Math.ceil(rows / constants.ROWS)] as const;
          encoder.dispatch(kernel, buffers, grid);
          encoder.submit();
          const result = new Float32Array(await gpu.read(buffers[4]!, 0, rows * padded(out) * 4));
          for (const buffer of buffers) gpu.free(buffer);

          let expected = linear(
            Float64Array.from(x),
            weight.values,
            width,
            kind & BIAS ? Float64Array.from(bias) : undefined,
          );
          if (isSwiglu) {
            const columnsOf = (from: number) => expected.filter((_, i) => Math.floor((i % (2 * out)) / out) === from);
            expected = swiglu(columnsOf(0), columnsOf(1));
          }
          if (kind & ACCUMULATE) expected = expected.map((value, i) => value + before[i]!);
          const error = relativeError(unpadRows(result, out), expected);
          expect(error, `${name}, ${rows} x ${width} -> ${out}, kind ${kind}`).toBeLessThan(5e-6);
          // The padding stays zero, as the next product reads it.
          expect(result.every((value, i) => i % padded(out) < out || value === 0)).toBe(true);
        }
      }
    }
  });

  it("keeps silu finite for large gates", async () => {
    const gate = [-3e4, -200, -80, -1, 0, 1, 80, 3e4];
    const source = {
      label: "silu",
      code: shaders.matmul("F32"),
      constants: { ROWS: 4, COL_LANES: 8, K_LANES: 8 },
    };
    const weights = padRows([...gate, ...gate.map(() => 2)], 1);
    const [out] = await runKernel(
      gpu,
      source,
      [
        { uniform: [1, 0, 0, 0] },
        padRows([1], 1),
        weights,
        new Float32Array(8),
        { outputs: 8 },
        { uniform: [1, 8, 4, 0, SWIGLU, 0, 0, 0] },
      ],
      [1, 1],
    );
    expect(relativeError(out!, swiglu(Float64Array.from(gate), new Float64Array(8).fill(2)))).toBeLessThan(1e-6);
  });

  async function upload(values: Float32Array | Uint32Array, usage?: GPUBufferUsageFlags): Promise<GPUBuffer> {
    const buffer = await gpu.allocate("test", values.byteLength, usage);
    gpu.write(buffer, 0, values);
    return buffer;
  }
});

describe("gatherRows", () => {
  it("copies rows where they belong", async () => {
    const input = randomValues(5 * 8, 9);
    const source = { label: "gatherRows", code: shaders.gatherRows(), constants: { WIDTH4: 2 } };
    const pairs = Uint32Array.of(4, 0, 1, 2);
    const [out] = await runKernel(gpu, source, [{ uniform: [2, 0, 0, 0] }, pairs, input, { outputs: 24 }], 1);
    expect([...out!]).toEqual([...input.slice(32, 40), ...Array(8).fill(0), ...input.slice(8, 16)]);
  });
});
