/** The ring keeps the latest items, oldest first. */
import { expect, test } from "vitest";
import { RingBuffer } from "./ringBuffer";

test("drops the oldest when full", () => {
  const ring = new RingBuffer<number>(3);
  for (const item of [1, 2]) ring.push(item);
  expect(ring.toArray()).toEqual([1, 2]);
  for (const item of [3, 4, 5, 6, 7]) ring.push(item);
  expect(ring.toArray()).toEqual([5, 6, 7]);
  ring.clear();
  ring.push(8);
  expect(ring.toArray()).toEqual([8]);
});

test("refuses a capacity that holds nothing", () => {
  expect(() => new RingBuffer(0)).toThrow("capacity");
});
