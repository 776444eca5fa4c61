/** The engine on onnxruntime-web's WebAssembly: against the f64 reference, and what a LanguageModel promises. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHECKPOINTS, openRandom, quantizedReference, relativeError } from "../../tests/fixtures/onnxModels";
import { expectReading } from "../../tests/fixtures/reading";
import { SHOW_IDS, someIds } from "../../tests/fixtures/showIds";
import { theirExport } from "../../tests/fixtures/theirExport";
import { configToJson } from "../checkpoint/config";
import { memorySource } from "../checkpoint/sources";
import type { GenerateRequest, LanguageModel, SequenceInput, TokenEvent } from "../model/languageModel";
import { randomUniform } from "../random/random";
import { type ReferenceModel, referenceHidden, referenceLogits } from "../reference/decoder";
import { argmax, drawToken, nextTokenProbabilities } from "../reference/sampling";
import { loadOnnxExport, loadOnnxModel } from "./load";
import { nodeOnnxRuntime } from "./nodeRuntime";
import type { WeightFormat } from "./weights";
import { onnxData, onnxExport } from "./writer";

async function open(name: string, weights: WeightFormat = "f32", eosIds: number[] = []) {
  const { checkpoint, reference } = await openRandom(name);
  const model = await loadOnnxModel({
    id: "random",
    runtime: await nodeOnnxRuntime("wasm"),
    checkpoint: { ...checkpoint, config: { ...checkpoint.config, eosIds } },
    tokenizer: SHOW_IDS,
    weights,
  });
  return { model, reference: quantizedReference(reference, weights), checkpoint };
}

/** The most probable continuation, step by step from the definition. */
function greedyReference(reference: ReferenceModel, input: SequenceInput, count: number): number[] {
  const { vocabSize, hiddenSize } = reference.config;
  const table = reference.weights.get("model.embed_tokens.weight")!;
  const rowOf = (id: number) => [...table.subarray(id * hiddenSize, (id + 1) * hiddenSize)];
  const rows = "ids" in input ? Array.from(input.ids).flatMap(rowOf) : [...input.embeddings];
  const written: number[] = [];
  while (written.length < count) {
    const id = argmax(referenceLogits(reference, { embeddings: rows }).slice(-vocabSize));
    written.push(id);
    rows.push(...rowOf(id));
  }
  return written;
}

const LENGTHS = [5, 1, 24, 9, 16];
const promptsOf = ({ config }: { config: { vocabSize: number } }) =>
  LENGTHS.map((length, seed) => ({ ids: someIds(length, config.vocabSize, seed) }));

/** The same as vectors, each turned into something that no token is. */
async function vectorsOf(model: LanguageModel, inputs: readonly { ids: number[] }[]) {
  return Promise.all(
    inputs.map(async ({ ids }) => {
      const embeddings = await model.embed(ids);
      return { embeddings: embeddings.map((value, i) => value + 0.1 * Math.sin(i)) };
    }),
  );
}

const CASES = [
  ...Object.keys(CHECKPOINTS).map((name) => [name, "f32"] as const),
  ["mistral, widths of 32", "q8"] as const,
  ["mistral, widths of 32", "q4"] as const,
];

