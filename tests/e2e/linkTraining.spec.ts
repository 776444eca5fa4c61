/**
 * Link training in the browser: from untrained links through both stages, halted, reloaded, taken up again, saved to a
 * file, opened from it, and worth the same afterwards.
 */
import { expect, type Locator, type Page } from "@playwright/test";
import { strings } from "../../app/strings";
import { expectReady, findings, test } from "./room";

const text = strings.linkTraining;
/** A stage of a few dozen small steps on a software device. */
const STAGE_MS = 240_000;

const SETTINGS = {
  inner: { steps: 36, batch: 2, warmupSteps: 3, learningRate: 0.003, rounds: 2, hops: [1, 2], validateEvery: 0 },
  outer: {
    steps: 30,
    batch: 2,
    warmupSteps: 3,
    learningRate: 0.002,
    roundsMix: [1, 2],
    hops: [1, 2],
    start: "ridge",
    messageWeight: 1,
    validateEvery: 15,
    validationQuestions: 6,
  },
};

async function open(page: Page, more: Record<string, unknown> = {}): Promise<void> {
  const search = Object.entries({ ...SETTINGS, ...more }).map(([key, value]) => {
    return `${key}=${encodeURIComponent(JSON.stringify(value))}`;
  });
  await page.goto(`#/link-training?${search.join("&")}`);
  await expectReady(page);
}

const part = (page: Page, name: string) => page.getByRole("region", { name, exact: true });
const track = (page: Page, stage: "inner" | "outer") => part(page, text.stages[stage].title);
const button = (page: Page | Locator, name: string) => page.getByRole("button", { name, exact: true });

/** The numbers behind a curve, by step. */
async function curve(page: Page, title: string, column: number): Promise<[step: number, value: number][]> {
  const figure = part(page, text.charts.title).getByRole("figure").filter({ hasText: title }).first();
  if (!(await figure.getByRole("table").isVisible())) await figure.getByText(strings.table.show).click();
  // It is drawn when it has been opened.
  await figure.locator("tbody tr").first().waitFor();
  const rows = await figure.locator("tbody tr").all();
  const cells = await Promise.all(rows.map((row) => row.locator("th, td").allInnerTexts()));
  return cells.flatMap((row): [number, number][] => (row[column] ? [[Number(row[0]), Number(row[column])]] : []));
}

const mean = (values: readonly [number, number][]) => values.reduce((sum, [, value]) => sum + value, 0) / values.length;

/** The loss of the last steps is clearly below that of the first ones. */
async function expectFallingLoss(page: Page, steps: number): Promise<void> {
  const losses = await curve(page, text.charts.loss, 1);
  expect(losses.map(([step]) => step)).toEqual(Array.from({ length: steps }, (_, i) => i + 1));
  expect(mean(losses.slice(-8))).toBeLessThan(0.85 * mean(losses.slice(0, 4)));
}

/** Measures and gives the cells of the trained links' row. */
async function measure(page: Page): Promise<string[]> {
  const evaluation = part(page, text.evaluation.title).first();
  await button(evaluation, text.evaluation.start).click();
  const last = evaluation.getByRole("row", { name: new RegExp(`^${text.evaluation.contenders.text}`) });
  await expect(last).toBeVisible({ timeout: STAGE_MS });
  const row = evaluation.getByRole("row", { name: new RegExp(`^${text.evaluation.contenders.trained}`) });
  // All but the time.
  return (await row.getByRole("cell").allInnerTexts()).slice(0, -1);
}

