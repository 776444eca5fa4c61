/** The measurements of scripts/bench.mjs. */
import type { ModelConfig } from "../../src/checkpoint/config";
import { openCheckpoint } from "../../src/checkpoint/load";
import { randomCheckpoint } from "../../src/checkpoint/randomCheckpoint";
import { openNodeGpu } from "../../src/gpu/nodeDevice";
import type { GenerateRequest, SamplingOptions } from "../../src/model/languageModel";
import { loadWgslModel } from "../../src/model/wgslModel";
import type { ModelTokenizer } from "../../src/text/tokenizer";

const CONFIG: ModelConfig = {
  modelType: "qwen3",
  vocabSize: 2048,
  hiddenSize: 128,
  intermediateSize: 384,
  layers: 4,
  heads: 4,
  kvHeads: 2,
  headDim: 64,
  ropeTheta: 10000,
  rmsNormEps: 1e-6,
  tieWordEmbeddings: true,
  qkvBias: false,
  oBias: false,
  qkNorm: true,
  maxPositions: 2048,
  eosIds: [],
};

const PROMPT_TOKENS = 200;
const NEW_TOKENS = 32;

export async function benchDecoder(): Promise<void> {
  const gpu = await openNodeGpu();
  const checkpoint = await openCheckpoint(randomCheckpoint(CONFIG));
  const tokenizer = { detokenizer: () => ({ push: () => "", flush: () => "" }) } as unknown as ModelTokenizer;
  for (const kvDtype of ["f32", "f16"] as const) {
    const model = await loadWgslModel({ id: "bench", gpu, checkpoint, tokenizer, kvDtype });
    const requests = (sequences: number, maxTokens: number, sampling: SamplingOptions = {}): GenerateRequest[] =>
      Array.from({ length: sequences }, (_, seed) => {
        const ids = Array.from({ length: PROMPT_TOKENS }, (_, i) => (i * 37 + seed * 101) % CONFIG.vocabSize);
        return { input: { ids }, maxTokens, seed, ...sampling };
      });
    // Software devices compile a kernel when it is first used.
    for (const sequences of [1, 8])
      await model.generate(requests(sequences, 2, { temperature: 1, topK: 9, topP: 0.9 }));
    console.log(`cache of ${kvDtype}`);
    for (const sequences of [64, 1]) {
      const reading = await timed(() => model.generate(requests(sequences, 1)));
      report(`read ${sequences} x ${PROMPT_TOKENS}`, reading, sequences * PROMPT_TOKENS);
      for (const [name, sampling] of [
        ["greedy", {}],
        ["temperature", { temperature: 1 }],
        ["top-k and top-p", { temperature: 1, topK: 40, topP: 0.9 }],
      ] as const) {
        const both = await timed(() => model.generate(requests(sequences, NEW_TOKENS + 1, sampling)));
        const writing = { wallMs: both.wallMs - reading.wallMs, cpuMs: both.cpuMs - reading.cpuMs };
        report(`write ${sequences} x ${NEW_TOKENS}, ${name}`, writing, sequences * NEW_TOKENS);
      }
    }
    model.dispose();
  }
  gpu.close();
}

interface Times {
  wallMs: number;
  cpuMs: number;
}

async function timed(work: () => Promise<unknown>): Promise<Times> {
  const startMs = performance.now();
  const startCpu = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(startCpu);
  return { wallMs: performance.now() - startMs, cpuMs: (user + system) / 1000 };
}

function report(what: string, { wallMs, cpuMs }: Times, tokens: number): void {
  const perSecond = (ms: number) => `${Math.round((tokens / ms) * 1000)} tokens/s`;
  console.log(
    `  ${what.padEnd(34)} ${wallMs.toFixed(0).padStart(6)} ms passed, ${perSecond(wallMs).padStart(15)};` +
      ` ${cpuMs.toFixed(0).padStart(6)} ms of one core, ${perSecond(cpuMs).padStart(15)} for each core`,
  );
}
