/** The differentiable decoder against PyTorch's golden files, the reference, and the decode path. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Checkpoint } from "../../src/checkpoint/checkpoint";
import { decodeTensor } from "../../src/checkpoint/dtype";
import { openCheckpoint } from "../../src/checkpoint/load";
import { folderSource } from "../../src/checkpoint/nodeFolder";
import { randomCheckpoint } from "../../src/checkpoint/randomCheckpoint";
import { readSafetensorsHeader } from "../../src/checkpoint/safetensors";
import type { Gpu } from "../../src/gpu/device";
import { openNodeGpu } from "../../src/gpu/nodeDevice";
import { BufferScope } from "../../src/gpu/scope";
import { loadWeights } from "../../src/model/weights";
import { loadWgslModel } from "../../src/model/wgslModel";
import { Random } from "../../src/random/random";
import { loadReferenceModel, referenceLogits } from "../../src/reference/decoder";
import { relativeError } from "../../src/tensor/check/runCase";
import { DifferentiableDecoder } from "../../src/tensor/decoder";
import { byCheckpointName, loadDecoderTensors } from "../../src/tensor/decoderWeights";
import { KeyCache } from "../../src/tensor/keyCache";
import { crossEntropy } from "../../src/tensor/ops/losses";
import { concatRows, gatherRows } from "../../src/tensor/ops/rows";
import { Sequences } from "../../src/tensor/sequences";
import { Tape } from "../../src/tensor/tape";
import type { Tensor } from "../../src/tensor/tensor";
import type { ModelTokenizer } from "../../src/text/tokenizer";
import { AdamW } from "../../src/train/optimizer";

async function readGolden(folder: string, file: string): Promise<Map<string, Float64Array>> {
  const source = folderSource(folder);
  const golden = new Map<string, Float64Array>();
  for (const { name, dtype, start, end } of await readSafetensorsHeader(source, file)) {
    golden.set(name, decodeTensor(dtype, await source.range(file, start, end)));
  }
  return golden;
}

/** Ids that go in, targets and mask of a ragged batch in which each token but the last predicts the next. */
function nextTokens(golden: Map<string, Float64Array>) {
  const [ids, lengths, mask] = ["ids", "lengths", "mask"].map((name) => [...golden.get(`train.${name}`)!]);
  const input: number[] = [];
  const targets: number[] = [];
  const weights: number[] = [];
  let start = 0;
  for (const length of lengths!) {
    input.push(...ids!.slice(start, start + length - 1));
    targets.push(...ids!.slice(start + 1, start + length));
    weights.push(...mask!.slice(start + 1, start + length));
    start += length;
  }
  return { input, targets, weights, queryLengths: lengths!.map((length) => length - 1) };
}

let gpu: Gpu;
beforeAll(async () => {
  gpu = await openNodeGpu();
});
afterAll(() => gpu.close());

