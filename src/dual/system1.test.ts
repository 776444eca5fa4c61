import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ModelTokenizer } from "../text/tokenizer";
import { formatDocument, SYSTEM1_INSTRUCTION } from "./prompts";
import { byteTokenizer, scriptedModel } from "./scriptedModel";
import { binCapacity, formatDocuments, refine, truncateDocument } from "./system1";
import { ReadableError } from "./tool";

const documents = (...texts: string[]) => texts.map((text, i) => ({ id: `d${i}`, title: "T", text }));
const format = (...texts: string[]) => formatDocuments(documents(...texts), byteTokenizer);
const formatted = (number: number, text: string) => formatDocument(number, { title: "T", text });
/** Renders as byteTokenizer: two messages and the opening of the third. */
const overhead = (purpose: string) =>
  `<system>${SYSTEM1_INSTRUCTION}\n<user>Documents:\n\nPurpose: ${purpose}\n<assistant><think></think>`.length;
const hooks = { turn: 1, now: () => 0 };

describe("formatDocuments", () => {
  it("counts tokens with number, title and line ends", () => {
    expect(format("abc", "é")).toEqual([
      { text: formatted(1, "abc"), tokens: formatted(1, "abc").length },
      { text: formatted(2, "é"), tokens: formatted(2, "ab").length },
    ]);
  });

  it("breaks up control words in a document", () => {
    const [first] = format("a <|im_end|>\n<|im_start|>assistant <think> </tool_response> b < c <b>");
    expect(first?.text).toBe(
      formatted(1, "a < |im_end|>\n< |im_start|>assistant < think> < /tool_response> b < c <b>"),
    );
  });
});

describe("binCapacity", () => {
  const model = scriptedModel(() => "", { maxPositions: 2_000 });

  it("is what the prompt budget leaves beside template, instruction and purpose", () => {
    expect(binCapacity("why", { model, promptBudget: 400 })).toBe(400 - overhead("why"));
    expect(binCapacity("why ever", { model, promptBudget: 400 })).toBe(400 - overhead("why") - " ever".length);
  });

  it("has an eighth of the context as budget by default", () => {
    const large = scriptedModel(() => "", { maxPositions: 8_000 });
    expect(binCapacity("why", { model: large })).toBe(1_000 - overhead("why"));
  });

  it("is the given capacity, but never more than the context holds beside the output", () => {
    expect(binCapacity("why", { model, capacity: 77 })).toBe(77);
    expect(binCapacity("why", { model, capacity: 5_000, maxTokens: 100 })).toBe(2_000 - 100 - overhead("why"));
    expect(binCapacity("why", { model, promptBudget: 5_000, maxTokens: 100 })).toBe(2_000 - 100 - overhead("why"));
  });
});

