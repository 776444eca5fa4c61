/** What can be done with runs: step and scrub, compare, branch, and ask many questions at once; with the keyboard, too. */
import { type Download, expect, type Page } from "@playwright/test";
import { strings } from "../../app/strings";
import { makeWorld } from "../../src/world/world";
import { ANSWER_MS, askButton, expectReady, findings, openRoom, picture, test } from "./room";

const text = strings.dualSystem;
const WORLD = 7;
const { questions } = makeWorld(WORLD);
/** A question of one look-up: the quickest run. */
const item = 1 + questions.findIndex(({ kind, hops }) => kind === "lookup" && hops === 1);

/** Several runs each, on a machine that may be busy with others. */
test.setTimeout(900_000);

const transport = (page: Page) => page.getByRole("region", { name: strings.transport.label });
const position = (page: Page) => transport(page).getByRole("slider", { name: strings.transport.position });
const comparison = (page: Page) => page.getByRole("region", { name: text.compare.title, exact: true });
const batch = (page: Page) => page.getByRole("region", { name: text.batch.title, exact: true });
const inspector = (page: Page) => page.getByRole("complementary", { name: strings.inspector.label });

async function expectOver(page: Page): Promise<void> {
  await expect(page.getByRole("button", { name: text.run.download })).toBeVisible({ timeout: 3 * ANSWER_MS });
}

async function textOf(download: Download): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

test("a run is stepped and scrubbed by the keyboard, and a link brings back the moment", async ({ page }) => {
  await openRoom(page);
  await expect(transport(page)).toBeVisible({ timeout: ANSWER_MS });
  await page.locator("#main").focus();
  await page.keyboard.press("Home");
  await expect(position(page)).toHaveAttribute("aria-valuetext", new RegExp(text.steps.start));
  await expect(picture(page).getByText(text.run.purpose)).toHaveCount(0);
  await page.keyboard.press("ArrowRight");
  await expect(position(page)).toHaveAttribute("aria-valuetext", /Turn 1: System 2 reads/);
  await expect(page).toHaveURL(/step=1/);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await expect(picture(page).getByText(text.run.purpose).first()).toBeVisible();
  await expect(page).toHaveURL(/step=3/);
  await page.reload();
  await expect(position(page)).toHaveValue("3", { timeout: ANSWER_MS });
  await page.locator("#main").focus();
  await page.keyboard.press(" ");
  await expect(transport(page).getByRole("button", { name: strings.transport.pause })).toBeVisible();
  await expect(position(page)).not.toHaveValue("3");
  await page.keyboard.press(" ");
  await page.keyboard.press("End");
  await expect(picture(page).getByTestId("answer")).toBeVisible();
  await expect(page).not.toHaveURL(/step=/);
});

