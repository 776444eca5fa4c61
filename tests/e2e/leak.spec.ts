/**
 * Fifty questions in a row: the engine's own count of GPU bytes and the memory of page and worker stay where they were
 * after the first five. The page keeps its latest 16 runs to show again, so that its own memory is flat only when these
 * are there. Takes about 3 minutes on a software device with two free cores.
 */
import { type CDPSession, expect, type Page, test } from "@playwright/test";
import { askButton, expectReady, openRoom } from "./room";

/** One document, two turns: the least that has both systems at work. */
const SHORT = "?item=1&results=1&turns=2";
const QUESTIONS = 50;
const WARM = 5;
/** From here on the list of runs is full, twice over. */
const FULL = 35;
const SAMPLES = [WARM, FULL, QUESTIONS];
/** Bytes. A run that is kept takes about 84,000: fifteen of them would be three times as much. */
const NOISE = 400_000;

interface Sample {
  gpu: number;
  page: number;
  worker: number;
}

test("fifty questions in a row leave nothing behind", async ({ page, context }) => {
  test.setTimeout(20 * 60_000);
  await page.addInitScript(() => {
    const { Worker: Original } = window;
    window.Worker = class extends Original {
      constructor(url: string | URL, options?: WorkerOptions) {
        super(url, options);
        (window as unknown as { engineWorker?: Worker }).engineWorker ??= this;
      }
    };
  });
  const session = await context.newCDPSession(page);
  const worker = await workerSession(session);
  await openRoom(page, SHORT);
  await expectReady(page);
  const samples = new Map<number, Sample>();
  for (let asked = 1; asked <= QUESTIONS; asked++) {
    await askButton(page).click();
    await expect(askButton(page)).toBeVisible({ timeout: 120_000 });
    if (SAMPLES.includes(asked)) samples.set(asked, await sample(page, session, worker));
  }
  for (const [asked, { gpu, page: own, worker: other }] of samples) {
    test.info().annotations.push({ type: `after ${asked}`, description: `GPU ${gpu}, page ${own}, worker ${other}` });
    console.log(`after ${asked} questions: GPU ${gpu}, page ${own}, worker ${other} bytes`);
  }
  const at = (asked: number) => samples.get(asked) as Sample;
  for (const asked of SAMPLES) expect(at(asked).gpu, `GPU bytes after ${asked}`).toBe(at(WARM).gpu);
  expect(at(QUESTIONS).worker - at(WARM).worker, "memory of the worker").toBeLessThan(NOISE);
  expect(at(QUESTIONS).page - at(FULL).page, "memory of the page").toBeLessThan(NOISE);
});

async function sample(page: Page, session: CDPSession, worker: Send): Promise<Sample> {
  // The first collection finds what the second one frees.
  for (let times = 0; times < 2; times++) {
    await session.send("HeapProfiler.collectGarbage");
    await worker("HeapProfiler.collectGarbage");
  }
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  const inWorker = (await worker("Runtime.getHeapUsage")) as { usedSize: number };
  return { gpu: await liveBytes(page), page: usedSize, worker: inWorker.usedSize };
}

/** Asks the engine itself, in comlink's words. */
function liveBytes(page: Page): Promise<number> {
  return page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        const { engineWorker } = window as unknown as { engineWorker: Worker };
        const id = `test ${performance.now()}`;
        const onMessage = ({ data }: MessageEvent) => {
          if (data?.id !== id) return;
          engineWorker.removeEventListener("message", onMessage);
          resolve(data.value.adapter.liveBytes);
        };
        engineWorker.addEventListener("message", onMessage);
        engineWorker.postMessage({ id, type: "APPLY", path: ["adapter"], argumentList: [] });
      }),
  );
}

type Send = (method: string) => Promise<unknown>;

/** Speaks with the first worker that the page starts. */
async function workerSession(session: CDPSession): Promise<Send> {
  let attached: (id: string) => void = () => {};
  const target = new Promise<string>((resolve) => {
    attached = resolve;
  });
  const waiting = new Map<number, (result: unknown) => void>();
  session.on(
    "Target.attachedToTarget",
    ({ sessionId, targetInfo }) => targetInfo.type === "worker" && attached(sessionId),
  );
  session.on("Target.receivedMessageFromTarget", ({ message }) => {
    const { id, result } = JSON.parse(message) as { id: number; result: unknown };
    waiting.get(id)?.(result);
  });
  await session.send("Target.setAutoAttach", { autoAttach: true, waitForDebuggerOnStart: false, flatten: false });
  let last = 0;
  return async (method) => {
    const sessionId = await target;
    const id = ++last;
    const answer = new Promise((resolve) => waiting.set(id, resolve));
    await session.send("Target.sendMessageToTarget", { sessionId, message: JSON.stringify({ id, method }) });
    return answer;
  };
}
