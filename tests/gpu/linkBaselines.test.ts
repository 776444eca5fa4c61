/** The links that are not trained, on the device. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Gpu } from "../../src/gpu/device";
import { openNodeGpu } from "../../src/gpu/nodeDevice";
import {
  matrixLink,
  meanRowNorm,
  nearestToken,
  noiseLink,
  normMatchedIdentity,
  softEmbedding,
  zeroLink,
} from "../../src/links/baselines";
import type { Link } from "../../src/links/link";
import { orthonormalProjection, paddingProjection, RidgeFit } from "../../src/links/ridge";
import { Random } from "../../src/random/random";
import { linear } from "../../src/reference/linear";
import { rmsNormBackward } from "../../src/reference/rmsNorm";
import { topKSoftmax } from "../../src/reference/softmax";
import { relativeError } from "../../src/tensor/check/runCase";
import { Tape } from "../../src/tensor/tape";

let gpu: Gpu;
let tape: Tape;
beforeAll(async () => {
  gpu = await openNodeGpu();
  tape = new Tape(gpu);
});
afterAll(() => {
  expect(tape.liveBytes).toBe(0);
  tape.dispose();
  expect(gpu.liveBytes).toBe(0);
  gpu.close();
});

const normals = (count: number, seed: number, spread = 1) => {
  const random = new Random(seed, 9);
  return Float64Array.from({ length: count }, () => Math.fround(spread * random.normal()));
};

/** Outputs and the gradient of the input, if there is one, for rows of hidden states. */
async function run(link: Link, values: Float64Array, dOut?: Float64Array) {
  const rows = values.length / link.inputSize;
  const hidden = tape.tensor(values, rows, link.inputSize, { label: "latents", requiresGrad: true });
  const output = tape.scope(() => {
    const result = link.forward(hidden);
    if (dOut && result.requiresGrad) tape.backward(result, tape.tensor(dOut, rows, link.outputSize));
    return result;
  });
  expect([output.rows, output.columns]).toEqual([rows, link.outputSize]);
  const results = { output: await output.read(), dHidden: await hidden.grad?.read() };
  output.dispose();
  hidden.dispose();
  return results;
}

const lengths = (values: Float32Array | Float64Array, size: number) =>
  Array.from({ length: values.length / size }, (_, row) =>
    Math.hypot(...values.subarray(row * size, (row + 1) * size)),
  );

describe("the norm-matched identity", () => {
  it.each([1, 3, 33])("keeps directions and sets lengths at width %i, with gradients", async (size) => {
    const link = normMatchedIdentity({ tape, inputSize: size, outputSize: size, embeddingNorm: 0.7 });
    const [values, dOut] = [normals(5 * size, 1, 20), normals(5 * size, 2)];
    const { output, dHidden } = await run(link, values, dOut);
    const length = lengths(values, size);
    const expected = values.map((value, i) => (0.7 * value) / length[Math.floor(i / size)]!);
    expect(relativeError(output, expected)).toBeLessThan(1e-5);
    const weights = new Float64Array(size).fill(0.7 / Math.sqrt(size));
    const { dX } = rmsNormBackward(dOut, values, weights, 1e-12);
    // Of a single element only the sign remains: the gradient is zero, up to rounding.
    if (size > 1) expect(relativeError(dHidden!, dX)).toBeLessThan(1e-4);
    else for (const value of dHidden!) expect(Math.abs(value)).toBeLessThan(1e-5);
    link.dispose();
  });

  it("leaves zeros alone", async () => {
    const link = normMatchedIdentity({ tape, inputSize: 6, outputSize: 6, embeddingNorm: 2 });
    expect([...(await run(link, new Float64Array(12))).output]).toEqual(Array(12).fill(0));
    link.dispose();
  });

  it("goes between widths by the projection named, and by none otherwise", async () => {
    const sizes = { tape, embeddingNorm: 1.5 };
    expect(() => normMatchedIdentity({ ...sizes, inputSize: 5, outputSize: 9 })).toThrow(
      "identity: none leads from 5 to 9: name a projection, or fit a matrix",
    );
    for (const [inputSize, outputSize] of [
      [5, 9],
      [9, 5],
    ] as const) {
      for (const projection of ["orthonormal", "padding"] as const) {
        const link = normMatchedIdentity({ ...sizes, inputSize, outputSize, projection, seed: 3 });
        const values = normals(4 * inputSize, 6);
        const { output, dHidden } = await run(link, values, normals(4 * outputSize, 7));
        const matrix =
          projection === "padding"
            ? paddingProjection(inputSize, outputSize)
            : orthonormalProjection(inputSize, outputSize, 3);
        const projected = linear(values, matrix, inputSize);
        const length = lengths(projected, outputSize);
        const expected = projected.map((value, i) => (1.5 * value) / length[Math.floor(i / outputSize)]!);
        expect(relativeError(output, expected), projection).toBeLessThan(1e-5);
        expect(dHidden!.some((value) => value !== 0)).toBe(true);
        link.dispose();
      }
    }
  });

  it("asks for a length that is one", () => {
    expect(() => normMatchedIdentity({ tape, inputSize: 2, outputSize: 2, embeddingNorm: 0 })).toThrow(
      "embeddingNorm is 0",
    );
  });
});