test("links are trained, halted, reloaded, resumed, saved, opened, and are worth the same", async ({ page }) => {
  test.setTimeout(900_000);
  await open(page, { n: 8, rounds: 2 });
  await expect(track(page, "inner")).toContainText(text.track.none);
  await button(page, text.stages.inner.start).click();
  await expect(track(page, "inner").getByText(text.track.states.done, { exact: true })).toBeVisible({
    timeout: STAGE_MS,
  });
  await expectFallingLoss(page, SETTINGS.inner.steps);

  // Halted between two steps, then one step by hand.
  await button(page, text.stages.outer.start).click();
  const outer = track(page, "outer");
  await expect(outer).toContainText(/step ([5-9]|1\d) of/, { timeout: STAGE_MS });
  await button(outer, text.control.pause).click();
  await expect(outer.getByText(text.track.states.paused, { exact: true })).toBeVisible({ timeout: STAGE_MS });
  const halted = Number(/step (\d+) of/.exec((await outer.textContent()) ?? "")?.[1]);
  await button(outer, text.control.step).click();
  await expect(outer).toContainText(`step ${halted + 1} of`, { timeout: STAGE_MS });
  await expect(outer.getByText(text.track.states.paused, { exact: true })).toBeVisible({ timeout: STAGE_MS });
  const before = await curve(page, text.charts.loss, 1);
  expect(before).toHaveLength(halted + 1);

  await page.reload();
  await expectReady(page);
  await expect(page.getByText(text.control.saved("outer links", String(halted + 1), "30", ""))).toBeVisible();
  await expect(outer).toContainText(text.track.states.interrupted);
  await button(page, text.control.resumeSaved).click();
  await expect(outer.getByText(text.track.states.done, { exact: true })).toBeVisible({ timeout: STAGE_MS });
  await expectFallingLoss(page, SETTINGS.outer.steps);
  const after = await curve(page, text.charts.loss, 1);
  expect(after.slice(0, halted + 1)).toEqual(before);

  const measured = await measure(page);
  const saving = page.waitForEvent("download");
  await button(page, text.files.export).click();
  const file = await (await saving).path();

  // In a browser that knows nothing of the run.
  await page.goto("about:blank");
  await page.context().clearCookies();
  await page.goto("./");
  await page.evaluate(
    () => new Promise((resolve) => (indexedDB.deleteDatabase("twinloop-training").onsuccess = resolve)),
  );
  await open(page, { n: 8, rounds: 2 });
  await expect(track(page, "outer")).toContainText(text.track.none);
  const choosing = page.waitForEvent("filechooser");
  await button(page, text.files.import).click();
  await (await choosing).setFiles(file);
  await expect(page.getByText(text.files.run("outer links", "30"))).toBeVisible();
  await expect(page.getByRole("combobox", { name: text.evaluation.set, exact: true })).toHaveValue("opened");
  expect(await measure(page)).toEqual(measured);

  // In the other room the links can be used at once.
  await page.getByRole("link", { name: text.files.use }).click();
  const recursion = strings.latentRecursion;
  await expect(page.getByRole("combobox", { name: recursion.links.set })).toHaveValue("trained");
  await button(page, recursion.run.start).click();
  await expect(page.getByText(recursion.status.answered, { exact: true })).toBeVisible({ timeout: STAGE_MS });
});

test("a hidden page halts the run, other rooms can halt it, and a new run asks first", async ({ page }) => {
  test.setTimeout(300_000);
  await open(page, { inner: { ...SETTINGS.inner, steps: 500 } });
  await button(page, text.stages.inner.start).click();
  const inner = track(page, "inner");
  await expect(inner).toContainText(/step [2-9] of/, { timeout: STAGE_MS });
  const show = (state: string) =>
    page.evaluate((value) => {
      Object.defineProperty(document, "visibilityState", { configurable: true, get: () => value });
      document.dispatchEvent(new Event("visibilitychange"));
    }, state);
  await show("hidden");
  await expect(page.getByText(text.notices.hidden)).toBeVisible({ timeout: STAGE_MS });
  await show("visible");
  await expect(inner.getByText(text.track.states.running, { exact: true })).toBeVisible();

  await page.getByRole("link", { name: strings.rooms.dualSystem.title }).click();
  await expect(page.getByText(strings.busy.jobs.training)).toBeVisible();
  await button(page, strings.busy.pause).click();
  await expect(page.getByText(strings.busy.jobs.training)).toBeHidden({ timeout: STAGE_MS });
  await page.getByRole("link", { name: strings.rooms.linkTraining.title }).click();
  await expect(inner.getByText(text.track.states.paused, { exact: true })).toBeVisible();
  await button(inner, text.control.stop).click();
  await expect(inner.getByText(text.track.states.stopped, { exact: true })).toBeVisible({ timeout: STAGE_MS });

  await button(page, text.stages.inner.start).click();
  const dialog = page.getByRole("dialog", { name: text.control.replaceTitle });
  await button(dialog, text.control.replaceNo).click();
  await expect(inner.getByText(text.track.states.stopped, { exact: true })).toBeVisible();
});

test("files that are no links are refused by name", async ({ page }) => {
  await open(page);
  const choosing = page.waitForEvent("filechooser");
  await button(page, text.files.import).click();
  await (await choosing).setFiles({
    name: "notes.safetensors",
    mimeType: "",
    buffer: Buffer.from("not a file of links"),
  });
  const alert = page.getByRole("alert").filter({ hasText: strings.error.problems.linksInvalid.what });
  await expect(alert).toBeVisible();
  await button(alert, strings.error.details).click();
  await expect(alert).toContainText("notes.safetensors");
});

for (const colorScheme of ["light", "dark"] as const) {
  test(`axe finds nothing serious: ${colorScheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await open(page, { inner: { ...SETTINGS.inner, steps: 2, validateEvery: 2, validationQuestions: 4 } });
    await button(page, text.stages.inner.start).click();
    await expect(track(page, "inner").getByText(text.track.states.done, { exact: true })).toBeVisible({
      timeout: STAGE_MS,
    });
    expect(await findings(page)).toEqual([]);
    for (const summary of await page.getByText(strings.table.show).all()) await summary.click();
    expect(await findings(page)).toEqual([]);
  });
}

test("on a phone the room is one column", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await open(page);
  await expect(track(page, "outer")).toBeVisible();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  expect(await findings(page)).toEqual([]);
});
