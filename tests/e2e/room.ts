/** What the browser tests do on the page, in the words of its visitors. */
import { expect, type Page } from "@playwright/test";
import { strings } from "../../app/strings";

/** One answer on a software device, with time to spare on a busy machine. */
export const ANSWER_MS = 60_000;
const LOAD_MS = 60_000;

export const askButton = (page: Page) => page.getByRole("button", { name: strings.dualSystem.ask.ask, exact: true });
export const stopButton = (page: Page) =>
  page.getByRole("button", { name: strings.dualSystem.ask.stop, exact: true }).first();
export const questionField = (page: Page) => page.getByRole("textbox", { name: strings.dualSystem.ask.question });
export const presets = (page: Page) =>
  page.getByRole("region", { name: strings.dualSystem.ask.label }).locator("[aria-pressed]");
export const engineLine = (page: Page) => page.getByRole("region", { name: strings.device.label });
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
