/** Batches: every question once, graded, a few at a time; a failure or an abort ends them all. */
import { describe, expect, it } from "vitest";
import { type BatchResult, researchBatch } from "./batch";
import { scriptedModel } from "./scriptedModel";

const questions = ["one", "two", "three", "four", "five"].map((text) => ({ text, gold: [`the ${text}`] }));
const options = { tools: [], corpus: "none" };
const wordOf = (prompt: string) => /<user>(\w+)/.exec(prompt)?.[1];

describe("researchBatch", () => {
  it("grades every question once, and reads several in one batch", async () => {
    const model = scriptedModel((prompt) => (wordOf(prompt) === "two" ? "the wrong two" : `The ${wordOf(prompt)}.`));
    const results: BatchResult[] = [];
    await researchBatch(questions, {
      ...options,
      system2: model,
      concurrency: 3,
      onResult: (result) => results.push(result),
    });
    results.sort((a, b) => a.index - b.index);
    expect(results.map(({ question, correct }) => [question, correct])).toEqual([
      ["one", true],
      ["two", false],
      ["three", true],
      ["four", true],
      ["five", true],
    ]);
    expect(results[1]).toMatchObject({ answer: "the wrong two", reason: "answer", turns: 1 });
    expect(results[1]!.f1).toBeCloseTo(2 / 3);
    expect(Math.max(...model.batches.map(({ length }) => length))).toBe(3);
    expect(new Set(model.requests.map(({ seed }) => seed)).size).toBe(5);
  });

  it("ends with the first failure of the engine, and asks no more", async () => {
    const model = scriptedModel((prompt) => (wordOf(prompt) === "two" ? new Error("lost") : "x"));
    const results: BatchResult[] = [];
    const batch = researchBatch(questions, {
      ...options,
      system2: model,
      concurrency: 1,
      onResult: (result) => results.push(result),
    });
    await expect(batch).rejects.toThrow("lost");
    expect(results.map(({ index }) => index)).toEqual([0]);
  });

  it("ends with an abort; what was told stays told", async () => {
    const controller = new AbortController();
    const results: BatchResult[] = [];
    const batch = researchBatch(questions, {
      ...options,
      system2: scriptedModel(() => "an answer"),
      concurrency: 1,
      signal: controller.signal,
      onResult: (result) => {
        results.push(result);
        if (results.length === 2) controller.abort(new Error("enough"));
      },
    });
    await expect(batch).rejects.toThrow("enough");
    expect(results).toHaveLength(2);
  });
});
