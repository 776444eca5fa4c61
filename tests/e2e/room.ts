/** What the browser tests do on the page, in the words of its visitors; and their `test`, which fails on any error. */
import { AxeBuilder } from "@axe-core/playwright";
import { test as base, expect, type Locator, type Page } from "@playwright/test";
import { strings } from "../../app/strings";

/** A test that fails when the page throws or writes an error to the console. */
export const test = base.extend<{ errors: undefined }>({
  errors: [
    async ({ page }, use) => {
      const errors: string[] = [];
      page.on("pageerror", (error) => errors.push(String(error)));
      page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
      await use(undefined);
      expect(errors, "errors of the page").toEqual([]);
    },
    { auto: true },
  ],
});

/** One answer on a software device, with time to spare on a busy machine. */
export const ANSWER_MS = 120_000;
const LOAD_MS = 120_000;

export const askButton = (page: Page) => page.getByRole("button", { name: strings.dualSystem.ask.ask, exact: true });
export const stopButton = (page: Page) =>
  page.getByRole("button", { name: strings.dualSystem.ask.stop, exact: true }).first();
export const questionField = (page: Page) =>
  page.getByRole("textbox", { name: strings.dualSystem.ask.question, exact: true });
export const presets = (page: Page) =>
  page.getByRole("region", { name: strings.dualSystem.ask.label }).locator("[aria-pressed]");
export const engineLine = (page: Page) => page.getByRole("region", { name: strings.device.label, exact: true });
export const picture = (page: Page) => page.getByRole("region", { name: strings.dualSystem.run.picture });

/** Opens the room and waits for its questions; the agent may still be loading. */
export async function openRoom(page: Page, search = ""): Promise<void> {
  await page.goto(`#/dual-system${search}`);
  await expect(presets(page).first()).toBeVisible({ timeout: LOAD_MS });
}

export async function expectReady(page: Page): Promise<void> {
  await expect(engineLine(page)).toContainText("parameters", { timeout: LOAD_MS });
}

/** Waits for the end of the run and for the grade of its answer. */
export async function expectGoldAnswer(page: Page): Promise<void> {
  await expect(picture(page).getByText(strings.dualSystem.run.correct)).toBeVisible({ timeout: ANSWER_MS });
}

/** Findings of axe that hinder people, with the elements concerned. */
export async function findings(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => `${id}: ${target}: ${failureSummary}`));
}

/** Presses Tab until something has the focus. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  for (let presses = 0; presses < 150; presses++) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  await expect(target).toBeFocused();
}
