/** The recorder publishes rarely, loses nothing, and forgets the last run when it is reset. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { dualRun } from "../../tests/fixtures/dualRun";
import { EventRecorder } from "./eventRecorder";
import { foldEvents, type RunView } from "./runView";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a burst of events is published once, folded", () => {
  const published: (RunView | undefined)[] = [];
  const recorder = new EventRecorder(foldEvents, (view: RunView | undefined) => published.push(view));
  for (const event of dualRun) recorder.push([event]);
  vi.advanceTimersByTime(1000);
  expect(published).toEqual([foldEvents(undefined, dualRun)]);
  expect(recorder.events()).toEqual(dualRun);
});

test("later batches continue the view", () => {
  const published: (RunView | undefined)[] = [];
  const recorder = new EventRecorder(foldEvents, (view: RunView | undefined) => published.push(view));
  recorder.push(dualRun.slice(0, 9));
  vi.advanceTimersByTime(100);
  recorder.push(dualRun.slice(9));
  vi.advanceTimersByTime(100);
  expect(published).toHaveLength(2);
  expect(published[1]).toEqual(foldEvents(undefined, dualRun));
});

test("what is waiting can be published at once, and is not published again", () => {
  const published: (RunView | undefined)[] = [];
  const recorder = new EventRecorder(foldEvents, (view: RunView | undefined) => published.push(view));
  recorder.push(dualRun);
  recorder.flush();
  expect(published).toEqual([foldEvents(undefined, dualRun)]);
  recorder.flush();
  vi.advanceTimersByTime(1000);
  expect(published).toHaveLength(1);
});

test("reset drops what was not yet published", () => {
  const published: (RunView | undefined)[] = [];
  const recorder = new EventRecorder(foldEvents, (view: RunView | undefined) => published.push(view));
  recorder.push(dualRun);
  recorder.reset();
  vi.advanceTimersByTime(1000);
  expect(published).toEqual([]);
  expect(recorder.events()).toEqual([]);
});