describe.each(["qwen2", "qwen3", "llama"])("the differentiable decoder on %s", (architecture) => {
  const folder = `tests/golden/${architecture}`;
  let checkpoint: Checkpoint;
  let golden: Map<string, Float64Array>;
  let tape: Tape;

  beforeAll(async () => {
    checkpoint = await openCheckpoint(folderSource(folder));
    golden = await readGolden(folder, "training.safetensors");
    tape = new Tape(gpu);
  });
  afterAll(() => {
    expect(tape.liveBytes).toBe(0);
    const before = gpu.liveBytes;
    expect(before).toBeGreaterThan(0);
    tape.dispose();
    expect(gpu.liveBytes).toBe(0);
  });

  const load = async (trainable: boolean) =>
    new DifferentiableDecoder(tape, await loadDecoderTensors(tape, checkpoint, { trainable }));

  function lossOf(decoder: DifferentiableDecoder, embeddings?: Tensor, recompute = false): Tensor {
    const { input, targets, weights, queryLengths } = nextTokens(golden);
    return tape.scope(() => {
      const sequences = new Sequences(tape, { queryLengths });
      const rows = embeddings ?? decoder.embed(tape.integers(input));
      const hidden = decoder.forward(rows, sequences, { recompute });
      return crossEntropy(hidden, decoder.tensors.head, tape.integers(targets), weights);
    });
  }

  it("gives PyTorch's logits", async () => {
    const decoder = await load(false);
    const { ids, logits } = Object.fromEntries(await readGolden(folder, "golden.safetensors"));
    const output = tape.scope(() => {
      const sequences = new Sequences(tape, { queryLengths: [ids!.length] });
      return decoder.logits(decoder.forward(decoder.embed(tape.integers(ids!)), sequences));
    });
    expect(relativeError(await output.read(), logits!)).toBeLessThan(1e-5);
    output.dispose();
    decoder.dispose();
  });

  it.each([false, true])("gives PyTorch's loss and gradients, recomputing layers: %s", async (recompute) => {
    const decoder = await load(true);
    const loss = tape.scope(() => {
      const result = lossOf(decoder, undefined, recompute);
      tape.backward(result);
      return result;
    });
    expect(Math.abs((await loss.item()) - golden.get("train.loss")![0]!)).toBeLessThan(1e-5);
    const gradients = await byCheckpointName(decoder.tensors, async ({ grad }) => grad?.read());
    expect([...gradients.keys()].sort()).toEqual([...checkpoint.tensors.keys()].sort());
    for (const [name, gradient] of gradients) {
      expect(relativeError(gradient, golden.get(`grad.${name}`)!), name).toBeLessThan(1e-4);
    }
    loss.dispose();
    decoder.dispose();
  });

  it("gives PyTorch's gradient of the input embeddings through frozen weights, and no others", async () => {
    const decoder = await load(false);
    const { hiddenSize } = decoder.config;
    const { input } = nextTokens(golden);
    const rows = tape.scope(() => decoder.embed(tape.integers(input)));
    const embeddings = tape.tensor(await rows.read(), input.length, hiddenSize, { requiresGrad: true });
    const loss = tape.scope(() => {
      const result = lossOf(decoder, embeddings);
      tape.backward(result);
      return result;
    });
    expect(relativeError(await embeddings.grad!.read(), golden.get("train.d_embeddings")!)).toBeLessThan(1e-4);
    expect((await byCheckpointName(decoder.tensors, async ({ grad }) => grad?.read())).size).toBe(0);
    for (const tensor of [rows, embeddings, loss]) tensor.dispose();
    decoder.dispose();
  });

  it("takes PyTorch's ten steps of AdamW", async () => {
    const decoder = await load(true);
    const optimizer = new AdamW(tape, decoder.parameters, { beta2: 0.95, weightDecay: 0.1, maxNorm: 1 });
    for (let step = 0; step < 10; step++) {
      const loss = tape.scope(() => {
        const result = lossOf(decoder);
        tape.backward(result);
        return result;
      });
      const statistics = await optimizer.update(loss, 3e-3);
      loss.dispose();
      expect(statistics.isTaken).toBe(true);
      expect(Math.abs(statistics.loss - golden.get("train.losses")![step]!), `loss ${step}`).toBeLessThan(1e-4);
      expect(statistics.gradientNorm / golden.get("train.norms")![step]!, `norm ${step}`).toBeCloseTo(1, 3);
    }
    optimizer.dispose();
    decoder.dispose();
  });
});

const noTokenizer: ModelTokenizer = {
  vocabSize: 0,
  encode: () => [],
  decode: () => "",
  countTokens: () => 0,
  renderChat: () => "",
  detokenizer: () => {
    throw new Error("this test has no text");
  },
};

