/** Tracks of training: a run from its start to its end, one that is taken up again, and the next stage. */
import { describe, expect, it, test } from "vitest";
import { trainingEventSchema } from "../../src/index";
import { madeUpTraining } from "../../tests/fixtures/trainingRun";
import { foldTraining, recentMean, speedOf } from "./trainingView";

test("the made-up events are ones that the schema allows", () => {
  for (const event of [...madeUpTraining(), ...madeUpTraining({ stage: "outer" })]) {
    expect(trainingEventSchema.parse(event)).toEqual(event);
  }
});

describe("foldTraining", () => {
  it("follows a run to its end, however its events are cut into batches", () => {
    const events = madeUpTraining();
    const whole = foldTraining(undefined, events);
    const piecewise = events.reduce((view, event) => foldTraining(view, [event]), foldTraining(undefined, []));
    expect(piecewise).toEqual(whole);
    const { inner } = whole.stages;
    expect(inner!.steps.map(({ step }) => step)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(inner).toMatchObject({ step: 6, savedAt: 6, paused: false, finished: { reason: "done" } });
    expect(whole.current).toBe("inner");
  });

  it("does not change the view that it goes on from", () => {
    const before = foldTraining(undefined, madeUpTraining({ to: 3 }));
    const steps = [...before.stages.inner!.steps];
    foldTraining(before, madeUpTraining({ from: 3 }));
    expect(before.stages.inner!.steps).toEqual(steps);
    expect(before.stages.inner!.paused).toBe(true);
  });

  it("takes up a saved run, and forgets what came after the file", () => {
    const lost = foldTraining(undefined, madeUpTraining({ to: 5 }));
    const resumed = foldTraining(lost, madeUpTraining({ from: 3 }));
    expect(resumed.stages.inner!.steps.map(({ step }) => step)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(resumed.stages.inner!.validations.map(({ step }) => step)).toEqual([6]);
  });

  it("keeps the inner stage beside the outer one, and drops the outer one when all begins anew", () => {
    const both = foldTraining(foldTraining(undefined, madeUpTraining()), madeUpTraining({ stage: "outer", to: 2 }));
    expect(both.current).toBe("outer");
    expect(both.stages.inner!.steps).toHaveLength(6);
    expect(both.stages.outer).toMatchObject({ step: 2, paused: true });
    expect(foldTraining(both, madeUpTraining({ to: 1 })).stages.outer).toBeUndefined();
  });

  it("leaves events without a start alone", () => {
    expect(foldTraining(undefined, madeUpTraining().slice(1)).stages).toEqual({});
  });
});

test("the speed leaves the first step out, which compiles", () => {
  const { steps } = foldTraining(undefined, madeUpTraining()).stages.inner!;
  expect(speedOf(steps)).toEqual({ steps: 10, tokens: 6400 });
  expect(speedOf(steps.slice(0, 1))).toBeUndefined();
});

test("a mean of the last values", () => {
  expect(recentMean([9, 1, 3], 2)).toBe(2);
  expect(recentMean([])).toBeUndefined();
});
