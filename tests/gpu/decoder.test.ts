/** The whole decoder against the f64 reference: every architecture, number format and way in or out. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { ModelConfig } from "../../src/checkpoint/config";
import type { Gpu } from "../../src/gpu/device";
import { openNodeGpu } from "../../src/gpu/nodeDevice";
import type { LanguageModel } from "../../src/model/languageModel";
import { type ReferenceModel, referenceHidden, referenceLogits } from "../../src/reference/decoder";
import { expectReading } from "../fixtures/reading";
import { relativeError } from "./support/gpu";
import { LLAMA, openModels, QWEN2, QWEN3, someIds } from "./support/models";

/** A ragged batch: single rows, lengths around the tiles of 4, 8 and 16 rows and of 8 keys. */
const LENGTHS = [1, 17, 3, 8, 33, 16, 2];

function expectLogits(model: LanguageModel, reference: ReferenceModel, logits: Float32Array[], inputs: number[][]) {
  const { vocabSize } = model.config;
  for (const [i, ids] of inputs.entries()) {
    expect(logits[i]!.length).toBe(ids.length * vocabSize);
    expect(relativeError(logits[i]!, referenceLogits(reference, { ids }))).toBeLessThan(1e-4);
  }
}

describe.each([
  ["kernels of the device", {}],
  ["kernels without subgroups", { subgroups: false }],
  ["kernels for graphics cards", { software: false }],
] as const)("decoder, %s", (_, options) => {
  let gpu: Gpu;
  beforeAll(async () => {
    gpu = await openNodeGpu(options);
  });
  afterAll(() => gpu.close());

  it.each([
    ["qwen3", "F32", QWEN3],
    ["qwen3", "BF16", QWEN3],
    ["qwen3", "F16", QWEN3],
    ["qwen2", "F32", QWEN2],
    ["qwen2", "BF16", QWEN2],
    ["llama", "F32", LLAMA],
    ["llama", "F16", LLAMA],
    ["llama with biases", "F32", { ...LLAMA, qkvBias: true, oBias: true }],
  ] as const)("%s, %s: logits of a ragged batch", async (_name, dtype, config) => {
    const { model, reference } = await openModels(gpu, config as ModelConfig, { dtype });
    const inputs = LENGTHS.map((length, seed) => someIds(length, config.vocabSize, seed));
    const logits = await model.forward(
      inputs.map((ids) => ({ ids })),
      { output: "logits" },
    );
    expectLogits(model, reference, logits, inputs);
    model.dispose();
  });

  it.each([
    ["logits", false],
    ["logits", true],
    ["hidden", false],
    ["hidden", true],
  ] as const)("gives %s, last row only: %s", async (output, lastOnly) => {
    const { model, reference } = await openModels(gpu, QWEN3);
    const inputs = LENGTHS.map((length, seed) => ({ ids: someIds(length, QWEN3.vocabSize, seed) }));
    const results = await model.forward(inputs, { output, lastOnly });
    const width = output === "logits" ? QWEN3.vocabSize : QWEN3.hiddenSize;
    for (const [i, input] of inputs.entries()) {
      const all = output === "logits" ? referenceLogits(reference, input) : referenceHidden(reference, input);
      expect(relativeError(results[i]!, lastOnly ? all.slice(-width) : all)).toBeLessThan(1e-4);
    }
    model.dispose();
  });

  it("takes embeddings in place of ids, also mixed in one batch", async () => {
    const { model, reference } = await openModels(gpu, QWEN3);
    const ids = someIds(21, QWEN3.vocabSize);
    const embeddings = await model.embed(ids);
    const table = reference.weights.get("model.embed_tokens.weight")!;
    const rows = ids.flatMap((id) => [...table.slice(id * QWEN3.hiddenSize, (id + 1) * QWEN3.hiddenSize)]);
    expect([...embeddings]).toEqual(rows);
    const [fromIds, fromEmbeddings, other] = await model.forward(
      [{ ids }, { embeddings }, { ids: someIds(5, QWEN3.vocabSize, 3) }],
      { output: "logits" },
    );
    expect([...fromEmbeddings!]).toEqual([...fromIds!]);
    expect(relativeError(other!, referenceLogits(reference, { ids: someIds(5, QWEN3.vocabSize, 3) }))).toBeLessThan(
      1e-4,
    );
    model.dispose();
  });

  it.each([
    ["qwen3", QWEN3],
    ["qwen2", QWEN2],
  ] as const)("%s keeps sequences and reads them on, row by row", async (_name, config) => {
    const { model, reference } = await openModels(gpu, config as ModelConfig);
    const inputs = LENGTHS.map((length, seed) => ({ ids: someIds(length, config.vocabSize, seed) }));
    const embeddings = await model.embed(someIds(9, config.vocabSize, 8));
    await expectReading(model, reference, [...inputs, { embeddings }], relativeError);
    model.dispose();
  });

  it("gives a sequence the same numbers in a batch and alone", async () => {
    const { model } = await openModels(gpu, QWEN3);
    const inputs = LENGTHS.map((length, seed) => ({ ids: someIds(length, QWEN3.vocabSize, seed) }));
    const batch = await model.forward(inputs, { output: "logits" });
    for (const [i, input] of inputs.entries()) {
      const [alone] = await model.forward([input], { output: "logits" });
      expect(relativeError(batch[i]!, alone!)).toBeLessThan(1e-5);
    }
    model.dispose();
  });

  it("keeps a cache of f16 close", async () => {
    const { model, reference } = await openModels(gpu, QWEN3, { kvDtype: "f16" });
    const ids = someIds(40, QWEN3.vocabSize);
    const [logits] = await model.forward([{ ids }], { output: "logits" });
    const error = relativeError(logits!, referenceLogits(reference, { ids }));
    expect(error).toBeLessThan(3e-3);
    // It is f16 indeed.
    expect(error).toBeGreaterThan(1e-5);
    model.dispose();
  });
});