describe("sequences that go on", () => {
  it("have the hidden states and gradients of the whole, when later rows see earlier ones through a cache", async () => {
    const checkpoint = await openCheckpoint(folderSource("tests/golden/qwen2"));
    const tape = new Tape(gpu);
    const decoder = new DifferentiableDecoder(tape, await loadDecoderTensors(tape, checkpoint));
    const { hiddenSize } = decoder.config;
    // Two sequences of 7 and 5 rows, in three passes of 4 + 1, 1 + 3 and 2 + 1 rows.
    const passes = [
      [0, 1, 2, 3, 7],
      [4, 8, 9, 10],
      [5, 6, 11],
    ];
    const lengths = [
      [4, 1],
      [1, 3],
      [2, 1],
    ];
    const random = new Random(5);
    const draw = () => Float64Array.from({ length: 12 * hiddenSize }, () => Math.fround(random.normal()));
    const [embeddings, seeds] = [draw(), draw()];
    const rowsOf = (values: ArrayLike<number>, rows: readonly number[]) =>
      Float64Array.from(rows.flatMap((row) => Array.from(values).slice(row * hiddenSize, (row + 1) * hiddenSize)));
    const leaf = (rows: readonly number[]) =>
      tape.tensor(rowsOf(embeddings, rows), rows.length, hiddenSize, { requiresGrad: true });

    const everything = Array.from({ length: 12 }, (_, row) => row);
    const whole = leaf(everything);
    const expected = tape.scope(() => {
      const hidden = decoder.forward(whole, new Sequences(tape, { queryLengths: [7, 5] }));
      tape.backward(hidden, tape.tensor(seeds, 12, hiddenSize));
      return hidden;
    });
    const parts = passes.map(leaf);
    const cache = new KeyCache(tape);
    const outputs = tape.scope(() => {
      const hidden = parts.map((part, i) => decoder.forward(part, cache.next(lengths[i]!), { cache }));
      // Done with before the gradients are taken.
      cache.dispose();
      tape.backward(concatRows(hidden), tape.tensor(rowsOf(seeds, passes.flat()), 12, hiddenSize));
      return hidden;
    });
    const [hidden, gradient] = [await expected.read(), await whole.grad!.read()];
    for (const [i, rows] of passes.entries()) {
      expect(relativeError(await outputs[i]!.read(), rowsOf(hidden, rows)), `pass ${i}`).toBeLessThan(1e-5);
      expect(relativeError(await parts[i]!.grad!.read(), rowsOf(gradient, rows)), `pass ${i}`).toBeLessThan(1e-4);
    }
    expect(() => cache.next([1])).toThrow("1 sequences go on, and there are 2");
    for (const tensor of [whole, expected, ...parts, ...outputs]) tensor.dispose();
    decoder.dispose();
    expect(tape.liveBytes).toBe(0);
    tape.dispose();
  });
});

describe("the last rows alone", () => {
  it.each(["qwen2", "qwen3"])("have the hidden states and gradients they have among all, %s", async (architecture) => {
    const checkpoint = await openCheckpoint(folderSource(`tests/golden/${architecture}`));
    const tape = new Tape(gpu);
    const decoder = new DifferentiableDecoder(tape, await loadDecoderTensors(tape, checkpoint));
    const { hiddenSize } = decoder.config;
    const random = new Random(8);
    const draw = (rows: number) => Float64Array.from({ length: rows * hiddenSize }, () => Math.fround(random.normal()));
    const queryLengths = [4, 1, 35];
    const last = [2, 1, 33];
    const wanted = [2, 3, 4, ...Array.from({ length: 33 }, (_, t) => 7 + t)];
    const embeddings = draw(40);
    const seeds = draw(36);
    const positions = Array.from({ length: 40 }, (_, row) => (row * 3) % 41);
    const runs = [undefined, last, last].map((rows, i) => {
      const leaf = tape.tensor(embeddings, 40, hiddenSize, { requiresGrad: true });
      const output = tape.scope(() => {
        const sequences = new Sequences(tape, { queryLengths, positions });
        const all = decoder.forward(leaf, sequences, { last: rows, recompute: i === 2 });
        const chosen = rows ? all : gatherRows(all, tape.integers(wanted));
        tape.backward(chosen, tape.tensor(seeds, 36, hiddenSize));
        return chosen;
      });
      return { leaf, output };
    });
    const [whole, ...others] = runs as [(typeof runs)[0], ...typeof runs];
    const [hidden, gradient] = [await whole.output.read(), await whole.leaf.grad!.read()];
    for (const { leaf, output } of others) {
      expect(output.rows).toBe(36);
      expect(relativeError(await output.read(), hidden)).toBeLessThan(1e-5);
      expect(relativeError(await leaf.grad!.read(), gradient)).toBeLessThan(1e-5);
    }
    const sequences = new Sequences(tape, { queryLengths });
    expect(() => decoder.forward(whole.leaf, sequences, { last: [2, 2, 1] })).toThrow("has 1 rows, and 2 are wanted");
    sequences.dispose();
    for (const { leaf, output } of runs) for (const tensor of [leaf, output]) tensor.dispose();
    tape.reset();
    decoder.dispose();
    expect(tape.liveBytes).toBe(0);
    tape.dispose();
  });
});