describe.each(CASES)("%s in %s", (name, weights) => {
  let model: LanguageModel;
  let reference: ReferenceModel;
  beforeAll(async () => {
    ({ model, reference } = await open(name, weights));
  });
  afterAll(() => model.dispose());

  it("gives the reference's logits and hidden states for a ragged batch of ids and vectors", async () => {
    const ids = promptsOf(model);
    const vectors = await vectorsOf(model, ids);
    const inputs = ids.map((input, i) => (i % 2 === 0 ? input : vectors[i]!));
    const { vocabSize, hiddenSize } = model.config;
    for (const [output, compute, width] of [
      ["logits", referenceLogits, vocabSize],
      ["hidden", referenceHidden, hiddenSize],
    ] as const) {
      const all = await model.forward(inputs, { output });
      const last = await model.forward(inputs, { output, lastOnly: true });
      inputs.forEach((input, i) => {
        const wanted = compute(reference, input);
        expect(relativeError(all[i]!, wanted)).toBeLessThan(1e-4);
        expect(relativeError(last[i]!, wanted.slice(-width))).toBeLessThan(1e-4);
      });
    }
  });

  it("writes the reference's most probable tokens, from ids and from vectors, together and alone", async () => {
    const ids = promptsOf(model);
    const vectors = await vectorsOf(model, ids);
    const inputs = [...ids, ...vectors];
    const wanted = inputs.map((input) => greedyReference(reference, input, 8));
    const together = await model.generate(inputs.map((input) => ({ input, maxTokens: 8 })));
    expect(together.map((result) => result.ids)).toEqual(wanted);
    const [alone] = await model.generate([{ input: inputs[3]!, maxTokens: 8 }]);
    expect(alone!.ids).toEqual(wanted[3]);
  });

  it("keeps sequences and reads them on, row by row", async () => {
    const ids = promptsOf(model);
    const vectors = await vectorsOf(model, ids);
    const inputs = ids.map((input, i) => (i % 2 === 0 ? input : vectors[i]!));
    await expectReading(model, reference, inputs, relativeError);
  });

  it("looks embeddings up", async () => {
    const { hiddenSize } = model.config;
    const table = reference.weights.get("model.embed_tokens.weight")!;
    const ids = [3, 0, 63, 3];
    const wanted = ids.flatMap((id) => [...table.subarray(id * hiddenSize, (id + 1) * hiddenSize)]);
    expect([...(await model.embed(ids))]).toEqual(wanted.map(Math.fround));
  });
});

