/** The fold of a run: what the picture shows at every moment of it. */
import { expect, test } from "vitest";
import { traceEventSchema } from "../../src/index";
import { dualRun, ledger } from "../../tests/fixtures/dualRun";
import { foldEvents, splitStream } from "./runView";

const until = (type: string, count = 1) => {
  let seen = 0;
  const end = dualRun.findIndex((event) => event.type === type && ++seen === count);
  return dualRun.slice(0, end + 1);
};

test("the fixture is a valid trace", () => {
  for (const event of dualRun) traceEventSchema.parse(event);
});

test("events in one batch and one by one give the same view", () => {
  let oneByOne: ReturnType<typeof foldEvents>;
  for (const event of dualRun) oneByOne = foldEvents(oneByOne, [event]);
  expect(oneByOne).toEqual(foldEvents(undefined, dualRun));
});

test("System 2's words stream until the whole message replaces them", () => {
  const view = foldEvents(undefined, until("system2Token", 2))!;
  expect(splitStream(view.turns[0]!.streamed)).toEqual({
    thought: "I need a birthplace.",
    rest: '<tool_call>\n{"name"',
  });
});

test("a thought in tags ends where its tag does", () => {
  expect(splitStream("<think>\nI look")).toEqual({ thought: "I look", rest: "" });
  expect(splitStream("<think>\nFound.\n</think>\n\n90 mi")).toEqual({ thought: "Found.", rest: "90 mi" });
});

test("lanes stream side by side, and each keeps its own text", () => {
  const view = foldEvents(undefined, until("system1Token", 2))!;
  expect(view.turns[0]!.lanes.map((lane) => lane.text)).toEqual(["- Ada", "- Ada Mor"]);
  expect(view.turns[0]!.lanes.every((lane) => lane.outputTokens === undefined)).toBe(true);
});

test("the ledger counts while the run goes on", () => {
  const view = foldEvents(undefined, until("refinedInfo"))!;
  expect(view.ledger).toEqual({
    rawTokens: 30,
    system1PromptTokens: 90,
    system1OutputTokens: 13,
    system1Calls: 2,
    system2ContextTokens: 60 + 25 + 13,
    system2OutputTokens: 25,
    // Raw documents in the place of 13 refined tokens.
    system2ContextWithoutSystem1: 60 + 25 + 30,
  });
});

test("a finished run shows its own ledger, and a turn that ended keeps its identity", () => {
  const middle = foldEvents(undefined, until("turnStarted", 2))!;
  const end = foldEvents(middle, dualRun.slice(until("turnStarted", 2).length))!;
  expect(end.ledger).toEqual(ledger);
  expect(end.finished?.reason).toBe("answer");
  expect(end.turns[1]!.answer?.correct).toBe(true);
  expect(end.turns[0]).toBe(middle.turns[0]);
});

test("events without a start are dropped", () => {
  expect(foldEvents(undefined, dualRun.slice(1))).toBeUndefined();
});