describe("prompts that are computed once", () => {
  it("are continued like whole sequences, each several times, at ragged lengths", async () => {
    const checkpoint = await openCheckpoint(folderSource("tests/golden/qwen3"));
    const tape = new Tape(gpu);
    const decoder = new DifferentiableDecoder(tape, await loadDecoderTensors(tape, checkpoint));
    const { hiddenSize } = decoder.config;
    const random = new Random(11);
    const draw = (rows: number) =>
      Array.from({ length: rows }, () => Array.from({ length: hiddenSize }, () => Math.fround(random.normal())));
    const flat = (rows: readonly (readonly number[])[]) => Float64Array.from(rows.flat());
    const promptLengths = [5, 1, 9];
    const prompts = promptLengths.map(draw);
    // The middle prompt is continued twice; passes of several rows, then of one, then of more than there was room for.
    const sequences = [2, 1, 0, 1];
    const passLengths = [
      [3, 1, 2, 4],
      [1, 1, 1, 1],
      [1, 2, 1, 3],
    ];
    for (const room of [0, 1, 8]) {
      const rows = passLengths.map((lengths) => lengths.map(draw));
      const seeds = passLengths.map((lengths) => lengths.map(draw));
      const cache = new KeyCache(tape);
      tape.noGrad(() =>
        tape.scope(() => {
          const all = tape.tensor(flat(prompts.flat()), 15, hiddenSize);
          if (room === 0) decoder.forward(all, cache.next(promptLengths), { cache });
          else decoder.read(all, cache.next(promptLengths), cache);
        }),
      );
      expect(cache.keyLengths).toEqual(promptLengths);
      const before = tape.liveBytes;
      // Twice from one cache, which is gone before the gradients of the second are taken.
      for (const round of [0, 1]) {
        const leaves = rows.map((pass) =>
          tape.tensor(flat(pass.flat()), pass.flat().length, hiddenSize, { requiresGrad: true }),
        );
        const own = cache.fork({ sequences, room });
        if (round === 1) cache.dispose();
        const outputs = tape.scope(() => {
          const hidden = leaves.map((leaf, i) => decoder.forward(leaf, own.next(passLengths[i]!), { cache: own }));
          expect(own.keyLengths).toEqual([14, 5, 9, 9]);
          own.dispose();
          tape.backward(concatRows(hidden), tape.tensor(flat(seeds.flat(2)), 21, hiddenSize));
          return hidden;
        });
        const results = await Promise.all(outputs.map((output) => output.read()));
        const gradients = await Promise.all(leaves.map(({ grad }) => grad!.read()));
        // Each continuation as a sequence of its own, prompt included.
        for (const [s, prompt] of sequences.entries()) {
          const own = rows.flatMap((pass) => pass[s]!);
          const ownSeeds = [...prompts[prompt]!.map((row) => row.map(() => 0)), ...seeds.flatMap((pass) => pass[s]!)];
          const whole = [...prompts[prompt]!, ...own];
          const leaf = tape.tensor(flat(whole), whole.length, hiddenSize, { requiresGrad: true });
          const expected = tape.scope(() => {
            const hidden = decoder.forward(leaf, new Sequences(tape, { queryLengths: [whole.length] }));
            tape.backward(hidden, tape.tensor(flat(ownSeeds), whole.length, hiddenSize));
            return hidden;
          });
          const ownRows = (all: readonly Float32Array[]) =>
            passLengths.flatMap((lengths, pass) => {
              const start = lengths.slice(0, s).reduce((a, b) => a + b, 0);
              return [...all[pass]!.slice(start * hiddenSize, (start + lengths[s]!) * hiddenSize)];
            });
          const from = prompts[prompt]!.length * hiddenSize;
          expect(relativeError(ownRows(results), (await expected.read()).slice(from))).toBeLessThan(1e-5);
          expect(relativeError(ownRows(gradients), (await leaf.grad!.read()).slice(from))).toBeLessThan(1e-4);
          for (const tensor of [leaf, expected]) tensor.dispose();
        }
        for (const tensor of [...outputs, ...leaves]) tensor.dispose();
        if (round === 0) expect(tape.liveBytes).toBe(before);
      }
    }
    decoder.dispose();
    expect(tape.liveBytes).toBe(0);
    tape.dispose();
  });

  it("may themselves be continuations", async () => {
    const checkpoint = await openCheckpoint(folderSource("tests/golden/llama"));
    const tape = new Tape(gpu);
    const decoder = new DifferentiableDecoder(tape, await loadDecoderTensors(tape, checkpoint));
    const { hiddenSize } = decoder.config;
    const random = new Random(3);
    const values = Float32Array.from({ length: 9 * hiddenSize }, () => random.normal());
    const rows = (from: number, count: number) =>
      tape.tensor(values.slice(from * hiddenSize, (from + count) * hiddenSize), count, hiddenSize);
    const first = new KeyCache(tape, { room: 3 });
    const run = (cache: KeyCache, from: number, count: number) =>
      tape.scope(() => decoder.forward(rows(from, count), cache.next([count]), { cache }));
    for (const [from, count] of [
      [0, 2],
      [2, 1],
    ] as const) {
      run(first, from, count).dispose();
    }
    const second = first.fork();
    // The first goes on by itself, in the room behind what the second reads.
    const aside = run(first, 7, 2);
    run(second, 3, 2).dispose();
    const third = second.fork({ sequences: [0], room: 1 });
    for (const cache of [first, second]) cache.dispose();
    const outputs = [run(third, 5, 1), run(third, 6, 1)];
    expect(third.keyLengths).toEqual([7]);
    third.dispose();
    const expected = tape.scope(() => decoder.forward(rows(0, 7), new Sequences(tape, { queryLengths: [7] })));
    const whole = (await expected.read()).slice(5 * hiddenSize);
    const found = [...(await outputs[0]!.read()), ...(await outputs[1]!.read())];
    expect(relativeError(found, whole)).toBeLessThan(1e-5);
    const besides = tape.scope(() => {
      const all = [...values.slice(0, 3 * hiddenSize), ...values.slice(7 * hiddenSize)];
      return decoder.forward(tape.tensor(all, 5, hiddenSize), new Sequences(tape, { queryLengths: [5] }));
    });
    expect(relativeError(await aside.read(), (await besides.read()).slice(3 * hiddenSize))).toBeLessThan(1e-5);
    for (const tensor of [aside, ...outputs, expected, besides]) tensor.dispose();
    decoder.dispose();
    expect(tape.liveBytes).toBe(0);
    tape.dispose();
  });

  it("are refused where gradients would have to flow into them, or they do not exist", async () => {
    const checkpoint = await openCheckpoint(folderSource("tests/golden/llama"));
    const tape = new Tape(gpu);
    const decoder = new DifferentiableDecoder(tape, await loadDecoderTensors(tape, checkpoint));
    const cache = new KeyCache(tape);
    expect(() => cache.fork()).toThrow("without rows");
    tape.scope(() => {
      const rows = tape.zeros("rows", 3, decoder.config.hiddenSize, true);
      decoder.forward(rows, cache.next([2, 1]), { cache });
    });
    expect(() => cache.fork()).toThrow("computed without gradients");
    cache.dispose();
    const frozen = new KeyCache(tape);
    tape.scope(() => {
      const rows = tape.zeros("rows", 3, decoder.config.hiddenSize);
      decoder.forward(rows, frozen.next([2, 1]), { cache: frozen });
    });
    expect(() => frozen.fork({ sequences: [0, 2] })).toThrow("sequence 2, and there are 2");
    expect(() => frozen.fork().next([1])).toThrow("1 sequences go on, and there are 2");
    tape.dispose();
  });
});

