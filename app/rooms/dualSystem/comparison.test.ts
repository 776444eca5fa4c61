/** Two runs as rows: equal ones have no difference, and what differs is told with its sign. */
import { expect, test } from "vitest";
import { dualRun, ledger } from "../../../tests/fixtures/dualRun";
import { foldEvents } from "../../engine/runView";
import { strings } from "../../strings";
import { compareRuns } from "./comparison";

const text = strings.dualSystem.compare;
const run = foldEvents(undefined, dualRun)!;
const rowOf = (rows: ReturnType<typeof compareRuns>, label: string) => rows.find((row) => row.label === label)!;

test("a run differs in nothing from itself", () => {
  const rows = compareRuns(run, run);
  expect(rows.every(({ isEqual }) => isEqual)).toBe(true);
  expect(rowOf(rows, text.ledger.rawTokens)).toMatchObject({ a: "30", difference: "0" });
  expect(rowOf(rows, text.answer)).toMatchObject({ a: "Dun" });
  expect(new Set(rows.map(({ label }) => label)).size).toBe(rows.length);
});

test("settings, costs and turns that differ are told", () => {
  const alone = foldEvents(
    undefined,
    dualRun
      .filter(({ type }) => !type.startsWith("system1") && type !== "packed")
      .map((event) => {
        if (event.type === "runStarted") return { ...event, settings: { ...event.settings, useSystem1: false } };
        return event.type === "runFinished" ? { ...event, ledger: { ...ledger, system2ContextTokens: 124 } } : event;
      }),
  )!;
  const rows = compareRuns(run, alone);
  expect(rowOf(rows, text.system1)).toMatchObject({ a: text.on, b: text.off, isSetting: true, isEqual: false });
  expect(rowOf(rows, text.ledger.system2ContextTokens)).toMatchObject({ a: "107", b: "124", difference: "+17" });
  expect(rowOf(compareRuns(alone, run), text.ledger.system2ContextTokens).difference).toBe("−17");
  expect(rowOf(rows, "Turn 1").a).toContain("2 bins");
  expect(rowOf(rows, "Turn 1").b).not.toContain("bin");
});
