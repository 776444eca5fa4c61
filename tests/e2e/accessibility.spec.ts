/** The page for everyone: axe in both colour schemes, the keyboard alone, small screens, reduced motion. */
import { expect, type Page } from "@playwright/test";
import { strings } from "../../app/strings";
import { ANSWER_MS, askButton, expectReady, findings, openRoom, picture, questionField, tabTo, test } from "./room";

async function expectOver(page: Page): Promise<void> {
  await expect(page.getByRole("button", { name: strings.dualSystem.run.download })).toBeVisible({
    timeout: 2 * ANSWER_MS,
  });
}

for (const colorScheme of ["light", "dark"] as const) {
  test(`axe finds nothing serious: ${colorScheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    // Settings that were changed are open.
    await openRoom(page, "?turns=3");
    await expect(page.getByRole("button", { name: strings.settings.reset })).toBeVisible();
    expect(await findings(page)).toEqual([]);
    await askButton(page).click();
    await expectOver(page);
    expect(await findings(page)).toEqual([]);
    await picture(page)
      .getByRole("button", { name: strings.dualSystem.inspector.system2(1) })
      .click();
    await expect(page.getByRole("complementary", { name: strings.inspector.label })).toBeVisible();
    expect(await findings(page)).toEqual([]);
  });
}

test("axe finds nothing serious on the error page and on a phone", async ({ page, context }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await context.route("**/models/**/config.json", (route) => route.fulfill({ status: 404, body: "not here" }));
  await openRoom(page);
  await expect(page.getByRole("alert")).toBeVisible();
  expect(await findings(page)).toEqual([]);
});

test("a question can be asked, stopped and inspected with the keyboard alone", async ({ page }) => {
  await openRoom(page);
  await expectReady(page);
  await page.keyboard.press("Tab");
  await expect(page.getByRole("button", { name: strings.skipToRun })).toBeFocused();
  await tabTo(page, questionField(page));
  await page.keyboard.press("Enter");
  await expect(picture(page).getByText(strings.dualSystem.run.purpose).first()).toBeVisible({ timeout: ANSWER_MS });
  await page.keyboard.press("Escape");
  await expectOver(page);

  const part = picture(page).getByRole("button", { name: strings.dualSystem.inspector.system2(1) });
  await tabTo(page, part);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("complementary", { name: strings.inspector.label })).toContainText("<|im_start|>");
});

test("on a phone the page is one column, and the inspector a sheet", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await openRoom(page, "?turns=2");
  await askButton(page).click();
  await expectOver(page);
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  expect(width).toBe(390);
  await picture(page)
    .getByRole("button", { name: strings.dualSystem.inspector.system2(1) })
    .click();
  const sheet = page.getByRole("dialog", { name: strings.dualSystem.inspector.system2(1) });
  await expect(sheet).toContainText("<|im_start|>");
  await sheet.getByRole("button", { name: strings.inspector.close }).click();
  await expect(sheet).toBeHidden();
});
