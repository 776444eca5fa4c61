/** Generation: what comes out, in which order, when it ends, and what is left behind. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { openCheckpoint } from "../../src/checkpoint/load";
import { randomCheckpoint } from "../../src/checkpoint/randomCheckpoint";
import type { Gpu } from "../../src/gpu/device";
import { DeviceLostError, GpuOutOfMemoryError } from "../../src/gpu/errors";
import { openNodeGpu } from "../../src/gpu/nodeDevice";
import type { GenerateRequest, LanguageModel, TokenEvent } from "../../src/model/languageModel";
import { loadWgslModel } from "../../src/model/wgslModel";
import { randomUniform } from "../../src/random/random";
import { type ReferenceModel, referenceLogits } from "../../src/reference/decoder";
import { argmax, drawToken, nextTokenProbabilities, type SamplingFilters } from "../../src/reference/sampling";
import { openModels, QWEN3, SHOW_IDS, someIds } from "./support/models";

/** With a head of its own: a tied random embedding would mostly repeat the last token. */
const CONFIG = { ...QWEN3, tieWordEmbeddings: false };

/** The most probable continuation, step by step from the definition. */
function greedyReference(reference: ReferenceModel, prompt: number[], count: number): number[] {
  const ids = [...prompt];
  for (let i = 0; i < count; i++) {
    ids.push(argmax(referenceLogits(reference, { ids }).slice(-reference.config.vocabSize)));
  }
  return ids.slice(prompt.length);
}

function prompts(): { ids: number[] }[] {
  return [5, 1, 24, 9, 16].map((length, seed) => ({ ids: someIds(length, CONFIG.vocabSize, seed) }));
}

