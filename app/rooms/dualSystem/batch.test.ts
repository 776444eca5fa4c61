/** Own questions are read or refused by line; figures of a batch and its groups by context add up. */
import { expect, test } from "vitest";
import type { BatchResult } from "../../../src/index";
import { ledger } from "../../../tests/fixtures/dualRun";
import { byContext, figuresOfBatch } from "./batchFigures";
import { parseQuestions } from "./questionFile";

test("questions have one answer or several, under the names that data sets use", () => {
  const lines = [
    '\uFEFF{"question": "Who?", "answer": "Ada"}',
    "",
    '{"question": " When? ", "answers": ["1815", 1816], "id": 3}\r',
    '{"question": "How many?", "gold": 7}',
  ];
  expect(parseQuestions(lines.join("\n"))).toEqual([
    { text: "Who?", gold: ["Ada"] },
    { text: "When?", gold: ["1815", "1816"] },
    { text: "How many?", gold: ["7"] },
  ]);
});

test.each([
  ["", "it holds no questions"],
  ['{"question": "Who?", "answer": "x"}\n{"question"', "line 2 is no JSON"],
  ['{"question": "Who?"}', "line 1: answer is missing"],
  ['{"question": "Who?", "answer": " "}', "line 1: answer is missing"],
  ['{"answer": "x"}', /^line 1: question: /],
  ["[1]", /^line 1: /],
])("%j is refused", (text, message) => {
  expect(() => parseQuestions(text)).toThrow(message);
});

const result = (index: number, correct: boolean, context: number): BatchResult => ({
  ...{ index, question: "q", gold: ["a"], reason: "answer", correct, f1: correct ? 1 : 0.5, turns: 2, ms: 10 * index },
  ledger: { ...ledger, system2ContextTokens: context },
});

test("figures are means over the questions", () => {
  const figures = figuresOfBatch([result(1, true, 100), result(2, false, 200)]);
  expect(figures).toMatchObject({ n: 2, accuracy: 0.5, f1: 0.75, context: 150, ms: 15 });
  expect(figuresOfBatch([])).toMatchObject({ n: 0, accuracy: 0, f1: 0 });
});

test("groups hold all questions in the order of their context, none with few", () => {
  const results = Array.from({ length: 22 }, (_, i) => result(i, i < 11, 1000 - 10 * i));
  const groups = byContext(results);
  expect(groups.reduce((sum, { n }) => sum + n, 0)).toBe(22);
  expect(groups).toHaveLength(5);
  expect(groups.map(({ context }) => context)).toEqual(groups.map(({ context }) => context).sort((a, b) => a - b));
  expect([groups[0]!.accuracy, groups.at(-1)!.accuracy]).toEqual([0, 1]);
  expect(byContext(results.slice(0, 3))).toHaveLength(1);
  expect(byContext([])).toEqual([]);
});