describe("a ridge fit", () => {
  it("becomes a link, with gradients and, if asked, the length of embeddings", async () => {
    const [from, to] = [7, 4];
    const fit = new RidgeFit(from, to);
    fit.add(normals(30 * from, 1), normals(30 * to, 2));
    const matrix = fit.solve();
    const [values, dOut] = [normals(3 * from, 3), normals(3 * to, 4)];
    const link = matrixLink({ tape, inputSize: from, outputSize: to, matrix });
    const { output, dHidden } = await run(link, values, dOut);
    expect(relativeError(output, linear(values, matrix, from))).toBeLessThan(1e-5);
    const transposed = Float64Array.from(
      { length: from * to },
      (_, i) => matrix[(i % to) * from + Math.floor(i / to)]!,
    );
    expect(relativeError(dHidden!, linear(dOut, transposed, to))).toBeLessThan(1e-5);
    link.dispose();
    const long = matrixLink({ tape, inputSize: from, outputSize: to, matrix, embeddingNorm: 3 });
    for (const length of lengths((await run(long, values)).output, to)) expect(length).toBeCloseTo(3, 4);
    long.dispose();
    expect(() => matrixLink({ tape, inputSize: 4, outputSize: 7, matrix: [1] })).toThrow(
      "matrix: 1 values instead of [7, 4]",
    );
  });
});

