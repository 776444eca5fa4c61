/** A device that looks for finished work rarely, and at every submit, is made to look. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Completion } from "./completion";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "setInterval", "clearInterval", "performance"] }));
afterEach(() => void vi.useRealTimers());

/** A queue that tells of finished work `ms` later, or at the next submit. */
function queueThatLooksEvery(ms: number) {
  const looking: (() => void)[] = [];
  const look = () => {
    for (const done of looking.splice(0)) done();
  };
  let submits = 0;
  const queue = {
    submit: () => {
      submits++;
      look();
    },
    onSubmittedWorkDone: () =>
      new Promise<void>((resolve) => {
        looking.push(resolve);
        setTimeout(look, ms);
      }),
  };
  return { queue: queue as unknown as GPUQueue, submits: () => submits };
}

async function measured(ms: number) {
  const { queue, submits } = queueThatLooksEvery(ms);
  const completion = new Completion(queue);
  const measuring = completion.measure();
  await vi.advanceTimersByTimeAsync(3 * ms);
  await measuring;
  return { queue, submits, completion };
}

it("a device that answers late is made to look every few milliseconds, until it has answered", async () => {
  const { queue, submits, completion } = await measured(100);
  const begun = performance.now();
  const done = completion.of(queue.onSubmittedWorkDone().then(() => performance.now() - begun));
  await vi.advanceTimersByTimeAsync(1000);
  expect(await done).toBeLessThan(10);
  expect(submits()).toBe(1);
});

it("a failure ends it as well", async () => {
  const { submits, completion } = await measured(100);
  await expect(completion.of(Promise.reject(new Error("lost")))).rejects.toThrow("lost");
  await vi.advanceTimersByTimeAsync(1000);
  expect(submits()).toBe(0);
});

it("a device that answers at once is left alone", async () => {
  const { queue, submits, completion } = await measured(1);
  const done = completion.of(queue.onSubmittedWorkDone().then(() => true));
  await vi.advanceTimersByTimeAsync(1000);
  expect(await done).toBe(true);
  expect(submits()).toBe(0);
});
