/** Batches keep order, wait no longer than the interval, and a flush leaves nothing behind. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { TraceEvent } from "../trace/events";
import { EventBatcher } from "./eventBatcher";

const event = (at: number): TraceEvent => ({ type: "system2Token", at, turn: 0, text: `${at}` });

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("events of one interval leave together and in order", () => {
  const batches: TraceEvent[][] = [];
  const batcher = new EventBatcher<TraceEvent>((events) => batches.push(events), 50);
  batcher.push(event(1));
  vi.advanceTimersByTime(49);
  batcher.push(event(2));
  expect(batches).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(batches).toEqual([[event(1), event(2)]]);
  batcher.push(event(3));
  vi.advanceTimersByTime(50);
  expect(batches).toEqual([[event(1), event(2)], [event(3)]]);
});

test("flush sends at once, and its timer does not fire again", () => {
  const batches: TraceEvent[][] = [];
  const batcher = new EventBatcher<TraceEvent>((events) => batches.push(events), 50);
  batcher.push(event(1));
  batcher.flush();
  batcher.flush();
  vi.advanceTimersByTime(200);
  expect(batches).toEqual([[event(1)]]);
});