describe("a model", () => {
  let model: LanguageModel;
  let reference: ReferenceModel;
  beforeAll(async () => {
    ({ model, reference } = await open("qwen3 with biases, own head, bf16"));
  });
  afterAll(() => model.dispose());
  const inputs = () => promptsOf(model);

  it("reads many long prompts in pieces, and writes on", async () => {
    // So many rows that a run takes a few columns only; some sequences begin in the last of them.
    const lengths = Array.from({ length: 30 }, (_, i) => 60 + i - (i % 7 === 0 ? 40 : 0));
    const many = lengths.map((length, seed) => ({ ids: someIds(length, model.config.vocabSize, seed) }));
    const all = await model.forward(many, { output: "logits" });
    const last = await model.forward(many, { output: "hidden", lastOnly: true });
    for (const i of [0, 1, 28, 29]) {
      expect(relativeError(all[i]!, referenceLogits(reference, many[i]!))).toBeLessThan(1e-4);
      expect(relativeError(last[i]!, referenceHidden(reference, many[i]!).slice(-36))).toBeLessThan(1e-4);
    }
    const results = await model.generate(many.map((input) => ({ input, maxTokens: 3 })));
    for (const i of [0, 29]) expect(results[i]!.ids).toEqual(greedyReference(reference, many[i]!, 3));
  });

  it("draws as the reference does from the same logits and random numbers", async () => {
    const filters = { temperature: 1.4, topK: 40, topP: 0.9, minP: 0.05, repetitionPenalty: 1.3 };
    const results = await model.generate(
      inputs().map((input, seed): GenerateRequest => ({ input, maxTokens: 12, seed, ...filters })),
    );
    for (const [i, { ids }] of results.entries()) {
      const sequence = [...inputs()[i]!.ids];
      for (const [step, id] of ids.entries()) {
        const logits = referenceLogits(reference, { ids: sequence }).slice(-model.config.vocabSize);
        const probabilities = nextTokenProbabilities(logits, filters, sequence);
        const uniform = randomUniform(i, 0, step);
        // Rounding may decide a draw that falls between two tokens.
        expect([-1e-4, 0, 1e-4].map((nudge) => drawToken(probabilities, Math.max(0, uniform + nudge)))).toContain(id);
        sequence.push(id);
      }
    }
  });

  it("ends each sequence at its own limit or end token, while the others go on", async () => {
    const free = inputs().map((input) => greedyReference(reference, input, 11));
    const stop = free[4]![3]!;
    const limits = [11, 1, 6, 0, 11];
    const events: TokenEvent[] = [];
    const results = await model.generate(
      inputs().map((input, i) => ({ input, maxTokens: limits[i]!, stopIds: i === 4 ? [stop] : [] })),
      { onToken: (event) => events.push(event) },
    );
    const wanted = free.map((ids, i) => (i === 4 ? ids.slice(0, ids.indexOf(stop)) : ids.slice(0, limits[i])));
    expect(results.map(({ ids }) => ids)).toEqual(wanted);
    expect(results.map(({ finishReason }) => finishReason)).toEqual(["length", "length", "length", "length", "stop"]);
    expect(results.map(({ promptTokens }) => promptTokens)).toEqual(LENGTHS);
    for (const [i, { ids, text }] of results.entries()) {
      const own = events.filter(({ request }) => request === i);
      expect(own.map(({ id }) => id)).toEqual(ids);
      expect(own.map((event) => event.text).join("")).toBe(text);
      expect(text).toBe(ids.map((id) => `<${id}>`).join(""));
    }
  });

  it("writes to the end of the context, while longer sequences of the batch have long ended", async () => {
    const { maxPositions } = model.config;
    const lengths = [maxPositions, maxPositions - 1, 40, maxPositions - 60];
    const requests = lengths.map((length, seed): GenerateRequest => {
      return { input: { ids: someIds(length, model.config.vocabSize, seed) }, maxTokens: maxPositions - length };
    });
    const results = await model.generate(requests);
    for (const [i, { ids }] of results.entries()) {
      const { input, maxTokens } = requests[i]!;
      expect(ids).toEqual(greedyReference(reference, input, maxTokens));
    }
    await expect(model.generate([{ ...requests[0]!, maxTokens: 1 }])).rejects.toThrow("96 positions");
  });

  it("ends at the checkpoint's end token", async () => {
    const free = greedyReference(reference, inputs()[0]!, 8);
    const ending = await open("qwen3 with biases, own head, bf16", "f32", [free[2]!]);
    const [result] = await ending.model.generate([{ input: inputs()[0]!, maxTokens: 8 }]);
    expect(result).toMatchObject({ ids: free.slice(0, free.indexOf(free[2]!)), finishReason: "stop" });
    ending.model.dispose();
  });

  it("stops when aborted and gives what it has; a pass that is aborted throws", async () => {
    const controller = new AbortController();
    let seen = 0;
    const results = await model.generate(
      inputs().map((input) => ({ input, maxTokens: 60 })),
      {
        signal: controller.signal,
        onToken: () => {
          if (++seen === 15) controller.abort(new Error("enough"));
        },
      },
    );
    expect(results.map(({ finishReason }) => finishReason)).toEqual(new Array(5).fill("aborted"));
    expect(results.reduce((sum, { ids }) => sum + ids.length, 0)).toBe(15);
    await expect(model.forward(inputs(), { output: "logits", signal: controller.signal })).rejects.toThrow("enough");
    expect(model.liveBytes).toBeGreaterThan(0);
  });

  it("lets an abort through that comes from a timer while tokens are written", async () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 30);
    const requests = Array.from({ length: 20 }, () => ({ input: inputs()[0]!, maxTokens: 90 }));
    const results = await model.generate(requests, { signal: controller.signal });
    expect(results.some(({ finishReason }) => finishReason === "aborted")).toBe(true);
  });

  it("takes calls from anywhere at any time", async () => {
    const [input] = inputs();
    const [first, hidden, second] = await Promise.all([
      model.generate([{ input: input!, maxTokens: 5 }]),
      model.forward([input!], { output: "hidden", lastOnly: true }),
      model.generate([{ input: input!, maxTokens: 5 }]),
    ]);
    expect(first).toEqual(second);
    expect(hidden[0]).toHaveLength(model.config.hiddenSize);
  });

  it("names what is wrong with a request", async () => {
    const bad = (request: Partial<GenerateRequest>) =>
      model.generate([{ input: { ids: [1] }, maxTokens: 1, ...request }]);
    await expect(bad({ input: { ids: [5, 131] } })).rejects.toThrow("id 131 at position 1");
    await expect(bad({ maxTokens: 96 })).rejects.toThrow("exceed the model's 96 positions");
    await expect(bad({ temperature: -1 })).rejects.toThrow("temperature is -1");
    await expect(model.forward([], { output: "logits" })).rejects.toThrow("the batch is empty");
  });

  it("counts its bytes, and nothing after it is disposed of; who still asks gets an error", async () => {
    const { model: other } = await open("llama: own head, a key for each head");
    expect(other.liveBytes).toBeGreaterThan(1000);
    const running = other.generate([{ input: { ids: [1, 2, 3] }, maxTokens: 50 }]);
    setTimeout(() => other.dispose(), 5);
    await expect(running).rejects.toThrow("model random has been disposed of");
    await expect(other.embed([1])).rejects.toThrow("model random has been disposed of");
    await expect.poll(() => other.liveBytes).toBe(0);
    other.dispose();
  });

  it("tells how far it is, and stops loading when aborted", async () => {
    const { checkpoint } = await openRandom("llama: own head, a key for each head");
    const runtime = await nodeOnnxRuntime("wasm");
    const seen: [number, number][] = [];
    const options = { id: "random", runtime, checkpoint, tokenizer: SHOW_IDS };
    const loaded = await loadOnnxModel({ ...options, onProgress: (done, total) => seen.push([done, total]) });
    loaded.dispose();
    expect(seen[0]![0]).toBe(0);
    expect(seen.at(-1)![0]).toBe(seen.at(-1)![1]);
    const controller = new AbortController();
    const stopped = loadOnnxModel({
      ...options,
      signal: controller.signal,
      onProgress: (done) => done > 0 && controller.abort(new Error("enough")),
    });
    await expect(stopped).rejects.toThrow("enough");
  });
});

