/** Matrices in 8 and 4 bits: both paths compute exactly what a checkpoint of the rounded values gives, in less memory. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Checkpoint, CheckpointTensor } from "../../src/checkpoint/checkpoint";
import type { ModelConfig } from "../../src/checkpoint/config";
import { encodeTensor } from "../../src/checkpoint/dtype";
import type { Quantization } from "../../src/checkpoint/quantize";
import type { Gpu } from "../../src/gpu/device";
import { openNodeGpu } from "../../src/gpu/nodeDevice";
import { BufferScope } from "../../src/gpu/scope";

import { loadWeights } from "../../src/model/weights";
import { loadWgslModel } from "../../src/model/wgslModel";
import { type ReferenceModel, referenceHidden, referenceLogits } from "../../src/reference/decoder";
import { argmax } from "../../src/reference/sampling";
import { DifferentiableDecoder } from "../../src/tensor/decoder";
import { loadDecoderTensors } from "../../src/tensor/decoderWeights";
import { crossEntropy } from "../../src/tensor/ops/losses";
import { Sequences } from "../../src/tensor/sequences";
import { Tape } from "../../src/tensor/tape";
import { openRandom, quantizedReference, relativeError } from "../fixtures/onnxModels";
import { SHOW_IDS, someIds } from "../fixtures/showIds";

const NAME = "mistral, widths of 32";
const FORMATS = ["q8", "q4"] as const;

/** The rounded values as a checkpoint of f32. */
function checkpointOf({ config, weights }: ReferenceModel, { tensors }: Checkpoint): Checkpoint {
  const rounded = [...tensors].map(([name, tensor]): [string, CheckpointTensor] => {
    const bytes = encodeTensor("F32", weights.get(name)!);
    return [name, { ...tensor, dtype: "F32", read: async () => bytes.slice() }];
  });
  return { config, tensors: new Map(rounded) };
}

describe.each([
  ["kernels of the device", FORMATS, {}],
  ["kernels without subgroups", FORMATS, { subgroups: false }],
  // The table of embeddings, in 8 bits, does not fit one binding.
  ["kernels for graphics cards, with small bindings", ["q4"], { software: false, caps: { maxBindingBytes: 8000 } }],
] as const)("%s", (_, formats, options) => {
  let gpu: Gpu;
  let checkpoint: Checkpoint;
  let exact: ReferenceModel;
  beforeAll(async () => {
    gpu = await openNodeGpu(options);
    ({ checkpoint, reference: exact } = await openRandom(NAME));
  });
  afterAll(() => gpu.close());

  const open = (quantization: Quantization) =>
    loadWgslModel({ id: "random", gpu, checkpoint, tokenizer: SHOW_IDS, quantization });
  const inputs = ({ config }: { config: ModelConfig }) =>
    [7, 1, 12].map((length, seed) => ({ ids: someIds(length, config.vocabSize, seed) }));

  it.each([...formats])(
    "%s: logits, hidden states, embeddings and tokens are those of the rounded values",
    async (format) => {
      const reference = quantizedReference(exact, format);
      const model = await open(format);
      const logits = await model.forward(inputs(model), { output: "logits" });
      const hidden = await model.forward(inputs(model), { output: "hidden", lastOnly: true });
      const { vocabSize, hiddenSize } = model.config;
      inputs(model).forEach((input, i) => {
        expect(relativeError(logits[i]!, referenceLogits(reference, input))).toBeLessThan(1e-4);
        expect(relativeError(hidden[i]!, referenceHidden(reference, input).slice(-hiddenSize))).toBeLessThan(1e-4);
      });
      const table = reference.weights.get("model.embed_tokens.weight")!;
      const ids = [0, 5, 130];
      const rows = ids.flatMap((id) => [...table.subarray(id * hiddenSize, (id + 1) * hiddenSize)]);
      expect(relativeError(await model.embed(ids), rows)).toBeLessThan(1e-6);

      const results = await model.generate(inputs(model).map((input) => ({ input, maxTokens: 6 })));
      for (const [i, result] of results.entries()) {
        const sequence = [...inputs(model)[i]!.ids];
        for (const id of result.ids) {
          expect(id).toBe(argmax(referenceLogits(reference, { ids: sequence }).slice(-vocabSize)));
          sequence.push(id);
        }
      }
      model.dispose();
    },
  );
});

describe("matrices in codes", () => {
  let gpu: Gpu;
  beforeAll(async () => {
    gpu = await openNodeGpu();
  });
  afterAll(() => gpu.close());

  it("take a good half, and a good quarter, of the memory of bf16", async () => {
    const { checkpoint } = await openRandom(NAME);
    const bytesIn = async (quantization: Quantization) => {
      const scope = new BufferScope(gpu);
      await loadWeights(scope, checkpoint, { quantization });
      const { liveBytes } = scope;
      scope.freeAll();
      return liveBytes;
    };
    const stored = await bytesIn("stored");
    expect((await bytesIn("q8")) / stored).toBeLessThan(0.6);
    expect((await bytesIn("q4")) / stored).toBeLessThan(0.4);
  });

  it.each(FORMATS)(
    "%s on the tape: loss and gradients of the embeddings are those of the rounded values",
    async (format) => {
      const { checkpoint, reference } = await openRandom(NAME);
      const rounded = checkpointOf(quantizedReference(reference, format), checkpoint);
      const tape = new Tape(gpu);
      const ids = someIds(12, checkpoint.config.vocabSize, 3);
      const run = async (source: Checkpoint, quantization: Quantization) => {
        const scope = new BufferScope(gpu);
        const shared = await loadWeights(scope, source, { quantization });
        const decoder = new DifferentiableDecoder(tape, await loadDecoderTensors(tape, source, { shared }));
        const embedded = tape.noGrad(() => decoder.embed(tape.integers(ids.slice(0, -1))));
        const rows = tape.tensor(await embedded.read(), embedded.rows, embedded.columns, { requiresGrad: true });
        const loss = tape.scope(() => {
          const hidden = decoder.forward(rows, new Sequences(tape, { queryLengths: [ids.length - 1] }));
          const result = crossEntropy(hidden, decoder.tensors.head, tape.integers(ids.slice(1)));
          tape.backward(result);
          return result;
        });
        const found = { loss: await loss.item(), gradient: await rows.grad!.read() };
        for (const tensor of [loss, embedded, rows]) tensor.dispose();
        decoder.dispose();
        scope.freeAll();
        return found;
      };
      const found = await run(checkpoint, format);
      const wanted = await run(rounded, "stored");
      expect(Math.abs(found.loss - wanted.loss)).toBeLessThan(1e-5);
      expect(relativeError(found.gradient, wanted.gradient)).toBeLessThan(1e-4);
      tape.dispose();
    },
  );
});