describe("decoder within small limits", () => {
  async function closedAfterTest(options: Parameters<typeof openNodeGpu>[0]): Promise<Gpu> {
    const gpu = await openNodeGpu(options);
    onTestFinished(() => gpu.close());
    return gpu;
  }

  it("works at the specification's default limits", async () => {
    const gpu = await closedAfterTest({ raiseLimits: false });
    const { model, reference } = await openModels(gpu, QWEN3);
    const inputs = [someIds(9, QWEN3.vocabSize)];
    expectLogits(model, reference, await model.forward([{ ids: inputs[0]! }], { output: "logits" }), inputs);
    model.dispose();
  });

  it("splits embedding and head that exceed a binding, the rows of a pass and the batch", async () => {
    // 36 columns padded of 4 bytes: 16 KiB hold 113 of 131 rows of the embedding; the logits of 31 rows; the
    // activations of 81 rows; and the keys of 170 positions.
    const gpu = await closedAfterTest({ caps: { maxBindingBytes: 16384, maxWorkgroupsPerDimension: 64 } });
    for (const config of [QWEN3, { ...QWEN3, tieWordEmbeddings: false }]) {
      const { model, reference } = await openModels(gpu, config, { dtype: "F32" });
      const inputs = [40, 70, 5, 64, 90, 1, 33].map((length, seed) => someIds(length, config.vocabSize, seed));
      const sequences = inputs.map((ids) => ({ ids }));
      expectLogits(model, reference, await model.forward(sequences, { output: "logits" }), inputs);
      const last = await model.forward(sequences, { output: "logits", lastOnly: true });
      for (const [i, ids] of inputs.entries()) {
        const expected = referenceLogits(reference, { ids }).slice(-config.vocabSize);
        expect(relativeError(last[i]!, expected)).toBeLessThan(1e-4);
      }
      model.dispose();
    }
  });

  it("names a matrix that no binding can hold", async () => {
    const gpu = await closedAfterTest({ caps: { maxBindingBytes: 8192 } });
    await expect(openModels(gpu, QWEN3)).rejects.toThrow(
      /q_proj\.weight and .*k_proj.*v_proj.* needs 11\.3 KiB, available is 8\.0 KiB/,
    );
    expect(gpu.liveBytes).toBe(0);
  });
});
