/** The page on a static host: in a sub-folder, with threads where it is cross-origin isolated and without them elsewhere. */
import { expect, type Page } from "@playwright/test";
import { strings } from "../../app/strings";
import { askButton, engineLine, expectGoldAnswer, expectReady, presets, test } from "./room";
import { startSite } from "./siteServer";

// Loading and compiling 14 MB takes its time where the processor has much else to do.
test.setTimeout(420_000);

/** A machine of four cores, and a count of the workers that the engine's own worker starts: the threads. */
const CORES = 4;
const PRELUDE = `
Object.defineProperty(WorkerNavigator.prototype, "hardwareConcurrency", { get: () => ${CORES} });
globalThis.startedThreads = 0;
globalThis.Worker = class extends Worker {
  constructor(...args) {
    super(...args);
    globalThis.startedThreads++;
  }
};`;

const startedThreads = (page: Page) =>
  page
    .workers()
    .find((worker) => /engineWorker/.test(worker.url()))
    ?.evaluate(() => (globalThis as { startedThreads?: number }).startedThreads);

for (const isolated of [true, false]) {
  const how = isolated ? "on threads where it is cross-origin isolated" : "on one thread where it is not isolated";
  test(`in a sub-folder the processor answers ${how}`, async ({ page }) => {
    const site = await startSite({ folder: "/some/path/", isolated, workerPrelude: PRELUDE });
    try {
      await page.goto(`${site.url}#/dual-system?engine=onnx-wasm`);
      await expect(presets(page).first()).toBeVisible({ timeout: 120_000 });
      await expectReady(page);
      expect(await page.evaluate(() => crossOriginIsolated)).toBe(isolated);
      const threads = isolated ? CORES - 1 : 1;
      await expect(engineLine(page)).toContainText(`${strings.engines.cpu}`);
      await expect(engineLine(page)).toContainText(threads === 1 ? "1 thread" : `${threads} threads`);
      await presets(page).first().click();
      await askButton(page).click();
      await expectGoldAnswer(page);
      // The first of them is the worker that asks.
      expect(await startedThreads(page)).toBe(threads - 1);
      // Rooms with files of their own: recorded runs, links, papers.
      await page.getByRole("link", { name: strings.rooms.latentRecursion.title }).click();
      await page.getByRole("button", { name: strings.latentRecursion.run.start, exact: true }).click();
      const answered = page.getByText(strings.latentRecursion.status.answered, { exact: true });
      await expect(answered).toBeVisible({ timeout: 240_000 });
      for (const room of ["linkTraining", "binPacking", "models"] as const) {
        await page.getByRole("link", { name: strings.rooms[room].title }).click();
        await expect(page.getByRole("heading", { name: strings.rooms[room].title, level: 1 })).toBeVisible();
      }
      expect(site.missing).toEqual([]);
    } finally {
      await site.close();
    }
  });
}

test("in a sub-folder onnxruntime-web finds its WebGPU part", async ({ page }) => {
  const site = await startSite({ folder: "/some/path/", isolated: false });
  try {
    await page.goto(`${site.url}#/dual-system?engine=onnx-webgpu`);
    await expect(presets(page).first()).toBeVisible({ timeout: 120_000 });
    // Ready is who has opened the model there; what it writes is tested where the page lies at the root.
    await expectReady(page);
    await expect(engineLine(page)).toContainText(strings.engines.onnxGpu);
    expect(site.missing).toEqual([]);
  } finally {
    await site.close();
  }
});
