/** Steps of a run: everything that happens, in order, and the picture at the last step is the whole run. */
import { expect, test } from "vitest";
import { dualRun } from "../../tests/fixtures/dualRun";
import { stepsOf } from "./runSteps";
import { foldEvents } from "./runView";

test("steps are the run's moments without single tokens", () => {
  const steps = stepsOf(dualRun);
  expect(steps.map(({ event }) => event.type)).toEqual([
    ...["turnStarted", "system2Message", "toolCall", "toolResult", "packed"],
    ...["system1Output", "system1Output", "refinedInfo", "turnStarted", "system2Message", "answer"],
  ]);
});

test("each step shows what has happened, and the last one the whole run", () => {
  const steps = stepsOf(dualRun);
  const at = (step: number) => foldEvents(undefined, dualRun.slice(0, steps[step]!.events))!;
  expect(at(0).turns[0]).toMatchObject({ streamed: "", lanes: [] });
  expect(at(4).turns[0]!.lanes.map(({ bin, text }) => [bin, text])).toEqual([
    [0, ""],
    [1, ""],
  ]);
  expect(at(steps.length - 1)).toEqual(foldEvents(undefined, dualRun));
});

test("a run without an answer ends with a step of its own", () => {
  const stopped = [...dualRun.slice(0, 3), dualRun.at(-1)!];
  expect(stepsOf(stopped).map(({ event }) => event.type)).toEqual(["turnStarted", "runFinished"]);
});