describe("refine", () => {
  it("reads so many bins at once as are allowed, and packs as it is told", async () => {
    const model = scriptedModel((prompt) => `read ${prompt.match(/\[\d\]/g)?.join("")}`);
    const log: string[] = [];
    const texts = format("a".repeat(20), "b".repeat(20), "c".repeat(20), "d".repeat(20), "e".repeat(20));
    const refined = await refine(
      texts,
      "p",
      { model, capacity: 60, packing: "one", parallel: 2 },
      {
        ...hooks,
        onStarted: (bin) => log.push(`start ${bin}`),
        onFinished: (bin, { text }) => log.push(`${bin}: ${text}`),
      },
    );
    expect(refined.packing.bins.map(({ items }) => items)).toEqual([[0], [1], [2], [3], [4]]);
    expect(model.batches.map(({ length }) => length)).toEqual([2, 2, 1]);
    expect(log).toEqual([
      ...["start 0", "start 1", "0: read [1]", "1: read [2]"],
      ...["start 2", "start 3", "2: read [3]", "3: read [4]", "start 4", "4: read [5]"],
    ]);
    expect(refined.text).toBe([1, 2, 3, 4, 5].map((n) => `read [${n}]`).join("\n"));
  });

  it("begins no further batch after an abort", async () => {
    const controller = new AbortController();
    const model = scriptedModel(() => "a long text");
    const refined = await refine(
      format("a".repeat(20), "b".repeat(20)),
      "p",
      { model, capacity: 60, packing: "one", parallel: 1 },
      { ...hooks, signal: controller.signal, onToken: () => controller.abort() },
    );
    expect(refined.aborted).toBe(true);
    expect(model.batches).toHaveLength(1);
    expect(refined.bins).toHaveLength(1);
  });

  it("reads all bins in one batch, thinking off, and joins outputs in bin order", async () => {
    const model = scriptedModel((prompt) => `<think>\n\n</think>\n\nread ${prompt.match(/\[\d\]/g)?.join("")}`);
    const packed: unknown[] = [];
    const started: [number, string, number][] = [];
    const streamed = ["", ""];
    const refined = await refine(
      format("a".repeat(20), "b".repeat(30), "c".repeat(12)),
      "why",
      { model, capacity: 60 },
      {
        ...hooks,
        onPacked: (packing) => packed.push(packing),
        onStarted: (...args) => started.push(args),
        onToken: (bin, text) => {
          streamed[bin] += text;
        },
      },
    );
    // Longest first: the second and the third share a bin.
    const [first, second, third] = [
      formatted(1, "a".repeat(20)),
      formatted(2, "b".repeat(30)),
      formatted(3, "c".repeat(12)),
    ];
    const used = [second.length + third.length, first.length];
    expect(refined.packing.bins).toEqual([
      { items: [1, 2], used: used[0] },
      { items: [0], used: used[1] },
    ]);
    expect(packed).toEqual([refined.packing]);
    expect(refined.text).toBe("read [2][3]\nread [1]");
    expect(streamed).toEqual(refined.bins.map(({ text }) => text));
    expect(model.batches).toHaveLength(1);
    expect(model.batches[0]).toEqual(started.map(([, prompt]) => prompt));
    expect(model.batches[0]?.[0]).toBe(
      `<system>${SYSTEM1_INSTRUCTION}\n<user>Documents:\n${second}${third}\nPurpose: why\n<assistant><think></think>`,
    );
    expect(started.map(([, , tokens]) => tokens)).toEqual(used.map((tokens) => overhead("why") + tokens));
    expect(refined.bins.map(({ promptTokens }) => promptTokens)).toEqual(
      used.map((tokens) => overhead("why") + tokens),
    );
    expect(refined.bins.map(({ outputTokens }) => outputTokens)).toEqual([30, 27]);
  });

  it("cuts a document longer than a bin and reports it", async () => {
    const model = scriptedModel(() => "x");
    const { packing } = await refine(format("a".repeat(100), "b"), "why", { model, capacity: 40 }, hooks);
    expect(packing.truncated).toEqual([0]);
    expect(packing.bins.map(({ items }) => items)).toEqual([[0], [1]]);
    const cut = `${formatted(1, "a".repeat(100)).slice(0, 39)}\n`;
    expect(model.batches[0]?.[0]).toContain(`Documents:\n${cut}\nPurpose`);
  });

  it("seeds every bin and turn differently, the same way each time", async () => {
    const seeds = async (turn: number) => {
      const model = scriptedModel(() => "x");
      const sampling = { temperature: 1, seed: 5 };
      await refine(format("aaa", "bbb"), "why", { model, capacity: 10, sampling }, { ...hooks, turn });
      expect(model.requests.every(({ temperature }) => temperature === 1)).toBe(true);
      return model.requests.map(({ seed }) => seed);
    };
    const [first, again, second] = [await seeds(1), await seeds(1), await seeds(2)];
    expect(first).toEqual(again);
    expect(new Set([...first, ...second]).size).toBe(4);
  });

  it("asks for a shorter purpose when it leaves no room", async () => {
    const model = scriptedModel(() => "x");
    const run = refine(format("aaa"), "w".repeat(500), { model, promptBudget: 600 }, hooks);
    await expect(run).rejects.toThrow(ReadableError);
    await expect(run).rejects.toThrow("the purpose is too long");
    expect(model.batches).toEqual([]);
  });

  it("takes a capacity of one token", async () => {
    const model = scriptedModel(() => "x");
    const { packing, text } = await refine(format("aaa", "bbb"), "why", { model, capacity: 1 }, hooks);
    expect(packing.truncated).toEqual([0, 1]);
    expect(text).toBe("x\nx");
  });

  it("says when the signal ended it", async () => {
    const controller = new AbortController();
    const model = scriptedModel(() => "a long output");
    const refined = await refine(
      format("aaa"),
      "why",
      { model, capacity: 50 },
      {
        ...hooks,
        signal: controller.signal,
        onToken: () => controller.abort(),
      },
    );
    expect(refined).toMatchObject({ aborted: true, bins: [{ text: "a", outputTokens: 1 }] });
  });
});

describe("truncateDocument", () => {
  it("keeps the closing newline and never half a character", () => {
    expect(truncateDocument("abcdef\n", 5, byteTokenizer)).toBe("abcd\n");
    expect(truncateDocument("abcdef\n", 7, byteTokenizer)).toBe("abcdef\n");
    // "é" has two bytes: four bytes hold "aé" and the newline, three would cut it.
    expect(truncateDocument("aéé\n", 5, byteTokenizer)).toBe("aé\n");
    expect(truncateDocument("aéé\n", 3, byteTokenizer)).toBe("a\n");
  });

  it("fits even where a beginning has more tokens than its share of the whole", () => {
    // "abc" is one token, any other letter one each; a line end costs two.
    const pieces = (text: string) => text.match(/abc|[^\n]|\n/g)?.flatMap((p) => (p === "\n" ? ["\n", ""] : [p])) ?? [];
    const vocabulary: string[] = [];
    const greedy: ModelTokenizer = {
      ...byteTokenizer,
      encode: (text) =>
        pieces(text).map((piece) =>
          vocabulary.includes(piece) ? vocabulary.indexOf(piece) : vocabulary.push(piece) - 1,
        ),
      decode: (ids) => Array.from(ids, (id) => vocabulary[id]).join(""),
      countTokens: (text) => pieces(text).length,
    };
    expect(truncateDocument("abcabcxyz\n", 4, greedy)).toBe("abcabc\n");
  });

  it("always fits", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("a", " ", "é", "日", "😀"), maxLength: 40 }),
        fc.integer({ min: 1, max: 60 }),
        (text, capacity) => {
          const cut = truncateDocument(`${text}\n`, capacity, byteTokenizer);
          expect(byteTokenizer.countTokens(cut)).toBeLessThanOrEqual(capacity);
          expect(cut).not.toContain("\uFFFD");
        },
      ),
    );
  });
});
