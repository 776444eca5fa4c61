/** Packings that System 1 really reads in the tab: results with their n and units, cancel, and bins that are too large. */
import { expect, type Page } from "@playwright/test";
import { strings } from "../../app/strings";
import { ANSWER_MS, findings, test } from "./room";

test.setTimeout(600_000);

const text = strings.binPacking.measure;
const panel = (page: Page) => page.getByRole("region", { name: text.title, exact: true });
const start = (page: Page) => panel(page).getByRole("button", { name: text.start });

test("packings are measured with the engine, n times, and saved", async ({ page }) => {
  await page.emulateMedia({ reducedMotion: "reduce" });
  await page.goto("#/bin-packing?preset=own&items=60-40-40-20-30&capacity=80&algorithms=ffd.one");
  await expect(start(page)).toBeVisible({ timeout: ANSWER_MS });
  await panel(page).getByRole("textbox", { name: text.repetitions }).fill("2");
  await start(page).press("Enter");
  await expect(panel(page).getByRole("button", { name: text.cancel })).toBeVisible();
  await expect(panel(page)).toContainText("n = 2 readings", { timeout: 4 * ANSWER_MS });
  const row = (name: string) => panel(page).getByRole("row", { name: new RegExp(`^${name}`) });
  const { ffd, one } = strings.binPacking.algorithms;
  await expect(row(ffd.name).getByRole("cell").first()).toHaveText("3");
  await expect(row(one.name).getByRole("cell").first()).toHaveText("5");
  await expect(row(one.name)).toContainText(/\d (ms|s) to /);
  expect(await findings(page)).toEqual([]);

  const download = page.waitForEvent("download");
  await panel(page)
    .getByRole("button", { name: strings.export.label(text.title) })
    .click();
  await page.getByRole("menuitem", { name: strings.export.csv }).click();
  const chunks: Buffer[] = [];
  for await (const chunk of await (await download).createReadStream()) chunks.push(chunk as Buffer);
  // Head, and two readings of two packings.
  expect(Buffer.concat(chunks).toString().trim().split("\r\n")).toHaveLength(5);
});

test("a measurement is cancelled, and bins that no prompt can hold are refused in words", async ({ page }) => {
  await page.goto("#/bin-packing?capacity=300");
  await expect(start(page)).toBeVisible({ timeout: ANSWER_MS });
  await panel(page).getByRole("textbox", { name: text.repetitions }).fill("20");
  await start(page).click();
  await expect(panel(page)).toContainText(/[1-9]\d* of \d+ readings/, { timeout: 3 * ANSWER_MS });
  await panel(page).getByRole("button", { name: text.cancel }).click();
  await expect(start(page)).toBeVisible({ timeout: ANSWER_MS });
  await expect(panel(page)).toContainText(text.empty);
  await page.goto("#/bin-packing?preset=own&items=60-40&capacity=50000");
  await start(page).click();
  await expect(panel(page).getByRole("alert")).toContainText("50,000 tokens", { timeout: ANSWER_MS });
});
