/** The sampling kernel against src/reference/sampling.ts, given the same logits and random numbers. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Gpu } from "../../src/gpu/device";
import { openNodeGpu } from "../../src/gpu/nodeDevice";
import { BufferScope } from "../../src/gpu/scope";
import { TOKENS_KEPT } from "../../src/model/kernels";
import { PassBuffers } from "../../src/model/pass";
import { NOT_FINITE, SamplingBuffers } from "../../src/model/samplingBuffers";
import { shaders } from "../../src/model/shaders";
import { randomUniform } from "../../src/random/random";
import { drawToken, nextTokenProbabilities, type SamplingFilters } from "../../src/reference/sampling";
import { padRows, randomValues } from "./support/gpu";

const KEEP_ALL: SamplingFilters = { temperature: 1, topK: 0, topP: 1, minP: 0, repetitionPenalty: 1 };

interface Draw {
  logits: ArrayLike<number>;
  filters?: Partial<SamplingFilters>;
  seed?: number;
  drawn?: number;
  seen?: number[];
}

let gpu: Gpu;
beforeAll(async () => {
  gpu = await openNodeGpu();
});
afterAll(() => gpu.close());

/** Draws one token for every row. */
async function drawOnDevice(draws: readonly Draw[], lanes = 32) {
  const vocabSize = draws[0]!.logits.length;
  const pitch = Math.ceil(vocabSize / 4) * 4;
  const scope = new BufferScope(gpu);
  const pass = new PassBuffers(scope);
  const sampling = new SamplingBuffers(scope, vocabSize);
  await pass.reserve(draws.length);
  await sampling.reserve(draws.length);
  pass.set(
    draws.map(({ drawn = 0 }, sequence) => ({ cacheStart: 0, position: 40 + sequence, sequence, drawn, id: 0 })),
  );
  sampling.set(
    draws.map(({ filters, seed = 0, seen = [] }) => ({ options: { ...KEEP_ALL, ...filters, seed }, promptIds: seen })),
  );
  const logits = await scope.allocate("logits", draws.length * pitch * 4);
  const values = new Float32Array(draws.length * pitch);
  draws.forEach((draw, i) => {
    values.set(padRows(draw.logits, vocabSize), i * pitch);
  });
  gpu.write(logits, 0, values);
  const kernel = await gpu.kernel({
    label: "sample",
    code: shaders.sample(),
    constants: {
      VOCAB: vocabSize,
      PITCH: pitch,
      SEEN_PITCH: Math.ceil(vocabSize / 32),
      TOKENS: TOKENS_KEPT,
      LANES: lanes,
    },
  });
  const encoder = gpu.encode("sample");
  const { settings, seen, tokens } = sampling;
  encoder.dispatch(kernel, [pass.uniform, logits, settings, seen, pass.ids, pass.rows, tokens], draws.length);
  encoder.submit();
  const kept = new Uint32Array(await gpu.read(tokens, 0, draws.length * TOKENS_KEPT * 4));
  const result = {
    tokens: draws.map(({ drawn = 0 }, i) => kept[i * TOKENS_KEPT + (drawn % TOKENS_KEPT)]!),
    ids: [...new Uint32Array(await gpu.read(pass.ids, 0, draws.length * 4))],
    rows: new Uint32Array(await gpu.read(pass.rows, 0, draws.length * 16)),
    seen: new Uint32Array(await gpu.read(seen, 0, draws.length * Math.ceil(vocabSize / 32) * 4)),
  };
  scope.freeAll();
  return result;
}

/** Tokens that the reference may draw: rounding decides where top-p's share or the random number falls on an edge. */
function referenceTokens({ logits, filters, seed = 0, drawn = 0, seen = [] }: Draw): number[] {
  const uniform = randomUniform(seed, 0, drawn);
  const { topP } = { ...KEEP_ALL, ...filters };
  return [-1e-5, 0, 1e-5].flatMap((share) => {
    const nudged = { ...KEEP_ALL, ...filters, topP: topP === 1 ? 1 : Math.max(0, topP + share) };
    const probabilities = nextTokenProbabilities(Float64Array.from(logits), nudged, seen);
    return [-3e-6, 0, 3e-6].map((nudge) => drawToken(probabilities, Math.min(Math.max(uniform + nudge, 0), 1)));
  });
}

async function expectReferenceTokens(draws: readonly Draw[], lanes?: number) {
  const { tokens } = await drawOnDevice(draws, lanes);
  for (const [i, draw] of draws.entries()) {
    expect(referenceTokens(draw), `row ${i}: ${JSON.stringify(draw.filters)}`).toContain(tokens[i]);
  }
}

