/** Three engines on the same weights: our own, and onnxruntime-web on the processor and on WebGPU. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { nodeModels } from "../../src/cli/nodeModels";
import type { GenerateRequest, LanguageModel } from "../../src/model/languageModel";
import { loadOnnxModel } from "../../src/onnx/load";
import { nodeOnnxRuntime } from "../../src/onnx/nodeRuntime";
import { referenceHidden, referenceLogits } from "../../src/reference/decoder";
import { argmax } from "../../src/reference/sampling";
import { CHECKPOINTS, openRandom, quantizedReference, relativeError } from "../fixtures/onnxModels";
import { SHOW_IDS, someIds } from "../fixtures/showIds";

describe("the shipped agent", () => {
  const models = nodeModels();
  let wgsl: LanguageModel;
  let onnx: LanguageModel;
  beforeAll(async () => {
    wgsl = await (await models.find(undefined)).load();
    onnx = await (await models.find(undefined, { engine: "onnx-wasm" })).load();
  });
  afterAll(() => models.close());

  const questions = [
    "Where was the founder of the oldest harbour town born?",
    "Who wrote it?",
    "Which of the two rivers is longer, and through how many provinces does it flow before it reaches the sea?",
  ];
  const prompts = () =>
    questions.map((content) => ({
      ids: wgsl.tokenizer.encode(wgsl.tokenizer.renderChat([{ role: "user", content }])),
    }));

  it("has the same logits and hidden states on both, of ids and of vectors", async () => {
    for (const output of ["logits", "hidden"] as const) {
      const wanted = await wgsl.forward(prompts(), { output });
      const found = await onnx.forward(prompts(), { output });
      wanted.forEach((values, i) => {
        expect(relativeError(found[i]!, values)).toBeLessThan(1e-3);
      });
    }
    const vectors = await wgsl.embed(prompts()[0]!.ids);
    expect(relativeError(await onnx.embed(prompts()[0]!.ids), vectors)).toBe(0);
    const embeddings = vectors.map((value, i) => 1.1 * value + 0.01 * Math.cos(i));
    const [wanted] = await wgsl.forward([{ embeddings }], { output: "logits", lastOnly: true });
    const [found] = await onnx.forward([{ embeddings }], { output: "logits", lastOnly: true });
    expect(relativeError(found!, wanted!)).toBeLessThan(1e-3);
  });

  it("writes the same greedy tokens on both, in a batch and from vectors", async () => {
    const embeddings = await wgsl.embed(prompts()[2]!.ids);
    const requests = [...prompts(), { embeddings }].map((input): GenerateRequest => ({ input, maxTokens: 40 }));
    const found = await onnx.generate(requests);
    expect(found).toEqual(await wgsl.generate(requests));
    expect(found[0]!.ids.length).toBeGreaterThan(5);
  });

  it("draws the same tokens for the same seed", async () => {
    const filters = { temperature: 0.9, topK: 50, topP: 0.95, repetitionPenalty: 1.1 };
    const requests = prompts().map((input, seed): GenerateRequest => ({ input, maxTokens: 24, seed, ...filters }));
    expect((await onnx.generate(requests)).map(({ ids }) => ids)).toEqual(
      (await wgsl.generate(requests)).map(({ ids }) => ids),
    );
  });
});

describe("onnxruntime-web on WebGPU", () => {
  it.each([
    ...Object.keys(CHECKPOINTS).map((name) => [name, "f32"] as const),
    ["mistral, widths of 32", "q8"] as const,
    ["mistral, widths of 32", "q4"] as const,
  ])("computes what the reference does: %s in %s", { timeout: 120_000 }, async (name, weights) => {
    const { checkpoint, reference: exact } = await openRandom(name);
    const reference = quantizedReference(exact, weights);
    const runtime = await nodeOnnxRuntime("webgpu");
    const model = await loadOnnxModel({ id: "random", runtime, checkpoint, tokenizer: SHOW_IDS, weights });
    const { vocabSize } = model.config;
    const inputs = [9, 4].map((length, seed) => ({ ids: someIds(length, vocabSize, seed) }));
    // Vectors that no token has, in the same batch.
    const embeddings = (await model.embed(someIds(6, vocabSize, 2))).map((value, i) => value + 0.1 * Math.sin(i));
    const batch = [...inputs, { embeddings }];
    const logits = await model.forward(batch, { output: "logits" });
    const hidden = await model.forward(batch, { output: "hidden", lastOnly: true });
    batch.forEach((input, i) => {
      expect(relativeError(logits[i]!, referenceLogits(reference, input))).toBeLessThan(1e-3);
      const wanted = referenceHidden(reference, input).slice(-hidden[i]!.length);
      expect(relativeError(hidden[i]!, wanted)).toBeLessThan(1e-3);
    });
    // The second sequence goes on alone, with what is cached of it.
    const results = await model.generate(inputs.map((input, i) => ({ input, maxTokens: i === 0 ? 2 : 5 })));
    for (const [i, { ids }] of results.entries()) {
      const sequence = [...inputs[i]!.ids];
      for (const id of ids) {
        expect(id).toBe(argmax(referenceLogits(reference, { ids: sequence }).slice(-vocabSize)));
        sequence.push(id);
      }
      expect(ids).toHaveLength(i === 0 ? 2 : 5);
    }
    model.dispose();
  });
});