describe("an .onnx file of others", () => {
  const NAME = "qwen2: biases, seven heads on one key";
  /** Says of itself that it is not ours, so that nothing is assumed about it. */
  async function files(options: Parameters<typeof onnxExport>[1] = {}) {
    const { checkpoint, reference } = await openRandom(NAME);
    const exported = onnxExport(checkpoint, options);
    const pieces: Uint8Array[] = [];
    for await (const piece of onnxData(exported)) pieces.push(piece);
    const model = exported.model.slice();
    const at = Buffer.from(model).indexOf("twinloop");
    model.set(new TextEncoder().encode("somebody"), at);
    const config = JSON.stringify(configToJson(checkpoint.config));
    return {
      reference,
      contents: { "config.json": config, "model.onnx": model, "model.onnx_data": Buffer.concat(pieces) },
    };
  }
  const load = async (contents: Record<string, Uint8Array | string>) =>
    loadOnnxExport({
      id: "theirs",
      runtime: await nodeOnnxRuntime("wasm"),
      source: memorySource(contents, "their folder"),
      tokenizer: SHOW_IDS,
    });

  it("writes the reference's tokens for a ragged batch, and says that it takes ids only", async () => {
    const { contents, reference } = await files();
    const model = await load(contents);
    expect(model.capabilities).toEqual({ embeddingsIn: false, hiddenStates: true });
    const inputs = promptsOf(model);
    const results = await model.generate(inputs.map((input) => ({ input, maxTokens: 6 })));
    expect(results.map(({ ids }) => ids)).toEqual(inputs.map((input) => greedyReference(reference, input, 6)));
    const [logits] = await model.forward([inputs[2]!], { output: "logits" });
    expect(relativeError(logits!, referenceLogits(reference, inputs[2]!))).toBeLessThan(1e-4);
    const [last] = await model.forward([inputs[2]!], { output: "logits", lastOnly: true });
    expect([...last!]).toEqual([...logits!.slice(-model.config.vocabSize)]);

    const vector = { embeddings: new Float32Array(model.config.hiddenSize) };
    await expect(model.embed([1])).rejects.toThrow("model theirs does not give embeddings: its ONNX export");
    await expect(model.generate([{ input: vector, maxTokens: 1 }])).rejects.toThrow("takes no embeddings");
    await expect(model.forward([vector], { output: "logits" })).rejects.toThrow("takes no embeddings");
    model.dispose();
  });

  it("runs exports whose cache and logits are f16, without position_ids, with the weights inside", async () => {
    const { checkpoint, reference } = await openRandom(NAME);
    const model = await load(await theirExport(checkpoint));
    expect(model.capabilities.embeddingsIn).toBe(false);
    const inputs = promptsOf(model);
    const [logits] = await model.forward([inputs[2]!], { output: "logits" });
    expect(relativeError(logits!, referenceLogits(reference, inputs[2]!))).toBeLessThan(3e-3);
    // Of several lengths, and such that some end before others.
    const requests = inputs.map((input, i) => ({ input, maxTokens: 2 + i }));
    const results = await model.generate(requests);
    const wanted = requests.map(({ input, maxTokens }) => greedyReference(reference, input, maxTokens));
    expect(results.map(({ ids }) => ids)).toEqual(wanted);
    const same = await model.generate([2, 6, 6].map((maxTokens) => ({ input: inputs[3]!, maxTokens })));
    expect(same.map(({ ids }) => ids)).toEqual([2, 6, 6].map((count) => greedyReference(reference, inputs[3]!, count)));
    model.dispose();
  });

  it.each([{ int32: true }, { openSizes: true }, { single: true }, { int32: true, openSizes: true, single: true }])(
    "runs exports that differ in what they take: %o",
    async (deviations) => {
      const { checkpoint, reference } = await openRandom(NAME);
      const model = await load(await theirExport(checkpoint, deviations));
      const inputs = [3, 0, 3].map((i) => promptsOf(model)[i]!);
      const results = await model.generate(inputs.map((input, i) => ({ input, maxTokens: 3 + i })));
      expect(results.map(({ ids }) => ids)).toEqual(inputs.map((input, i) => greedyReference(reference, input, 3 + i)));
      const [logits] = await model.forward([inputs[0]!], { output: "logits" });
      expect(relativeError(logits!, referenceLogits(reference, inputs[0]!))).toBeLessThan(3e-3);
      model.dispose();
    },
  );

  it("names what is missing or does not fit", async () => {
    const { contents } = await files();
    const { "model.onnx_data": _, ...withoutData } = contents;
    await expect(load(withoutData)).rejects.toThrow("their folder: model.onnx_data, which holds weights of model.onnx");
    await expect(load({ ...contents, "model.onnx": "<html>" })).rejects.toThrow(
      "their folder: model.onnx: not an ONNX model",
    );
    const { "model.onnx": __, ...withoutModel } = contents;
    await expect(load(withoutModel)).rejects.toThrow("their folder: model.onnx is missing");
    const { checkpoint } = await openRandom("mistral, widths of 32");
    const other = JSON.stringify(configToJson(checkpoint.config));
    await expect(load({ ...contents, "config.json": other })).rejects.toThrow(
      "theirs: past_key_values.0.key has 1 heads of 6, and config.json says 2 key/value heads of 16",
    );
    const { config } = (await openRandom(NAME)).checkpoint;
    const misfit = (more: Partial<typeof config>) =>
      load({ ...contents, "config.json": JSON.stringify(configToJson({ ...config, ...more })) });
    await expect(misfit({ layers: 5 })).rejects.toThrow("theirs: the ONNX model has 2 layers, and config.json 5");
    await expect(misfit({ vocabSize: 96 })).rejects.toThrow(
      "theirs: rows of logits have 97 numbers, and config.json says vocab_size 96",
    );
    await expect(misfit({ hiddenSize: 43 })).rejects.toThrow("rows of last_hidden_state have 42 numbers");
    const short = contents["model.onnx_data"].subarray(0, 1000);
    await expect(load({ ...contents, "model.onnx_data": short })).rejects.toThrow("onnxruntime-web (wasm) cannot open");
  });

  it("refuses our own exports that read embeddings: nothing leads there from token ids", async () => {
    const { contents } = await files({ inputs: "embeddings" });
    await expect(load(contents)).rejects.toThrow("theirs: the model takes inputs_embeds, and has no table");
  });

  it("refuses models of other kinds by the name of the input", async () => {
    const { checkpoint } = await openRandom(NAME);
    const { contents } = await files();
    const exported = onnxExport(checkpoint);
    const model = Buffer.from(exported.model);
    // The same length, so that the bytes stay a model.
    const renamed = Buffer.from(model.toString("latin1").replaceAll("position_ids", "token_typeid"), "latin1");
    await expect(load({ ...contents, "model.onnx": renamed })).rejects.toThrow(
      'theirs: the model takes "token_typeid"',
    );
  });
});
