/** Exported models in plain onnxruntime-web, with no code of the engine: against the f64 reference. */
import { env, InferenceSession, Tensor } from "onnxruntime-web";
import { describe, expect, it } from "vitest";
import { CHECKPOINTS, openRandom, quantizedReference, relativeError } from "../../tests/fixtures/onnxModels";
import { someIds } from "../../tests/fixtures/showIds";
import { referenceHidden, referenceLogits } from "../reference/decoder";
import { WEIGHT_FORMATS } from "./weights";
import { type OnnxExport, onnxData, onnxExport } from "./writer";

env.wasm.numThreads = 1;

async function dataOf(exported: OnnxExport): Promise<Uint8Array> {
  const data = new Uint8Array(exported.dataBytes);
  let at = 0;
  for await (const piece of onnxData(exported)) {
    data.set(piece, at);
    at += piece.length;
  }
  expect(at).toBe(exported.dataBytes);
  return data;
}

async function openSession(exported: OnnxExport) {
  const data = await dataOf(exported);
  return InferenceSession.create(exported.model, { externalData: [{ path: exported.dataFile, data }] });
}

const int64 = (values: readonly number[], dims: number[]) =>
  new Tensor("int64", BigInt64Array.from(values, BigInt), dims);

function emptyCache(session: InferenceSession, batch: number): Record<string, Tensor> {
  const inputs = session.inputMetadata.filter(({ name }) => name.startsWith("past_key_values."));
  return Object.fromEntries(
    inputs.map((input) => {
      const [, heads, , width] = input.isTensor ? (input.shape as number[]) : [];
      return [input.name, new Tensor("float32", new Float32Array(0), [batch, heads!, 0, width!])];
    }),
  );
}

describe.each(Object.keys(CHECKPOINTS))("%s", (name) => {
  // In odd widths every format is f32.
  const formats = WEIGHT_FORMATS.filter((format) => format === "f32" || name.includes("widths of 32"));
  it.each(formats)("in %s: ids in two steps, the second on the cache of the first", async (weights) => {
    const { checkpoint, reference: exact } = await openRandom(name);
    const { vocabSize, layers } = checkpoint.config;
    const reference = quantizedReference(exact, weights);
    const session = await openSession(onnxExport(checkpoint, { weights }));
    const ids = someIds(9, vocabSize);
    const cut = 6;
    const first = await session.run({
      input_ids: int64(ids.slice(0, cut), [1, cut]),
      attention_mask: int64(new Array(cut).fill(1), [1, cut]),
      position_ids: int64([...ids.keys()].slice(0, cut), [1, cut]),
      ...emptyCache(session, 1),
    });
    const cache = Array.from({ length: layers }, (_, layer) =>
      ["key", "value"].map((kind) => [`past_key_values.${layer}.${kind}`, first[`present.${layer}.${kind}`]!]),
    );
    const second = await session.run({
      input_ids: int64(ids.slice(cut), [1, ids.length - cut]),
      attention_mask: int64(new Array(ids.length).fill(1), [1, ids.length]),
      position_ids: int64([...ids.keys()].slice(cut), [1, ids.length - cut]),
      ...Object.fromEntries(cache.flat()),
    });
    for (const [output, wanted] of [
      ["logits", referenceLogits(reference, { ids })],
      ["last_hidden_state", referenceHidden(reference, { ids })],
    ] as const) {
      const found = [first, second].flatMap((results) => [...(results[output]!.data as Float32Array)]);
      expect(relativeError(found, wanted)).toBeLessThan(2e-5);
    }
    await session.release();
  });

  it("takes embeddings, of sequences padded on the left, and keeps the last logits", async () => {
    const { checkpoint, reference } = await openRandom(name);
    const { vocabSize, hiddenSize } = checkpoint.config;
    const session = await openSession(onnxExport(checkpoint, { inputs: "embeddings", logits: "last" }));
    const lengths = [7, 3, 1];
    const longest = 7;
    const inputs = lengths.map((length) => {
      const table = reference.weights.get("model.embed_tokens.weight")!;
      const rows = someIds(length, vocabSize, length).map((id) => table.slice(id * hiddenSize, (id + 1) * hiddenSize));
      return Float32Array.from(rows.flatMap((row) => [...row]));
    });
    const embeddings = new Float32Array(lengths.length * longest * hiddenSize);
    for (const [i, input] of inputs.entries()) {
      embeddings.set(input, ((i + 1) * longest - lengths[i]!) * hiddenSize);
    }
    const columns = (value: (column: number, padding: number) => number) =>
      int64(
        lengths.flatMap((length) => Array.from({ length: longest }, (_, i) => value(i, longest - length))),
        [lengths.length, longest],
      );
    const feeds = {
      inputs_embeds: new Tensor("float32", embeddings, [lengths.length, longest, hiddenSize]),
      attention_mask: columns((column, padding) => (column < padding ? 0 : 1)),
      position_ids: columns((column, padding) => Math.max(0, column - padding)),
      ...emptyCache(session, lengths.length),
    };
    const last = await session.run({ ...feeds, num_logits_to_keep: int64([1], []) }, ["logits"]);
    const all = await session.run({ ...feeds, num_logits_to_keep: int64([0], []) }, ["logits"]);
    expect(last.logits!.dims).toEqual([3, 1, vocabSize]);
    expect(all.logits!.dims).toEqual([3, longest, vocabSize]);
    inputs.forEach((input, i) => {
      const wanted = referenceLogits(reference, { embeddings: input });
      const own = (all.logits!.data as Float32Array).slice(
        ((i + 1) * longest - lengths[i]!) * vocabSize,
        (i + 1) * longest * vocabSize,
      );
      expect(relativeError(own, wanted)).toBeLessThan(2e-5);
      const lastRow = (last.logits!.data as Float32Array).slice(i * vocabSize, (i + 1) * vocabSize);
      expect(relativeError(lastRow, wanted.slice(-vocabSize))).toBeLessThan(2e-5);
    });
    await session.release();
  });
});

