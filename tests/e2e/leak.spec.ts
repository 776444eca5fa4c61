/**
 * Fifty questions in a row: the engine's own count of GPU bytes, the objects of page and worker and the nodes of the
 * page's document stay where they were. The page keeps its latest 16 runs to show again, so that its own objects are
 * flat only when these are there. Heap snapshots count objects alone: the heap's size goes on growing with the machine
 * code that V8 makes of what is called often, and with the browser's own list of timings. Takes about 3 minutes on a
 * software device with two free cores.
 */
import { type CDPSession, expect, type Page } from "@playwright/test";
import { askButton, expectReady, openRoom, test } from "./room";

/** One document, two turns: the least that has both systems at work. */
const SHORT = "?item=1&results=1&turns=2";
const QUESTIONS = 50;
const WARM = 5;
/** From here on the list of runs is full. */
const FULL = 20;
const SAMPLES = [WARM, FULL, QUESTIONS];
/** Bytes. Each run that is kept takes about 12,000, and thirty are asked between the last two samples. */
const NOISE = 20_000;

interface Sample {
  gpu: number;
  page: number;
  worker: number;
  nodes: number;
  listeners: number;
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
  const worker = await workerTarget(session);
  await openRoom(page, SHORT);
  await expectReady(page);
  const samples = new Map<number, Sample>();
  for (let asked = 1; asked <= QUESTIONS; asked++) {
    await askButton(page).click();
    await expect(askButton(page)).toBeVisible({ timeout: 120_000 });
    if (SAMPLES.includes(asked)) samples.set(asked, await sample(page, session, worker));
  }
  for (const [asked, found] of samples) console.log(`after ${asked} questions: ${JSON.stringify(found)}`);
  const [warm, full, last] = SAMPLES.map((asked) => samples.get(asked)) as [Sample, Sample, Sample];
  for (const { gpu } of [full, last]) expect(gpu, "GPU bytes").toBe(warm.gpu);
  expect(last.worker - warm.worker, "objects of the worker").toBeLessThan(NOISE);
  expect(last.page - full.page, "objects of the page").toBeLessThan(NOISE);
  expect(last.nodes, "nodes of the document").toBe(full.nodes);
  expect(last.listeners, "listeners of the page").toBe(full.listeners);
});

async function sample(page: Page, session: CDPSession, worker: Target): Promise<Sample> {
  const gpu = await liveBytes(page);
  const [own, other] = [await objectBytes(pageTarget(session)), await objectBytes(worker)];
  const { nodes, jsEventListeners } = await session.send("Memory.getDOMCounters");
  return { gpu, page: own, worker: other, nodes, listeners: jsEventListeners };
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

type Hear = (chunk: string) => void;

/** Something with a heap of its own. */
interface Target {
  send(method: string): Promise<unknown>;
  /** Hears the parts of a heap snapshot until the returned function is called. */
  onChunk(hear: Hear): () => void;
}

const CHUNK = "HeapProfiler.addHeapSnapshotChunk";

function pageTarget(session: CDPSession): Target {
  return {
    send: (method) => session.send(method as "HeapProfiler.takeHeapSnapshot"),
    onChunk(hear) {
      const listener = ({ chunk }: { chunk: string }) => hear(chunk);
      session.on(CHUNK, listener);
      return () => session.off(CHUNK, listener);
    },
  };
}

/** Speaks with the first worker that the page starts. */
async function workerTarget(session: CDPSession): Promise<Target> {
  let attached: (id: string) => void = () => {};
  const target = new Promise<string>((resolve) => {
    attached = resolve;
  });
  const waiting = new Map<number, (result: unknown) => void>();
  const hearing = new Set<Hear>();
  session.on(
    "Target.attachedToTarget",
    ({ sessionId, targetInfo }) => targetInfo.type === "worker" && attached(sessionId),
  );
  session.on("Target.receivedMessageFromTarget", ({ message }) => {
    const { id, result, method, params } = JSON.parse(message);
    if (method === CHUNK) for (const hear of hearing) hear(params.chunk);
    waiting.get(id)?.(result);
  });
  await session.send("Target.setAutoAttach", { autoAttach: true, waitForDebuggerOnStart: false, flatten: false });
  let last = 0;
  return {
    async send(method) {
      const sessionId = await target;
      const id = ++last;
      const answer = new Promise((resolve) => waiting.set(id, resolve));
      await session.send("Target.sendMessageToTarget", { sessionId, message: JSON.stringify({ id, method }) });
      return answer;
    },
    onChunk(hear) {
      hearing.add(hear);
      return () => hearing.delete(hear);
    },
  };
}

/** What objects, arrays, closures and strings take, without code and what is the browser's. */
const COUNTED = new Set(["object", "array", "closure", "string", "concatenated string", "sliced string", "number"]);

/** Bytes of the heap's living objects. A snapshot begins with a collection of garbage. */
async function objectBytes(target: Target): Promise<number> {
  const chunks: string[] = [];
  const stop = target.onChunk((chunk) => chunks.push(chunk));
  await target.send("HeapProfiler.takeHeapSnapshot");
  stop();
  const { snapshot, nodes } = JSON.parse(chunks.join(""));
  const fields: string[] = snapshot.meta.node_fields;
  const types: string[] = snapshot.meta.node_types[0];
  let bytes = 0;
  for (let at = 0; at < nodes.length; at += fields.length) {
    const type = types[nodes[at + fields.indexOf("type")]] as string;
    if (COUNTED.has(type)) bytes += nodes[at + fields.indexOf("self_size")];
  }
  return bytes;
}
