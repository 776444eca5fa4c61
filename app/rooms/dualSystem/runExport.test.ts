/** A run as a table and as a drawing: nothing of it is lost, and nothing that it says can break the file. */
import { expect, test } from "vitest";
import { dualRun, ledger } from "../../../tests/fixtures/dualRun";
import { csvOf } from "../../components/exportFormats";
import { foldEvents } from "../../engine/runView";
import { drawRun, type Pen, wrapped } from "./runDrawing";
import { runTable } from "./runTable";

const view = foldEvents(undefined, dualRun)!;
const pen: Pen = { measure: (words, size) => words.length * size * 0.5, color: (name) => `var(${name})` };

test("a row for each turn, the ledger last, as many cells as heads", () => {
  const { head, rows } = runTable(view);
  expect(rows).toHaveLength(3);
  for (const row of rows) expect(row).toHaveLength(head.length);
  const cell = (row: number, name: string) => rows[row]![head.indexOf(name as (typeof head)[number])];
  expect(cell(0, "Purpose")).toBe("the birthplace of Ada Morrin");
  expect(cell(0, "Raw documents (tokens)")).toBe(30);
  expect(cell(0, "System 1 in (tokens)")).toBe(90);
  expect(cell(1, "Result")).toBe("Dun");
  expect(cell(2, "Context without System 1 (tokens)")).toBe(ledger.system2ContextWithoutSystem1);
  expect(csvOf({ head, rows }).trim().split("\r\n")).toHaveLength(4);
});

test("the drawing says what the picture says", () => {
  const svg = drawRun(view, pen);
  for (const words of ["Where was Ada Morrin born?", "Ada Morrin was born in Dun.", "2 documents, 30 tokens", "Dun"]) {
    expect(svg).toContain(words);
  }
  expect(svg).not.toContain("NaN");
});

test("words of a run are no markup", () => {
  const svg = drawRun({ ...view, question: '<script>"&' }, pen);
  expect(svg).toContain("&lt;script&gt;&quot;&amp;");
});

test("lines fit, and words that are too wide are broken", () => {
  expect(wrapped(pen, "one two three", 5 * 7, 10, false)).toEqual(["one two", "three"]);
  expect(wrapped(pen, "abcdefgh", 5 * 3, 10, false)).toEqual(["abc", "def", "gh"]);
});
