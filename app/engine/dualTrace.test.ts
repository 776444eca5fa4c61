/** Files of dual-system runs: what is written is read again, and what is wrong is named by its field. */
import { expect, it, test } from "vitest";
import type { TraceEvent } from "../../src/index";
import { dualRun } from "../../tests/fixtures/dualRun";
import { parseDualTrace, writeDualTrace } from "./dualTrace";

const search = { world: 7, system1: true };
const change = (type: TraceEvent["type"], to: object) =>
  dualRun.map((event) => (event.type === type ? { ...event, ...to } : event)) as TraceEvent[];
const written = (events: readonly TraceEvent[]) => writeDualTrace({ search, events: [...events] });

test("a run that was written is read again", () => {
  expect(parseDualTrace(writeDualTrace({ search, device: "a device", events: [...dualRun] }))).toEqual({
    search,
    device: "a device",
    events: dualRun,
  });
});

it.each([
  ["{", "no valid JSON"],
  ["[]", "file: "],
  ['{"format": "other", "search": {}, "events": []}', "format: "],
  [written([]), "events: "],
  [written(dualRun.slice(1)), "events.0: a run begins with runStarted"],
  [written(change("packed", { capacity: "wide" })), "events.7.capacity: "],
  [written(change("packed", { bins: [{ items: [2], used: 1 }] })), "events.7.bins.0.items: there is no document 2"],
  [written(change("system1Started", { bin: 5 })), "events.8.bin: there is no bin 5"],
  [written(change("toolCall", { turn: 9 })), "events.5.turn: turn 9 was never begun"],
  [written([...dualRun, ...dualRun]), "events.19.type: "],
])("refuses by name: %#", (text, message) => {
  expect(() => parseDualTrace(text)).toThrow(message);
});
