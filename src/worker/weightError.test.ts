/** What fewer bits cost the shipped agent, on onnxruntime-web: against the reference that quantization is exact for. */
import { expect, it } from "vitest";
import { openCheckpoint } from "../checkpoint/load";
import { folderSource } from "../checkpoint/nodeFolder";
import type { LanguageModel } from "../model/languageModel";
import { loadOnnxModel } from "../onnx/load";
import { nodeOnnxRuntime } from "../onnx/nodeRuntime";
import { loadTokenizerFrom } from "../text/loadTokenizer";
import { measureWeightError } from "./weightError";

const source = folderSource(new URL("../../public/models/twinloop-relay-s", import.meta.url).pathname);
const load = async (weights: "f32" | "q8" | "q4") =>
  loadOnnxModel({
    id: weights,
    weights,
    runtime: await nodeOnnxRuntime("wasm"),
    checkpoint: await openCheckpoint(source),
    tokenizer: await loadTokenizerFrom(source),
  });

it("tells perplexity and agreement beside the weights as stored; q8 costs less than q4, f32 nothing", {
  timeout: 120_000,
}, async () => {
  const measure = async (weights: "f32" | "q8" | "q4") => {
    const shares: number[] = [];
    const model = await load(weights);
    let lent: LanguageModel | undefined;
    const error = await measureWeightError(
      model,
      async (onLoad, work) => {
        lent = await load("f32");
        onLoad(1);
        return work(lent);
      },
      { signal: new AbortController().signal, onProgress: (share) => shares.push(share) },
    );
    expect(shares).toEqual([...shares].sort((a, b) => a - b));
    expect(shares.at(-1)).toBeCloseTo(1, 10);
    model.dispose();
    lent?.dispose();
    return error;
  };
  const [same, q8, q4] = [await measure("f32"), await measure("q8"), await measure("q4")];
  expect(same.tokens).toBeGreaterThan(480);
  expect(same).toMatchObject({ agreement: 1, perplexity: same.storedPerplexity });
  const loss = ({ perplexity, storedPerplexity }: typeof q8) => Math.abs(Math.log(perplexity / storedPerplexity));
  expect(loss(q8)).toBeGreaterThan(0);
  expect(loss(q8)).toBeLessThan(loss(q4));
  expect(q8.agreement).toBeGreaterThan(q4.agreement);
  expect(q4.agreement).toBeGreaterThan(0.7);
});

it("stops when it is told to", async () => {
  const model = await load("q8");
  const stopped = AbortSignal.abort(new Error("enough"));
  const never = () => Promise.reject(new Error("not reached"));
  await expect(measureWeightError(model, never, { signal: stopped, onProgress: () => {} })).rejects.toThrow("enough");
  model.dispose();
});