describe("tokens", () => {
  const [tokens, from, to] = [23, 6, 9];

  it.each([undefined, 1, 5])("soft embeddings of the %s most likely", async (topK) => {
    const head = tape.tensor(normals(tokens * from, 1), tokens, from, { label: "head" });
    const table = normals(tokens * to, 2);
    const embedding = tape.tensor(table, tokens, to, { label: "embedding" });
    const link = softEmbedding({ tape, head, embedding, temperature: 0.5, topK });
    const values = normals(5 * from, 3);
    const { output, dHidden } = await run(link, values, normals(5 * to, 4));
    const logits = linear(values, normals(tokens * from, 1), from).map((value) => value / 0.5);
    const p = topKSoftmax(logits, tokens, topK ?? tokens);
    const columns = Float64Array.from(
      { length: table.length },
      (_, i) => table[(i % tokens) * to + Math.floor(i / tokens)]!,
    );
    expect(relativeError(output, linear(p, columns, tokens))).toBeLessThan(1e-5);
    if (topK === 1) expect([...dHidden!].every((value) => value === 0)).toBe(true);
    else expect(dHidden!.some((value) => value !== 0)).toBe(true);
    for (const resource of [link, head, embedding]) resource.dispose();
  });

  it("the nearest embedding, exactly, from a table in bf16 too", async () => {
    const table = normals(tokens * from, 5);
    // Longer embeddings must not win by their length.
    table.subarray(0, from).fill(1000);
    for (const dtype of ["F32", "BF16"] as const) {
      const embedding = tape.tensor(table, tokens, from, { dtype });
      const link = nearestToken({ tape, embedding });
      const values = normals(40 * from, 6);
      const { output, dHidden } = await run(link, values, normals(40 * from, 7));
      for (let row = 0; row < 40; row++) {
        const h = values.subarray(row * from, (row + 1) * from);
        const cosines = Array.from({ length: tokens }, (_, token) => {
          const e = table.subarray(token * from, (token + 1) * from);
          return e.reduce((sum, value, i) => sum + value * h[i]!, 0) / Math.hypot(...e);
        });
        const best = cosines.indexOf(Math.max(...cosines));
        const expected = table.subarray(best * from, (best + 1) * from);
        const found = output.subarray(row * from, (row + 1) * from);
        if (dtype === "F32") expect([...found]).toEqual([...expected]);
        else expect(relativeError(found, expected)).toBeLessThan(0.01);
      }
      expect(dHidden).toBeUndefined();
      for (const resource of [link, embedding]) resource.dispose();
    }
  });

  it("refuse vocabularies that differ or are in parts", () => {
    const head = tape.tensor(normals(12, 1), 4, 3);
    const embedding = tape.tensor(normals(15, 1), 5, 3);
    expect(() => softEmbedding({ tape, head, embedding })).toThrow("the head has 4 tokens, the embeddings 5");
    expect(() => nearestToken({ tape, embedding: [head, embedding] })).toThrow("a vocabulary in 2 buffers");
    expect(() => softEmbedding({ tape, head, embedding: head, temperature: 0 })).toThrow("temperature is 0");
    for (const tensor of [head, embedding]) tensor.dispose();
  });
});

describe("no message", () => {
  it("is zeros, without a gradient", async () => {
    const link = zeroLink({ tape, inputSize: 3, outputSize: 5 });
    const { output, dHidden } = await run(link, normals(6, 1), normals(10, 2));
    expect([...output]).toEqual(Array(10).fill(0));
    expect(dHidden).toBeUndefined();
    const wide = tape.tensor(normals(8, 1), 2, 4, { label: "latents" });
    expect(() => link.forward(wide)).toThrow("zero: latents is [2, 4], and the link takes rows of 3");
    wide.dispose();
  });

  it("is noise of the length of embeddings, the same for a seed, new in each call", async () => {
    const make = (seed: number) => noiseLink({ tape, inputSize: 3, outputSize: 17, embeddingNorm: 2.5, seed });
    const [a, b, c] = [make(1), make(1), make(2)];
    const values = normals(6, 1);
    const first = (await run(a, values)).output;
    for (const length of lengths(first, 17)) expect(length).toBeCloseTo(2.5, 5);
    expect((await run(b, values)).output).toEqual(first);
    expect((await run(a, values)).output).not.toEqual(first);
    expect((await run(c, values)).output).not.toEqual(first);
  });
});

describe("the mean length of embeddings", () => {
  it("is taken over all parts, in any format", async () => {
    const [first, second] = [normals(5000 * 3, 1), normals(7 * 3, 2, 4)];
    const parts = [tape.tensor(first, 5000, 3), tape.tensor(second, 7, 3, { dtype: "F16" })];
    const all = [...lengths(first, 3), ...lengths(second, 3)];
    const mean = all.reduce((sum, length) => sum + length, 0) / all.length;
    expect(await meanRowNorm(parts)).toBeCloseTo(mean, 4);
    for (const part of parts) part.dispose();
  });
});