describe("an export", () => {
  it("has the inputs and outputs of usual ones", async () => {
    const { checkpoint } = await openRandom("qwen3, tied");
    const session = await openSession(onnxExport(checkpoint));
    const layers = [0, 1].flatMap((layer) => [`past_key_values.${layer}.key`, `past_key_values.${layer}.value`]);
    expect(session.inputNames).toEqual(["input_ids", "attention_mask", "position_ids", ...layers]);
    expect(session.outputNames).toEqual([
      "logits",
      ...layers.map((layer) => layer.replace("past_key_values", "present")),
      "last_hidden_state",
    ]);
    await session.release();
  });

  it("stores matrices in 4 and 8 bits in an eighth and a quarter of the bytes, and scales beside them", async () => {
    const { checkpoint } = await openRandom("mistral, widths of 32");
    const { groups } = onnxExport(checkpoint, { weights: "q4" });
    const sizes = new Map(groups.flatMap(({ tensors }) => tensors.map(({ name, bytes }) => [name, bytes])));
    const { hiddenSize, vocabSize, heads, kvHeads, headDim } = checkpoint.config;
    expect(sizes.get("layers.0.qkv.codes")).toBe(((heads + 2 * kvHeads) * headDim * hiddenSize) / 2);
    expect(sizes.get("layers.0.qkv.scales")).toBe(((heads + 2 * kvHeads) * headDim * hiddenSize * 4) / 32);
    expect(sizes.get("embedding.codes")).toBe(vocabSize * hiddenSize);
    // A tied head is not stored again.
    expect([...sizes.keys()].filter((name) => /head|embedding/.test(name))).toHaveLength(2);
  });

  it("reads each tensor once, one after the other, and stops when aborted", async () => {
    const { checkpoint } = await openRandom("llama: own head, a key for each head");
    const reads: string[] = [];
    let open = 0;
    const tensors = [...checkpoint.tensors].map(([name, tensor]): [string, typeof tensor] => {
      const read = async (signal?: AbortSignal) => {
        expect(++open).toBe(1);
        reads.push(name);
        const bytes = await tensor.read(signal);
        open--;
        return bytes;
      };
      return [name, { ...tensor, read }];
    });
    const watched = { config: checkpoint.config, tensors: new Map(tensors) };
    await dataOf(onnxExport(watched));
    expect(reads.sort()).toEqual([...checkpoint.tensors.keys()].sort());

    reads.length = 0;
    const controller = new AbortController();
    const stop = (async () => {
      for await (const _ of onnxData(onnxExport(watched), controller.signal)) controller.abort(new Error("enough"));
    })();
    await expect(stop).rejects.toThrow("enough");
    expect(reads).toHaveLength(1);
  });
});
