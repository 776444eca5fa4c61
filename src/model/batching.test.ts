import { describe, expect, it } from "vitest";
import type { ModelConfig } from "../checkpoint/config";
import { batchRequests } from "./batching";
import type { GenerateOptions, GenerateRequest, GenerateResult, LanguageModel } from "./languageModel";

/** A model that continues a prompt [n] with n + 1, n + 2, ...; a prompt [99] is refused, a prompt [66] fails late. */
class CountingModel {
  readonly id = "counting";
  readonly config = { hiddenSize: 4 } as ModelConfig;
  /** Sizes of the batches that came. */
  readonly batches: number[] = [];
  isRunning = false;
  isDisposed = false;

  async generate(requests: readonly GenerateRequest[], { signal, onToken }: GenerateOptions = {}) {
    expect(this.isRunning).toBe(false);
    const starts = requests.map(({ input }) => (input as { ids: number[] }).ids[0]!);
    if (starts.includes(99)) throw new RangeError("request refused");
    this.batches.push(requests.length);
    this.isRunning = true;
    const results = requests.map(
      (): GenerateResult => ({ ids: [], text: "", finishReason: "aborted", promptTokens: 1 }),
    );
    try {
      for (let step = 0; results.some(({ finishReason }) => finishReason === "aborted"); step++) {
        await new Promise((resolve) => setTimeout(resolve, 1));
        if (signal?.aborted) break;
        requests.forEach(({ maxTokens }, i) => {
          const result = results[i]!;
          if (step >= maxTokens) return;
          const id = starts[i]! + step + 1;
          result.ids.push(id);
          result.text += `<${id}>`;
          if (step + 1 === maxTokens) result.finishReason = "length";
          onToken?.({ request: i, id, text: `<${id}>` });
        });
        if (starts.includes(66)) throw new Error("failed late");
      }
    } finally {
      this.isRunning = false;
    }
    return results;
  }

  dispose(): void {
    this.isDisposed = true;
  }
}

function open(limits: Parameters<typeof batchRequests>[1] = { maxBatch: 8 }) {
  const counting = new CountingModel();
  return { counting, model: batchRequests(counting as unknown as LanguageModel, limits) };
}

const request = (start: number, maxTokens = 3): GenerateRequest => ({ input: { ids: [start] }, maxTokens });
const idsOf = (results: GenerateResult[]) => results.map(({ ids }) => ids);

describe("batchRequests", () => {
  it("joins calls that come together, and gives each its own results and events", async () => {
    const { counting, model } = open();
    const events: string[] = [];
    const call = (name: string, ...starts: number[]) =>
      model.generate(
        starts.map((start) => request(start, 2)),
        { onToken: ({ request, id }) => events.push(`${name}${request}:${id}`) },
      );
    const [a, b] = await Promise.all([call("a", 10, 20), call("b", 30)]);
    expect(counting.batches).toEqual([3]);
    expect(idsOf(a)).toEqual([
      [11, 12],
      [21, 22],
    ]);
    expect(idsOf(b)).toEqual([[31, 32]]);
    expect(events).toEqual(["a0:11", "a1:21", "b0:31", "a0:12", "a1:22", "b0:32"]);
  });

  it("keeps many loops of calls in step", async () => {
    const { counting, model } = open({ maxBatch: 100 });
    const loop = async (start: number) => {
      for (let turn = 0; turn < 4; turn++) await model.generate([request(start + turn)]);
    };
    await Promise.all(Array.from({ length: 50 }, (_, i) => loop(100 * i + 100)));
    expect(counting.batches).toEqual([50, 50, 50, 50]);
  });

  it("holds batches to their limits but never divides a call", async () => {
    const { counting, model } = open({ maxBatch: 4 });
    const sizes = [3, 2, 2, 6, 1];
    const calls = sizes.map((size, i) =>
      model.generate(Array.from({ length: size }, (_, j) => request(100 * i + 10 * j))),
    );
    const results = await Promise.all(calls);
    expect(results.map(({ length }) => length)).toEqual(sizes);
    expect(counting.batches).toEqual([3, 4, 6, 1]);
    const byTokens = open({ maxBatch: 100, maxTokens: 10 });
    await Promise.all([3, 3, 3].map((maxTokens) => byTokens.model.generate([request(1, maxTokens)])));
    expect(byTokens.counting.batches).toEqual([2, 1]);
  });

  it("resolves an aborted call at once and leaves the others alone", async () => {
    const { counting, model } = open();
    const controller = new AbortController();
    const aborted = model.generate([request(10, 50)], {
      signal: controller.signal,
      onToken: ({ id }) => id === 12 && controller.abort(),
    });
    const other = model.generate([request(20, 6)]);
    expect(await aborted).toEqual([{ ids: [11, 12], text: "<11><12>", finishReason: "aborted", promptTokens: 1 }]);
    expect(counting.isRunning).toBe(true);
    expect(idsOf(await other)).toEqual([[21, 22, 23, 24, 25, 26]]);
  });

  it("stops a batch that nobody waits for, and drops calls aborted while they wait", async () => {
    const { counting, model } = open();
    const first = new AbortController();
    const running = model.generate([request(10, 100_000)], { signal: first.signal });
    await new Promise((resolve) => setTimeout(resolve, 10));
    const second = new AbortController();
    const waiting = model.generate([request(20)], { signal: second.signal });
    second.abort();
    expect(await waiting).toMatchObject([{ ids: [], finishReason: "aborted" }]);
    first.abort();
    await running;
    expect(idsOf(await model.generate([request(30)]))).toEqual([[31, 32, 33]]);
    expect(counting.batches).toEqual([1, 1]);
    expect(await model.generate([request(1)], { signal: AbortSignal.abort() })).toMatchObject([
      { finishReason: "aborted" },
    ]);
  });

  it("lets a refused request fail alone", async () => {
    const { model } = open();
    const [good, bad, alsoGood] = await Promise.allSettled([
      model.generate([request(10)]),
      model.generate([request(99)]),
      model.generate([request(20)]),
    ]);
    expect(bad).toMatchObject({ status: "rejected", reason: new RangeError("request refused") });
    expect([good, alsoGood]).toMatchObject([{ value: [{ ids: [11, 12, 13] }] }, { value: [{ ids: [21, 22, 23] }] }]);
  });

  it("hands a failure in the middle to everybody in the batch, and goes on", async () => {
    const { model } = open();
    const failed = await Promise.allSettled([model.generate([request(66)]), model.generate([request(10)])]);
    expect(failed).toMatchObject([{ reason: new Error("failed late") }, { reason: new Error("failed late") }]);
    expect(idsOf(await model.generate([request(10)]))).toEqual([[11, 12, 13]]);
  });

  it("refuses empty batches, and everything after dispose", async () => {
    const { counting, model } = open();
    await expect(model.generate([])).rejects.toThrow("generate: the batch is empty");
    const waiting = model.generate([request(10)]);
    model.dispose();
    expect(counting.isDisposed).toBe(true);
    await expect(waiting).rejects.toThrow("model counting has been disposed of");
    await expect(model.generate([request(10)])).rejects.toThrow("model counting has been disposed of");
  });
});