describe.each([
  ["kernels of the device", {}],
  ["kernels without subgroups", { subgroups: false }],
  ["kernels for graphics cards", { software: false }],
] as const)("generate, %s", (_, options) => {
  let gpu: Gpu;
  let model: Awaited<ReturnType<typeof openModels>>["model"];
  let reference: ReferenceModel;
  beforeAll(async () => {
    gpu = await openNodeGpu(options);
    ({ model, reference } = await openModels(gpu, CONFIG, { seed: 4 }));
  });
  afterAll(() => gpu.close());

  it("writes the reference's most probable tokens for a ragged batch", async () => {
    const inputs = prompts();
    const results = await model.generate(inputs.map((input) => ({ input, maxTokens: 13 })));
    for (const [i, { ids }] of inputs.entries()) {
      expect(results[i]!.ids).toEqual(greedyReference(reference, ids, 13));
      expect(results[i]).toMatchObject({ finishReason: "length", promptTokens: ids.length });
    }
  });

  it("writes the same in a batch and alone, also from embeddings", async () => {
    const requests = prompts().map((input, seed): GenerateRequest => ({ input, maxTokens: 20, temperature: 1, seed }));
    const batch = await model.generate(requests);
    for (const [i, request] of requests.entries()) {
      const embeddings = await model.embed((request.input as { ids: number[] }).ids);
      expect((await model.generate([request]))[0]).toEqual(batch[i]);
      expect((await model.generate([{ ...request, input: { embeddings } }]))[0]).toEqual(batch[i]);
    }
  });

  it("draws as the reference does from the same logits and random numbers", async () => {
    const filters: SamplingFilters[] = [
      { temperature: 1, topK: 0, topP: 1, minP: 0, repetitionPenalty: 1 },
      { temperature: 0.7, topK: 5, topP: 1, minP: 0, repetitionPenalty: 1 },
      { temperature: 1.5, topK: 0, topP: 0.8, minP: 0, repetitionPenalty: 1.3 },
      { temperature: 2, topK: 40, topP: 0.9, minP: 0.05, repetitionPenalty: 0.8 },
      { temperature: 0, topK: 0, topP: 1, minP: 0, repetitionPenalty: 1.5 },
    ];
    const inputs = prompts();
    const requests = inputs.map(
      (input, i): GenerateRequest => ({ input, maxTokens: 16, seed: 100 + i, ...filters[i]! }),
    );
    const results = await model.generate(requests);
    for (const [i, { ids }] of results.entries()) {
      const sequence = [...inputs[i]!.ids];
      for (const [step, id] of ids.entries()) {
        const logits = referenceLogits(reference, { ids: sequence }).slice(-CONFIG.vocabSize);
        const probabilities = nextTokenProbabilities(logits, filters[i]!, sequence);
        const uniform = randomUniform(100 + i, 0, step);
        const expected = [-1e-4, 0, 1e-4].map((nudge) => drawToken(probabilities, Math.max(0, uniform + nudge)));
        // Rounding may decide a draw that falls between two tokens.
        expect(expected).toContain(id);
        sequence.push(id);
      }
    }
  });

  it("gives the same tokens for the same seed and others for another", async () => {
    const write = async (seed: number) => {
      const [result] = await model.generate([{ input: prompts()[2]!, maxTokens: 24, temperature: 1.2, seed }]);
      return result!.ids;
    };
    const first = await write(7);
    expect(await write(7)).toEqual(first);
    expect(await write(8)).not.toEqual(first);
  });

  it("ends each sequence at its own limit or end token, and drops what came after", async () => {
    const inputs = prompts();
    const free = inputs.map(({ ids }) => greedyReference(reference, ids, 11));
    const results = await model.generate(
      inputs.map((input, i) => ({ input, maxTokens: [11, 1, 6, 0, 11][i]!, stopIds: i === 4 ? [free[4]![3]!] : [] })),
    );
    const untilStop = free[4]!.slice(0, free[4]!.indexOf(free[4]![3]!));
    expect(results.map(({ ids }) => ids)).toEqual([free[0], free[1]!.slice(0, 1), free[2]!.slice(0, 6), [], untilStop]);
    expect(results.map(({ finishReason }) => finishReason)).toEqual(["length", "length", "length", "length", "stop"]);
    expect(results[2]!.text).toBe(
      free[2]!
        .slice(0, 6)
        .map((id) => `<${id}>`)
        .join(""),
    );
  });

  it("ends at any of the checkpoint's end tokens", async () => {
    const free = greedyReference(reference, prompts()[0]!.ids, 8);
    const { model: ending } = await openModels(gpu, { ...CONFIG, eosIds: [free[2]!, free[5]!] }, { seed: 4 });
    const [result] = await ending.generate([{ input: prompts()[0]!, maxTokens: 8 }]);
    const end = free.findIndex((id) => id === free[2] || id === free[5]);
    expect(result).toMatchObject({ ids: free.slice(0, end), finishReason: "stop" });
    ending.dispose();
  });

  it("streams every token once, in order, as text that adds up to the result", async () => {
    const events: TokenEvent[] = [];
    const results = await model.generate(
      prompts().map((input, i) => ({ input, maxTokens: 5 + i })),
      { onToken: (event) => events.push(event) },
    );
    for (const [i, result] of results.entries()) {
      const own = events.filter(({ request }) => request === i);
      expect(own.map(({ id }) => id)).toEqual(result.ids);
      expect(own.map(({ text }) => text).join("")).toBe(result.text);
    }
  });

  it("stops when aborted and gives what it has", async () => {
    const controller = new AbortController();
    let seen = 0;
    const results = await model.generate(
      prompts().map((input) => ({ input, maxTokens: 200 })),
      {
        signal: controller.signal,
        onToken: () => {
          if (++seen === 15) controller.abort();
        },
      },
    );
    expect(results.every(({ finishReason }) => finishReason === "aborted")).toBe(true);
    const total = results.reduce((sum, { ids }) => sum + ids.length, 0);
    expect(total).toBe(seen);
    expect(total).toBeLessThan(5 * 30);
    const [before] = await model.generate([{ input: prompts()[0]!, maxTokens: 3 }], { signal: AbortSignal.abort() });
    expect(before).toMatchObject({ ids: [], finishReason: "aborted" });
  });

  it("serves concurrent calls one after the other", async () => {
    const inputs = prompts();
    const all = await Promise.all(inputs.map((input) => model.generate([{ input, maxTokens: 6 }])));
    const forward = model.forward([inputs[0]!], { output: "hidden" });
    for (const [i, { ids }] of inputs.entries()) {
      expect(all[i]![0]!.ids).toEqual(greedyReference(reference, ids, 6));
    }
    expect((await forward)[0]!.length).toBe(inputs[0]!.ids.length * CONFIG.hiddenSize);
  });
});