test("a run is compared with one without System 1, and branched with another purpose", async ({ page }) => {
  await page.emulateMedia({ reducedMotion: "reduce" });
  await openRoom(page, `?world=${WORLD}&item=${item}&turns=3`);
  await expectReady(page);
  await askButton(page).click();
  await expectOver(page);
  const first = await picture(page).getByTestId("answer").textContent();
  await page.getByRole("button", { name: text.runs.againWithout }).press("Enter");
  await expect(comparison(page)).toBeVisible({ timeout: 3 * ANSWER_MS });
  const row = (name: string) => comparison(page).getByRole("row", { name: new RegExp(`^${name}`) });
  await expect(row(`${text.compare.system1} (on|off)`)).toContainText(`${text.compare.on}${text.compare.off}`);
  await expect(row(text.compare.temperature)).toHaveCount(0);
  await expect(row(text.compare.answer)).toContainText(first ?? "");
  await comparison(page).getByRole("switch").focus();
  await page.keyboard.press("Space");
  await expect(row(text.compare.temperature)).toHaveCount(1);
  expect(await findings(page)).toEqual([]);

  await comparison(page).getByRole("button", { name: text.compare.show }).first().click();
  await expect(picture(page).getByTestId("answer")).toHaveText(first ?? "");
  await picture(page)
    .getByRole("button", { name: text.inspector.system2(1) })
    .press("Enter");
  const purpose = inspector(page).getByRole("textbox", { name: text.branch.label });
  const before = await purpose.inputValue();
  const [subject] = questions[item - 1]!.chain;
  const other = `the age of ${subject!.subject}`;
  expect(before).not.toBe(other);
  await purpose.fill(other);
  await purpose.press("Enter");
  await expect(picture(page).getByText(text.branch.edited)).toBeVisible({ timeout: ANSWER_MS });
  await expect(picture(page).getByText(other).first()).toBeVisible();
  await expectOver(page);
  await expect(page.getByText(text.runs.branch(1))).toBeVisible();
  await expect(row(text.compare.branch)).toContainText(text.compare.branched(1, other));

  // Any two runs can be compared, by the keyboard.
  await page.getByRole("button", { name: text.runs.pin("A", 2) }).press("Enter");
  await expect(row(`${text.compare.system1} (on|off)`)).toContainText(`${text.compare.off}${text.compare.on}`);
  const download = page.waitForEvent("download");
  await comparison(page)
    .getByRole("button", { name: strings.export.label(text.compare.title) })
    .click();
  await page.getByRole("menuitem", { name: strings.export.json }).click();
  const { a, b } = JSON.parse(await textOf(await download));
  expect([a.settings.useSystem1, b.settings.useSystem1]).toEqual([false, true]);
  expect(b.branch).toEqual({ turn: 1, purpose: other });
});

test("batches are run, stopped, read from a file, drawn and saved; on a phone as well", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.emulateMedia({ reducedMotion: "reduce" });
  await openRoom(page, "?turns=2");
  await expectReady(page);
  const panel = batch(page);
  await panel.getByRole("textbox", { name: text.batch.count }).fill("200");
  await panel.getByRole("button", { name: text.batch.start }).click();
  await expect(panel.getByRole("row", { name: /of 200/ })).toBeVisible({ timeout: 3 * ANSWER_MS });
  await expect(askButton(page)).toBeDisabled();
  await panel.getByRole("button", { name: text.batch.stop, exact: true }).click();
  await expect(panel.getByRole("button", { name: text.batch.start })).toBeVisible({ timeout: ANSWER_MS });

  await panel.getByText(text.batch.file, { exact: true }).click();
  const choose = async (name: string, content: string) => {
    const chooser = page.waitForEvent("filechooser");
    await panel.getByRole("button", { name: /Choose a file|\.jsonl/ }).click();
    await (await chooser).setFiles({ name, mimeType: "application/jsonl", buffer: Buffer.from(content) });
  };
  await choose("bad.jsonl", '{"question": "Who?"}\n');
  await expect(panel.getByRole("alert")).toContainText("line 1: answer is missing");
  const own = questions.filter(({ kind, hops }) => kind === "lookup" && hops === 1).slice(0, 2);
  await choose(
    "own.jsonl",
    own.map(({ text: question, gold }) => JSON.stringify({ question, answers: gold })).join("\n"),
  );
  await expect(panel.getByRole("alert")).toHaveCount(0);
  await panel.getByRole("button", { name: text.batch.start }).press("Enter");
  const row = panel.getByRole("row", { name: /own\.jsonl/ });
  await expect(row.getByRole("cell").first()).toHaveText("2", { timeout: 4 * ANSWER_MS });
  await expect(panel.getByRole("figure")).toContainText(text.batch.chart);
  await panel.getByText(strings.table.show).last().click();
  await expect(panel.getByRole("table", { name: text.batch.answers })).toContainText(own[0]!.text);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  expect(await findings(page)).toEqual([]);

  const download = page.waitForEvent("download");
  await panel.getByRole("button", { name: strings.export.label(text.batch.title) }).click();
  await page.getByRole("menuitem", { name: strings.export.csv }).click();
  const lines = (await textOf(await download)).trim().split("\r\n");
  expect(lines.filter((line) => line.startsWith("2."))).toHaveLength(2);
  await row.getByRole("button").press("Enter");
  await expect(row).toHaveCount(0);
});