describe("one set of weights", () => {
  it.each(["F32", "BF16", "F16"] as const)(
    "gives the same logits on both paths and in the reference, %s",
    async (dtype) => {
      const golden = await openCheckpoint(folderSource("tests/golden/qwen3"));
      const checkpoint = await openCheckpoint(randomCheckpoint(golden.config, { dtype, seed: 3 }));
      const model = await loadWgslModel({ id: "test", gpu, checkpoint, tokenizer: noTokenizer });
      const tape = new Tape(gpu);
      const decoder = new DifferentiableDecoder(tape, await loadDecoderTensors(tape, checkpoint));
      const inputs = [[5, 1, 52, 7, 7], [9], [0, 3, 11, 30, 2, 17, 8]];
      const decoded = await model.forward(
        inputs.map((ids) => ({ ids })),
        { output: "logits" },
      );
      const output = tape.scope(() => {
        const sequences = new Sequences(tape, { queryLengths: inputs.map(({ length }) => length) });
        return decoder.logits(decoder.forward(decoder.embed(tape.integers(inputs.flat())), sequences));
      });
      const ours = await output.read();
      const reference = await loadReferenceModel(checkpoint);
      const expected = inputs.flatMap((ids) => [...referenceLogits(reference, { ids })]);
      expect(relativeError(ours, expected)).toBeLessThan(1e-5);
      expect(
        relativeError(
          ours,
          decoded.flatMap((rows) => [...rows]),
        ),
      ).toBeLessThan(1e-5);
      model.dispose();
      tape.dispose();
      expect(gpu.liveBytes).toBe(0);
    },
  );

  it("serves both paths from the same buffers", async () => {
    const checkpoint = await openCheckpoint(folderSource("tests/golden/llama"));
    const scope = new BufferScope(gpu);
    const weights = await loadWeights(scope, checkpoint);
    const tape = new Tape(gpu);
    const decoder = new DifferentiableDecoder(tape, await loadDecoderTensors(tape, checkpoint, { shared: weights }));
    // Only the norms are its own, each in a buffer of at least 256 bytes.
    expect(tape.liveBytes).toBeLessThan(scope.liveBytes / 4);
    const { ids, logits } = Object.fromEntries(await readGolden("tests/golden/llama", "golden.safetensors"));
    const output = tape.scope(() => {
      const sequences = new Sequences(tape, { queryLengths: [ids!.length] });
      return decoder.logits(decoder.forward(decoder.embed(tape.integers(ids!)), sequences));
    });
    expect(relativeError(await output.read(), logits!)).toBeLessThan(1e-5);
    tape.dispose();
    expect(gpu.liveBytes).toBe(scope.liveBytes);
    scope.freeAll();
  });
});
