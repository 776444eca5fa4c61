/** Live runs in the browser: a preset and a fresh question answered with the gold answer, every part drawn, stop. */
import { expect, type Page } from "@playwright/test";
import { strings } from "../../app/strings";
import {
  ANSWER_MS,
  askButton,
  engineLine,
  expectGoldAnswer,
  expectReady,
  openRoom,
  picture,
  presets,
  questionField,
  stopButton,
  test,
} from "./room";

/** Waits until System 2 has written something, so that what follows happens in the middle of a run. */
async function expectWriting(page: Page): Promise<void> {
  await expect(picture(page).getByText(strings.dualSystem.run.thought)).toBeVisible({ timeout: ANSWER_MS });
}

test("a preset question is researched and answered, and every part can be inspected", async ({ page }) => {
  await openRoom(page);
  await expectReady(page);
  await expect(engineLine(page)).toContainText(/software device|GPU/);
  await presets(page).first().click();
  await askButton(page).click();
  await expectGoldAnswer(page);

  const first = picture(page).getByRole("region", { name: strings.dualSystem.run.turn(1), exact: true });
  await expect(first.getByText(strings.dualSystem.run.purpose)).toBeVisible();
  await expect(first.getByRole("listitem").first()).toContainText(/\d+$/);
  await expect(page.getByRole("region", { name: strings.dualSystem.ledger.label })).toContainText("less to read");
  await expect(page.getByRole("status").filter({ hasText: "Answer:" })).toContainText(strings.dualSystem.run.correct);

  const inspector = page.getByRole("complementary", { name: strings.inspector.label });
  await first.getByRole("button", { name: strings.dualSystem.inspector.system2(1) }).click();
  await expect(inspector).toContainText("<tool_call>");
  await expect(inspector).toContainText("<|im_start|>");
  await first.getByRole("button", { name: strings.dualSystem.inspector.bins(1) }).click();
  await expect(inspector).toContainText(strings.dualSystem.inspector.lowerBound);
  // The middle of a lane may be a quote, which leads elsewhere.
  await first
    .getByRole("button", { name: strings.dualSystem.inspector.lane(1, 1) })
    .click({ position: { x: 8, y: 8 } });
  await expect(inspector).toContainText("Purpose:");
  await page.keyboard.press("Escape");
  await expect(inspector).toBeHidden();

  // A quote leads to its document, with the very sentence marked.
  const second = picture(page).getByRole("region", { name: strings.dualSystem.run.turn(2), exact: true });
  const quote = second.getByRole("button", { name: /^\d+ ?\S/ }).first();
  const words = ((await quote.textContent()) ?? "").replace(/^\d+\s*/, "");
  await quote.click();
  await expect(inspector.locator("mark")).toHaveText(words);

  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: strings.dualSystem.run.download }).click();
  await page.getByRole("menuitem", { name: strings.export.json }).click();
  const stream = await (await download).createReadStream();
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  const { events } = JSON.parse(Buffer.concat(chunks).toString()) as { events: { type: string }[] };
  expect(events[0]?.type).toBe("runStarted");
  expect(events.at(-1)?.type).toBe("runFinished");
});

test("a freshly generated question is answered over its own corpus", async ({ page }) => {
  await openRoom(page);
  const before = await questionField(page).inputValue();
  // "New question" draws a seed and a number; only these two draws are fixed, to a world that nobody has seen.
  await page.evaluate(() => {
    const { random } = Math;
    let draws = 2;
    Math.random = () => {
      if (--draws === 0) Math.random = random;
      return 0.141592;
    };
  });
  await page.getByRole("button", { name: strings.dualSystem.ask.fresh }).click();
  await expect(questionField(page)).not.toHaveValue(before);
  expect(page.url()).toMatch(/world=\d+&item=\d+/);
  await askButton(page).click();
  await expectGoldAnswer(page);
});

test("without System 1, System 2 reads the raw documents", async ({ page }) => {
  await openRoom(page, "?system1=false&turns=2");
  await askButton(page).click();
  await expect(picture(page).getByText(strings.dualSystem.run.system1Off)).toBeVisible({ timeout: ANSWER_MS });
  await expect(picture(page).getByText(strings.dualSystem.run.raw)).toBeVisible({ timeout: ANSWER_MS });
  await expect(page.getByRole("region", { name: strings.dualSystem.ledger.label })).toContainText(
    strings.dualSystem.ledger.withOff,
  );
});

test("Stop ends a run in the middle of a generation, and the next run works", async ({ page }) => {
  await openRoom(page);
  await expectReady(page);
  await askButton(page).click();
  await expectWriting(page);
  await stopButton(page).click();
  await expect(page.getByText(strings.dualSystem.run.reasons.stopped, { exact: true })).toBeVisible({
    timeout: 10_000,
  });
  await askButton(page).click();
  await expectWriting(page);
  await page.keyboard.press("Escape");
  await expect(page.getByText(strings.dualSystem.run.reasons.stopped, { exact: true })).toBeVisible({
    timeout: 10_000,
  });
});

test("a question in the visitor's own words lives in the address and has no grade", async ({ page }) => {
  await openRoom(page);
  await questionField(page).fill("Who is the mayor of nowhere?");
  await expect(page).toHaveURL(/q=Who/);
  await page.reload();
  await expect(questionField(page)).toHaveValue("Who is the mayor of nowhere?");
  await questionField(page).fill("");
  await expect(askButton(page)).toBeDisabled();
});

test("settings live in the address, and only when they differ from the defaults", async ({ page }) => {
  await openRoom(page);
  expect(new URL(page.url()).hash).toBe("#/dual-system");
  await page.getByRole("button", { name: strings.settings.title }).click();
  await page.getByRole("textbox", { name: strings.dualSystem.settings.results.label }).fill("3");
  await expect(page).toHaveURL(/results=3/);
  await page.getByRole("switch", { name: strings.dualSystem.settings.system1.label }).click();
  await expect(page).toHaveURL(/system1=false/);
  await page.getByRole("button", { name: strings.settings.reset }).click();
  await expect(page).toHaveURL(/#\/dual-system$/);
});
