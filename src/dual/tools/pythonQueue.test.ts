import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { PythonMessage } from "./pythonMessages";
import { PythonQueue } from "./pythonQueue";

/** A worker that the test drives: `programs` is what it was sent, `tell` is what it says. */
interface FakeWorker {
  programs: string[];
  ended: boolean;
  tell: (message: PythonMessage) => Promise<void>;
}

function setUp() {
  const workers: FakeWorker[] = [];
  const queue = new PythonQueue(
    (onMessage) => {
      const worker: FakeWorker = {
        programs: [],
        ended: false,
        tell: async (message) => {
          onMessage(message);
          await settle();
        },
      };
      workers.push(worker);
      return {
        post: (code) => worker.programs.push(code),
        terminate: () => {
          worker.ended = true;
        },
      };
    },
    { timeMs: 1_000, loadMs: 5_000 },
  );
  /** A call whose failure is its outcome. */
  const call = (code: string, signal?: AbortSignal) => queue.run(code, signal).catch((error: Error) => error.message);
  return { queue, workers, call };
}

const settle = () => vi.advanceTimersByTimeAsync(0);
const output = (text: string): PythonMessage => ({ type: "output", text });

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  // Every limit is cleared when it is not needed any more.
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

describe("PythonQueue", () => {
  it("starts one worker on the first call, and sends nothing before it is ready", async () => {
    const { workers, call } = setUp();
    expect(workers).toHaveLength(0);
    const first = call("a");
    await settle();
    expect(workers.map(({ programs }) => programs)).toEqual([[]]);
    await workers[0]?.tell({ type: "ready" });
    await workers[0]?.tell(output("A"));
    expect(await first).toBe("A");
    const second = call("b");
    await settle();
    await workers[0]?.tell(output("B"));
    expect(await second).toBe("B");
    expect(workers).toHaveLength(1);
  });

  it("runs one program at a time, in the order of the calls", async () => {
    const { workers, call } = setUp();
    const calls = ["a", "b", "c"].map((code) => call(code));
    await settle();
    await workers[0]?.tell({ type: "ready" });
    expect(workers[0]?.programs).toEqual(["a"]);
    await workers[0]?.tell({ type: "error", message: "NameError: a" });
    expect(workers[0]?.programs).toEqual(["a", "b"]);
    await workers[0]?.tell(output("B"));
    await workers[0]?.tell(output("C"));
    expect(await Promise.all(calls)).toEqual(["NameError: a", "B", "C"]);
  });

  it("ends a worker whose program runs too long, and starts the next at once", async () => {
    const { workers, call } = setUp();
    const [long, next] = [call("long"), call("next")];
    await settle();
    await workers[0]?.tell({ type: "ready" });
    await vi.advanceTimersByTimeAsync(999);
    expect(workers[0]?.ended).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(await long).toBe("The code ran longer than 1 s and was stopped.");
    expect(workers.map(({ ended }) => ended)).toEqual([true, false]);
    // A late word of the dead changes nothing.
    await workers[0]?.tell(output("late"));
    await workers[1]?.tell({ type: "ready" });
    await workers[1]?.tell(output("N"));
    expect(await next).toBe("N");
  });

  it("gives a program the ten seconds that its tool promises, and Python two minutes to load", async () => {
    const tells: ((message: PythonMessage) => void)[] = [];
    const queue = new PythonQueue((onMessage) => {
      tells.push(onMessage);
      return { post: () => {}, terminate: () => {} };
    });
    const first = queue.run("a").catch((error: Error) => error.message);
    await vi.advanceTimersByTimeAsync(119_999);
    tells[0]?.({ type: "ready" });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await first).toBe("The code ran longer than 10 s and was stopped.");
    const second = queue.run("b").catch((error: Error) => error.message);
    await vi.advanceTimersByTimeAsync(120_000);
    expect(await second).toBe("Python was not ready after 120 s.");
  });

  it("does not count loading as running time", async () => {
    const { workers, call } = setUp();
    const first = call("a");
    await vi.advanceTimersByTimeAsync(4_000);
    await workers[0]?.tell({ type: "ready" });
    await workers[0]?.tell(output("A"));
    expect(await first).toBe("A");
  });

  it("ends a worker whose program is aborted, and starts none until the next call", async () => {
    const { workers, call } = setUp();
    const controller = new AbortController();
    const first = call("a", controller.signal);
    await settle();
    await workers[0]?.tell({ type: "ready" });
    controller.abort(new Error("stopped by hand"));
    expect(await first).toBe("stopped by hand");
    expect(workers.map(({ ended }) => ended)).toEqual([true]);
    const second = call("b");
    await settle();
    expect(workers).toHaveLength(2);
    await workers[1]?.tell({ type: "ready" });
    await workers[1]?.tell(output("B"));
    expect(await second).toBe("B");
  });

  it("drops a waiting call that is aborted, without harm to the one that runs", async () => {
    const { workers, call } = setUp();
    const controller = new AbortController();
    const [first, second, third] = [call("a"), call("b", controller.signal), call("c")];
    await settle();
    await workers[0]?.tell({ type: "ready" });
    controller.abort(new Error("stopped"));
    expect(await second).toBe("stopped");
    expect(workers[0]?.programs).toEqual(["a"]);
    await workers[0]?.tell(output("A"));
    await workers[0]?.tell(output("C"));
    expect(await Promise.all([first, third])).toEqual(["A", "C"]);
    expect(workers.map(({ programs }) => programs)).toEqual([["a", "c"]]);
  });

  it("keeps loading when the call that asked for it is aborted", async () => {
    const { workers, call } = setUp();
    const controller = new AbortController();
    const first = call("a", controller.signal);
    await settle();
    controller.abort(new Error("stopped"));
    expect(await first).toBe("stopped");
    await workers[0]?.tell({ type: "ready" });
    const second = call("b");
    await settle();
    await workers[0]?.tell(output("B"));
    expect(await second).toBe("B");
    expect(workers).toHaveLength(1);
  });

  it("refuses a call whose signal is aborted already, and starts nothing", async () => {
    const { workers, call } = setUp();
    expect(await call("a", AbortSignal.abort(new Error("too late")))).toBe("too late");
    expect(workers).toHaveLength(0);
  });

  it("says why Python could not be loaded, and tries again with the next call", async () => {
    const { workers, call } = setUp();
    const [first, second] = [call("a"), call("b")];
    await settle();
    await workers[0]?.tell({ type: "crashed", message: "Python could not be loaded: 404" });
    expect(await first).toBe("Python could not be loaded: 404");
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await second).toBe("Python was not ready after 5 s.");
    expect(workers.map(({ ended }) => ended)).toEqual([true, true]);
  });

  it("throws a broken interpreter away, whether it breaks at work or at rest", async () => {
    const { workers, call } = setUp();
    const [first, second] = [call("a"), call("b")];
    await settle();
    await workers[0]?.tell({ type: "ready" });
    await workers[0]?.tell({ type: "crashed", message: "Python crashed: stack" });
    expect(await first).toBe("Python crashed: stack");
    await workers[1]?.tell({ type: "ready" });
    await workers[1]?.tell(output("B"));
    expect(await second).toBe("B");
    await workers[1]?.tell({ type: "crashed", message: "Python ended by itself." });
    const third = call("c");
    await settle();
    await workers[2]?.tell({ type: "ready" });
    await workers[2]?.tell(output("C"));
    expect(await third).toBe("C");
  });

  it("fails the call in progress when it is closed, and can be used again", async () => {
    const { queue, workers, call } = setUp();
    const first = call("a");
    await settle();
    await workers[0]?.tell({ type: "ready" });
    queue.close();
    queue.close();
    expect(await first).toBe("Python was closed.");
    const second = call("b");
    await settle();
    await workers[1]?.tell({ type: "ready" });
    await workers[1]?.tell(output("B"));
    expect(await second).toBe("B");
  });
});
