/** What an export consists of, before its weights are fetched; and what it takes in WebAssembly's memory. */
import { describe, expect, it } from "vitest";
import { CHECKPOINTS, openRandom } from "../../tests/fixtures/onnxModels";
import { configToJson } from "../checkpoint/config";
import { memorySource } from "../checkpoint/sources";
import { decoderGraph } from "./decoderGraph";
import { listOnnxExport } from "./listing";
import { estimateWasmMemory, WASM_BYTES } from "./memoryEstimate";
import { WEIGHT_FORMATS, WeightPlan } from "./weights";
import { onnxExport } from "./writer";

const NAME = "qwen3, tied";

describe("listOnnxExport", () => {
  it("names graph, weights and tokenizer with their bytes, and what is missing or lies elsewhere", async () => {
    const { checkpoint } = await openRandom(NAME);
    const { model, dataFile } = onnxExport(checkpoint);
    const config = JSON.stringify(configToJson(checkpoint.config));
    const contents = { "config.json": config, "tokenizer.json": "{}", "a.onnx": model, [dataFile]: new Uint8Array(9) };
    const listing = await listOnnxExport(memorySource(contents, "theirs"), "a.onnx");
    expect(listing.files.map(({ name }) => name)).toEqual(["config.json", "tokenizer.json", "a.onnx", dataFile]);
    expect(listing.totalBytes).toBe(config.length + 2 + model.length + 9);
    expect(listing.config).toEqual(checkpoint.config);

    const without = (name: string) => Object.fromEntries(Object.entries(contents).filter(([own]) => own !== name));
    const list = (files: Record<string, Uint8Array | string>) =>
      listOnnxExport(memorySource(files, "theirs"), "a.onnx");
    await expect(list(without("a.onnx"))).rejects.toThrow("theirs: a.onnx is missing");
    await expect(list(without(dataFile))).rejects.toThrow(`theirs: ${dataFile} is missing`);
    await expect(list(without("tokenizer.json"))).rejects.toThrow("theirs: tokenizer.json is missing");
    await expect(list(without("config.json"))).rejects.toThrow("theirs: config.json is missing");
    await expect(list({ ...contents, "a.onnx": "<html>" })).rejects.toThrow("theirs: a.onnx: not an ONNX model");
    // The same length, so that the bytes stay a model.
    const elsewhere = Buffer.from(
      Buffer.from(model)
        .toString("latin1")
        .replaceAll(dataFile, `../${dataFile.slice(3)}`),
      "latin1",
    );
    await expect(list({ ...contents, "a.onnx": elsewhere })).rejects.toThrow("which is no plain file name");
  });
});

describe("estimateWasmMemory", () => {
  it.each(Object.keys(CHECKPOINTS))("counts the weights that loading lays out: %s", async (name) => {
    const { checkpoint } = await openRandom(name);
    const { config } = checkpoint;
    for (const format of WEIGHT_FORMATS) {
      const plan = new WeightPlan(checkpoint, format);
      decoderGraph(config, plan, { inputs: "ids", logits: "last" }, ({ name: file, bytes }) => ({
        ...{ file, bytes },
        offset: 0,
      }));
      const bytes = plan.groups.reduce((sum, { tensors }) => tensors.reduce((own, t) => own + t.bytes, sum), 0);
      const quantization = format === "f32" ? "stored" : format;
      const { weights } = estimateWasmMemory(config, { quantization, context: config.maxPositions });
      expect(weights, format).toBe(bytes);
    }
  });

  it("grows with the context, and says when WebAssembly cannot hold it", () => {
    const config = { ...CHECKPOINTS[NAME]!.config, maxPositions: 40_000, layers: 28, kvHeads: 8, headDim: 128 };
    const estimate = (context: number, exportBytes: number) => estimateWasmMemory(config, { context, exportBytes });
    expect(estimate(100, 5).problems).toEqual([]);
    expect(estimate(100, 5).weights).toBe(5);
    expect(estimate(200, 5).keyValueCache).toBe(2 * estimate(100, 5).keyValueCache);
    expect(estimate(100, WASM_BYTES).problems).toEqual([expect.stringContaining("WebAssembly holds 4.0 GiB at most")]);
    expect(() => estimate(40_001, 5)).toThrow("the model has 40000 positions");
  });
});
