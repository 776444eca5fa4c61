/** Measures one engine on one model, in a worker as the page does. */
import type { Checkpoint, CheckpointTensor } from "../../../src/checkpoint/checkpoint";
import { expectedTensors, type ModelConfig } from "../../../src/checkpoint/config";
import { openCheckpoint } from "../../../src/checkpoint/load";
import { urlSource } from "../../../src/checkpoint/sources";
import { openGpu } from "../../../src/gpu/device";
import type { GenerateRequest, LanguageModel } from "../../../src/model/languageModel";
import { loadWgslModel } from "../../../src/model/wgslModel";
import { openOnnxModel } from "../../../src/onnx/browserModels";
import type { ModelTokenizer } from "../../../src/text/tokenizer";

interface Request {
  engine: "wgsl" | "onnx-wasm" | "onnx-webgpu";
  /** A folder of public/models, or "smollm2" for random weights in the shape of SmolLM2-135M. */
  model: string;
  weights: "stored" | "q8" | "q4";
}

/** HuggingFaceTB/SmolLM2-135M's config.json. */
const SMOLLM2: ModelConfig = {
  modelType: "llama",
  vocabSize: 49152,
  hiddenSize: 576,
  intermediateSize: 1536,
  layers: 30,
  heads: 9,
  kvHeads: 3,
  headDim: 64,
  ropeTheta: 100000,
  rmsNormEps: 1e-5,
  tieWordEmbeddings: true,
  qkvBias: false,
  oBias: false,
  qkNorm: false,
  maxPositions: 8192,
  eosIds: [],
};

const PROMPT_TOKENS = 16;
const NEW_TOKENS = 32;
/** Where already reading the prompt takes so long, fewer tokens tell the rate as well. */
const SLOW_MS = 5000;
const FEW_TOKENS = 4;
const PREFILL_TOKENS = 256;

/** Nothing is written as text. */
const tokenizer = { detokenizer: () => ({ push: () => "", flush: () => "" }) } as unknown as ModelTokenizer;

const scope = self as unknown as { postMessage(value: unknown): void; onmessage: (event: { data: Request }) => void };

scope.onmessage = async ({ data: { engine, model: name, weights } }) => {
  try {
    const checkpoint = name === "smollm2" ? randomWeights(SMOLLM2) : await shipped(name);
    const start = performance.now();
    const { model, device } = await open(engine, checkpoint, weights);
    const loadMs = performance.now() - start;
    scope.postMessage({ type: "result", engine, model: name, weights, device, loadMs, ...(await measure(model)) });
  } catch (error) {
    scope.postMessage({ type: "failed", message: (error as Error).stack });
  }
};

async function shipped(name: string): Promise<Checkpoint> {
  const checkpoint = await openCheckpoint(urlSource(new URL(`/models/${name}/`, location.href).href));
  // Every sequence goes on to its limit.
  return { ...checkpoint, config: { ...checkpoint.config, eosIds: [] } };
}

async function open(engine: Request["engine"], checkpoint: Checkpoint, weights: Request["weights"]) {
  const options = { id: "bench", checkpoint, tokenizer };
  if (engine === "wgsl") {
    const gpu = await openGpu();
    return { model: await loadWgslModel({ ...options, gpu, quantization: weights }), device: gpu.name };
  }
  const provider = engine === "onnx-wasm" ? "wasm" : "webgpu";
  const format = weights === "stored" ? "f32" : weights;
  return { model: await openOnnxModel(provider, { ...options, weights: format }), device: provider };
}

async function measure(model: LanguageModel) {
  const { vocabSize } = model.config;
  const ids = (count: number, seed: number) =>
    Array.from({ length: count }, (_, i) => (i * 37 + seed * 101) % vocabSize);
  const requests = (sequences: number, maxTokens: number): GenerateRequest[] =>
    Array.from({ length: sequences }, (_, seed) => ({ input: { ids: ids(PROMPT_TOKENS, seed) }, maxTokens }));
  const timed = async (work: () => Promise<unknown>) => {
    const start = performance.now();
    await work();
    return performance.now() - start;
  };
  const prefill = () => model.forward([{ ids: ids(PREFILL_TOKENS, 1) }], { output: "hidden", lastOnly: true });
  // Kernels are compiled when they are first used.
  await prefill();
  const decode: Record<number, number> = {};
  for (const sequences of [1, 8]) {
    await model.generate(requests(sequences, 4));
    const shortMs = await timed(() => model.generate(requests(sequences, 1)));
    const newTokens = shortMs > SLOW_MS ? FEW_TOKENS : NEW_TOKENS;
    const longMs = await timed(() => model.generate(requests(sequences, 1 + newTokens)));
    decode[sequences] = (sequences * newTokens * 1000) / (longMs - shortMs);
  }
  const prefillMs = await timed(prefill);
  return { decodeTokensPerSecond: decode, prefillTokensPerSecond: (PREFILL_TOKENS * 1000) / prefillMs };
}

/** Made while they are read: bf16 numbers of both signs, between a power of two and twice as much. */
function randomWeights(config: ModelConfig): Checkpoint {
  const tensors = [...expectedTensors(config)].map(([name, shape], index): [string, CheckpointTensor] => {
    const count = shape.reduce((product, size) => product * size, 1);
    const isNorm = name.endsWith("norm.weight");
    const scale = isNorm ? 1 : 1 / Math.sqrt(shape[1] as number);
    const exponent = (127 + Math.floor(Math.log2(scale))) << 7;
    const read = async () => {
      const codes = new Uint16Array(count);
      let state = index + 1;
      for (let i = 0; i < count; i++) {
        // xorshift: fast, and good enough for matrices that nobody reads.
        state ^= state << 13;
        state ^= state >>> 17;
        state ^= state << 5;
        codes[i] = exponent | (state & (isNorm ? 0x7f : 0x807f));
      }
      return new Uint8Array(codes.buffer);
    };
    return [name, { name, dtype: "BF16", shape, read }];
  });
  return { config, tensors: new Map(tensors) };
}