const FILTERS: Partial<SamplingFilters>[] = [
  {},
  { temperature: 0.3 },
  { temperature: 5 },
  { topK: 1 },
  { topK: 2, temperature: 3 },
  { topK: 17 },
  { topK: 100000 },
  { topP: 0.95 },
  { topP: 0.5, temperature: 2 },
  { topP: 1e-6 },
  { minP: 0.1 },
  { minP: 1 },
  { minP: 0.02, temperature: 1.7 },
  { topK: 30, topP: 0.9, minP: 0.05, temperature: 1.4 },
  { repetitionPenalty: 1.8, temperature: 2 },
  { repetitionPenalty: 0.5, topK: 9 },
];

describe("sampling kernel", () => {
  it.each([
    [1, 32],
    [5, 32],
    [131, 32],
    [2048, 64],
    [50021, 256],
  ])("draws the reference's token from a vocabulary of %i with %i lanes", async (vocabSize, lanes) => {
    const draws = Array.from({ length: vocabSize > 10000 ? 16 : 96 }, (_, i): Draw => {
      const seen = Array.from({ length: 20 }, (_, j) => (j * j * 3 + i) % vocabSize);
      const logits = randomValues(vocabSize, i, i % 3 === 0 ? 0.5 : 3);
      return { logits, filters: FILTERS[i % FILTERS.length]!, seed: 1000 + i, drawn: i % 11, seen };
    });
    await expectReferenceTokens(draws, lanes);
  });

  it("keeps equals of the last one that top-k and top-p keep", async () => {
    const logits = [1, 3, 2, 3, 2, 0, 2, -1];
    const draws = Array.from({ length: 300 }, (_, seed): Draw => {
      return { logits, seed, filters: [{ topK: 3 }, { topP: 0.7 }, { topK: 1 }][seed % 3]!, drawn: seed };
    });
    await expectReferenceTokens(draws);
    const { tokens } = await drawOnDevice(draws);
    const drawnWith = (kind: number) => [...new Set(tokens.filter((_, i) => i % 3 === kind))].sort((a, b) => a - b);
    expect(drawnWith(0)).toEqual([1, 2, 3, 4, 6]);
    expect(drawnWith(2)).toEqual([1, 3]);
  });

  it("takes the first of the largest for temperature 0, whatever the filters", async () => {
    const draws: Draw[] = [
      { logits: [-5, -1, -1, -3], filters: { temperature: 0 } },
      { logits: [0, -0, 0, -1], filters: { temperature: 0, topK: 2 } },
      { logits: [4, 4.1, 4, 1], filters: { temperature: 0, repetitionPenalty: 2 }, seen: [1] },
      { logits: [-4, -1, -3, -9], filters: { temperature: 0, repetitionPenalty: 4 }, seen: [1] },
      { logits: [-3e38, -2e38, -3e38, -3.1e38], filters: { temperature: 0 } },
    ];
    const { tokens } = await drawOnDevice(draws);
    expect(tokens).toEqual([1, 0, 0, 2, 1]);
    await expectReferenceTokens(draws.slice(0, 4));
  });

  it("draws among logits that are far apart or all the same", async () => {
    const logits: number[][] = [
      [...Array(40).fill(2.5)],
      [...Array(39).fill(-1e4), 5],
      [-80, -81, ...Array(38).fill(-300)],
      [...Array(20).fill(1e-3), ...Array(20).fill(-1e-3)],
    ];
    const draws = logits.flatMap((row, i) =>
      FILTERS.map((filters, j): Draw => ({ logits: row, filters, seed: i * 100 + j, drawn: j })),
    );
    await expectReferenceTokens(draws);
  });

  it("moves the row on and remembers the token", async () => {
    const draws: Draw[] = [
      { logits: randomValues(70, 1), drawn: 9, seed: 3 },
      { logits: randomValues(70, 2), drawn: 0, seed: 4, seen: [69] },
    ];
    const { tokens, ids, rows, seen } = await drawOnDevice(draws);
    expect(ids).toEqual(tokens);
    expect([...rows]).toEqual([0, 41, 0, 10, 0, 42, 1, 1]);
    const isSeen = (row: number, id: number) => ((seen[row * 3 + (id >> 5)]! >> (id & 31)) & 1) === 1;
    expect(draws.map((_, row) => isSeen(row, tokens[row]!))).toEqual([true, true]);
    expect(isSeen(1, 69)).toBe(true);
    expect(isSeen(0, 69)).toBe(tokens[0] === 69);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])("marks a logit of %f", async (bad) => {
    const { tokens } = await drawOnDevice([
      { logits: [1, bad, 2] },
      { logits: [1, 0, 2], filters: { temperature: 0 } },
    ]);
    expect(tokens).toEqual([NOT_FINITE, 2]);
  });
});
