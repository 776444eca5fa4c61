/** Recorded recursions: what is written is read again, what is wrong is named, and the shipped one can be shown. */
import { readFileSync } from "node:fs";
import { expect, it, test } from "vitest";
import { madeUpRecursion } from "../../tests/fixtures/recursionRun";
import { DEFAULTS, relaySpec, searchSchema } from "../rooms/latentRecursion/search";
import { parseRecursionTrace, writeRecursionTrace } from "./recursionTrace";
import { foldRecursion } from "./recursionView";

const relay = { seed: 3, hops: 2, deal: "with" } as const;

test("a run that was written is read again, its numbers to five digits", () => {
  const events = madeUpRecursion();
  const read = parseRecursionTrace(writeRecursionTrace(relay, events));
  expect(read.relay).toEqual(relay);
  expect(read.events.map(({ type }) => type)).toEqual(events.map(({ type }) => type));
  const thought = (list: typeof events) => list.find((event) => event.type === "latentThought")!.thought;
  for (const [i, value] of thought(read.events).entries()) expect(value).toBeCloseTo(thought(events)[i]!, 4);
});

it.each([
  ["{", "no valid JSON"],
  ['{"format": "other"}', "format"],
  [JSON.stringify({ format: "twinloop-recursion", relay, events: [] }), "events"],
  [writeRecursionTrace(relay, madeUpRecursion().slice(1)), "begins with recursionStarted"],
])("refuses by name: %#", (text, message) => {
  expect(() => parseRecursionTrace(text)).toThrow(message);
});

test("the run that the page is shipped with is the one that its settings would run, and it ends well", () => {
  const { relay: shipped, events } = parseRecursionTrace(readFileSync("public/traces/latent-recursion.json", "utf8"));
  expect(shipped).toEqual(relaySpec(searchSchema.parse({})));
  const view = foldRecursion(events)!;
  expect(view.started.settings).toMatchObject({ rounds: DEFAULTS.rounds, latentSteps: DEFAULTS.steps });
  expect(view.answer?.correct).toBe(true);
});