describe("generate, memory and loss", () => {
  async function open(options: Parameters<typeof openNodeGpu>[0] = {}): Promise<Gpu> {
    const gpu = await openNodeGpu(options);
    onTestFinished(() => gpu.close());
    return gpu;
  }
  const requests = (maxTokens: number): GenerateRequest[] => prompts().map((input) => ({ input, maxTokens }));

  it("leaves nothing on the device after dispose", async () => {
    const gpu = await open();
    const { model: first } = await openModels(gpu, CONFIG);
    const before = gpu.liveBytes;
    const { model } = await openModels(gpu, CONFIG);
    const loaded = gpu.liveBytes;
    expect(model.liveBytes).toBe(loaded - before);
    await model.generate(requests(20));
    await model.forward([prompts()[0]!], { output: "logits" });
    expect(model.liveBytes).toBeGreaterThan(loaded - before);
    model.dispose();
    model.dispose();
    expect(model.liveBytes).toBe(0);
    expect(gpu.liveBytes).toBe(before);
    await expect(model.generate(requests(1))).rejects.toThrow("model random has been disposed of");
    await first.generate(requests(1));
    first.dispose();
    expect(gpu.liveBytes).toBe(0);
  });

  it("ends a running call when disposed of", async () => {
    const gpu = await open();
    const { model } = await openModels(gpu, CONFIG);
    const running = model.generate(requests(200), { onToken: () => model.dispose() });
    await expect(running).rejects.toThrow("model random has been disposed of");
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(gpu.liveBytes).toBe(0);
    expect(() => gpu.check()).not.toThrow();
  });

  it("divides a batch that exceeds the memory, and names what one sequence lacks", async () => {
    const roomyGpu = await open();
    const { model: roomy } = await openModels(roomyGpu, CONFIG);
    const expected = await roomy.generate(requests(40));
    expect(roomyGpu.liveBytes).toBeGreaterThan(270_000);
    // Enough for the weights and a part of the batch.
    const gpu = await open({ memoryBudget: 270_000 });
    const { model } = await openModels(gpu, CONFIG);
    expect(await model.generate(requests(40))).toEqual(expected);
    expect(gpu.liveBytes).toBeLessThanOrEqual(270_000);
    const tight = await open({ memoryBudget: 150_000 });
    const { model: starved } = await openModels(tight, CONFIG);
    const failure = await starved.generate([{ input: prompts()[0]!, maxTokens: 240 }]).catch((error) => error);
    expect(failure).toBeInstanceOf(GpuOutOfMemoryError);
    expect(failure.message).toMatch(/out of memory on the GPU: .* needs .* available is .* are in use/);
    expect(failure.neededBytes).toBeGreaterThan(failure.availableBytes);
  });

  it("divides sequences that are kept, when they exceed the memory together, and keeps none when they do not fit", async () => {
    const inputs = Array.from({ length: 6 }, (_, seed) => ({ ids: someIds(20 + seed, CONFIG.vocabSize, seed) }));
    const room = 40;
    const rows = inputs.map((_, i) => Float32Array.from({ length: CONFIG.hiddenSize }, (_, k) => Math.sin(3 * i + k)));
    // Leaves a cache behind.
    const writeMuch = (model: LanguageModel) => model.generate(requests(40));
    const roomyGpu = await open();
    const { model: roomy } = await openModels(roomyGpu, CONFIG);
    await writeMuch(roomy);
    const cacheBytes = roomy.bytes.keyValueCache;
    const wanted = await roomy.read(inputs, { room });
    const wantedNext = await wanted.append(rows);
    const memoryBudget = roomyGpu.liveBytes - Math.floor(cacheBytes / 2);

    const gpu = await open({ memoryBudget });
    const { model } = await openModels(gpu, CONFIG);
    await writeMuch(model);
    const reading = await model.read(inputs, { room });
    expect(reading.newest).toEqual(wanted.newest);
    expect(await reading.append(rows)).toEqual(wantedNext);
    expect(gpu.liveBytes).toBeLessThanOrEqual(memoryBudget);
    reading.dispose();
    const idle = model.bytes.keyValueCache;
    expect(idle).toBeLessThan(cacheBytes / 2);
    const many = Array.from({ length: 60 }, (_, i) => inputs[i % inputs.length]!);
    await expect(model.read(many, { room })).rejects.toThrow(GpuOutOfMemoryError);
    expect(model.bytes.keyValueCache).toBe(idle);
    // What failed is no hindrance for what fits.
    const again = await model.read(inputs, { room });
    expect(again.newest).toEqual(wanted.newest);
  });

  it("says that the device was lost", async () => {
    const gpu = await open();
    const { model } = await openModels(gpu, CONFIG);
    const failure = await model.generate(requests(200), { onToken: () => gpu.close() }).catch((error) => error);
    expect(failure).toBeInstanceOf(DeviceLostError);
    expect(failure.message).toBe("the GPU device was lost: it was closed");
    await expect(model.generate(requests(1))).rejects.toThrow(DeviceLostError);
  });

  it("names logits that are not finite", async () => {
    const gpu = await open();
    const checkpoint = await openCheckpoint(randomCheckpoint(CONFIG));
    const tensors = new Map(checkpoint.tensors);
    const norm = tensors.get("model.norm.weight")!;
    const huge = new Uint8Array(new Float32Array(CONFIG.hiddenSize).fill(3e38).buffer);
    tensors.set(norm.name, { ...norm, read: async () => huge });
    const model = await loadWgslModel({ id: "huge", gpu, checkpoint: { ...checkpoint, tensors }, tokenizer: SHOW_IDS });
    await expect(model.generate(requests(2))).rejects.toThrow(
      "request 0: the model's logits are not finite after 0 new tokens",
    );
  });
});
