/** The latent recursion: a run by keyboard alone, its pictures and their links, text beside latents, for everyone. */
import { readFile } from "node:fs/promises";
import { expect, type Page } from "@playwright/test";
import { strings } from "../../app/strings";
import { expectReady, findings, tabTo, test } from "./room";

const text = strings.latentRecursion;
const RUN_MS = 120_000;

const part = (page: Page, name: string) => page.getByRole("region", { name, exact: true });
const runButton = (page: Page) => page.getByRole("button", { name: text.run.start, exact: true });
const position = (page: Page) => page.getByRole("slider", { name: strings.transport.position });
const thought = (page: Page, role: string, round: number, step: number) =>
  part(page, text.laps.title).getByRole("button", {
    name: new RegExp(`^Thought ${step} of the ${role}, round ${round}:`),
  });

async function open(page: Page, search = ""): Promise<void> {
  await page.goto(`#/latent-recursion${search}`);
  await expect(part(page, text.ring.title)).toBeVisible({ timeout: 60_000 });
}

/** Waits for the end of a live run. */
async function expectAnswered(page: Page): Promise<void> {
  await expect(page.getByText(text.status.answered, { exact: true })).toBeVisible({ timeout: RUN_MS });
}

test("a recursion is run and looked through with the keyboard alone", async ({ page }) => {
  await open(page, "?steps=3&rounds=2");
  await expectReady(page);
  await page.keyboard.press("Tab");
  await expect(page.getByRole("button", { name: strings.skipToRun })).toBeFocused();
  const rounds = page.getByRole("textbox", { name: text.run.rounds, exact: true });
  await tabTo(page, rounds);
  await page.keyboard.press("ArrowUp");
  await expect(page).not.toHaveURL(/rounds=2/);
  await tabTo(page, runButton(page));
  await page.keyboard.press("Enter");
  await expectAnswered(page);

  // Three rounds of three agents, three thoughts each; the last agent of the last round writes instead.
  const laps = part(page, text.laps.title);
  await expect(laps.getByRole("button", { name: /^Thought/ })).toHaveCount(24);
  await expect(page.getByRole("status").filter({ hasText: "Answer:" })).not.toBeEmpty();

  // A thought that is selected stands out in all pictures and opens the inspector.
  await tabTo(page, thought(page, "critic", 1, 2));
  await page.keyboard.press("Enter");
  const inspector = page.getByRole("complementary", { name: strings.inspector.label });
  await expect(inspector).toContainText(text.inspector.thought("critic", 1, 2));
  await expect(inspector).toContainText("You are the critic.");
  const row = part(page, text.lens.title).locator("tr[data-selected='true']");
  await expect(row).toContainText("critic 1.2");
  await expect(page.getByRole("combobox", { name: text.space.label })).toHaveValue(/relay-m/);
  await expect(page.getByRole("img", { name: new RegExp(`^${text.map.title}`) })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(inspector).toBeHidden();

  // Back through the run: at its start nobody has thought yet.
  await tabTo(page, position(page));
  await page.keyboard.press("Home");
  await expect(laps.getByRole("button", { name: /^Thought/ })).toHaveCount(0);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await expect(laps.getByRole("button", { name: /^Thought/ })).toHaveCount(1);
  await page.keyboard.press("End");
  await expect(laps.getByRole("button", { name: /^Thought/ })).toHaveCount(24);
});

test("text and latents are compared, a run is saved and opened again", async ({ page }) => {
  await open(page, "?rounds=2");
  await expectReady(page);
  await page.getByRole("button", { name: text.run.compare }).click();
  const meter = part(page, text.meter.title);
  await expect(meter.getByRole("row", { name: new RegExp(text.meter.tokens) })).toBeVisible({ timeout: RUN_MS });
  const cells = await meter
    .getByRole("row", { name: new RegExp(text.meter.latentSteps) })
    .getByRole("cell")
    .allInnerTexts();
  // Two rounds of three agents, four thoughts each, but for the answer; words need none.
  expect(cells.map((cell) => cell.trim())).toEqual(["20", "0"]);

  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: text.runs.save }).click();
  const path = await (await download).path();
  const trace = JSON.parse(await readFile(path, "utf8")) as { events: { type: string }[] };
  expect(trace.events[0]?.type).toBe("recursionStarted");
  const chooser = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: text.runs.open }).click();
  await (await chooser).setFiles(path);
  await expect(page.getByText(text.status.file, { exact: true })).toBeVisible();
  await expect(part(page, text.laps.title)).toBeVisible();
});

test("links are taken away one by one, and a chain of one's own is asked", async ({ page }) => {
  await open(page, "?chain=Ada.loves.Bela&holders=2&rounds=1&outer=zero&inner=identity");
  await expectReady(page);
  const ring = part(page, text.ring.title);
  await expect(ring).toContainText("Ada");
  await expect(ring.getByRole("region", { name: text.ring.facts("solver") })).toContainText("Ada loves Bela");
  await runButton(page).click();
  await expectAnswered(page);
  // The solver holds the fact itself, so that it needs no message.
  await expect(part(page, text.laps.title)).toContainText("Bela right");

  await page.getByRole("combobox", { name: text.question.object(1) }).selectOption("Cato");
  await expect(page).toHaveURL(/chain=Ada\.loves\.Cato/);
  await page.getByRole("combobox", { name: text.question.verb(1) }).selectOption("pays");
  await expect(ring).toContainText("Ada loves Bela");
  await expect(page.getByText(text.status.changed)).toBeVisible();
});

test("a run is stopped in the middle, and files that are none are refused by name", async ({ page }) => {
  await open(page, "?rounds=6&steps=16");
  await expectReady(page);
  await runButton(page).click();
  await expect(
    part(page, text.laps.title)
      .getByRole("button", { name: /^Thought/ })
      .first(),
  ).toBeVisible({
    timeout: RUN_MS,
  });
  await page.keyboard.press("Escape");
  await expect(page.getByText(text.status.stopped, { exact: true }).first()).toBeVisible({ timeout: RUN_MS });

  const traces = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: text.runs.open }).click();
  await (await traces).setFiles({ name: "x.json", mimeType: "application/json", buffer: Buffer.from('{"format": 1}') });
  await expect(page.getByRole("alert").filter({ hasText: text.runs.openFailed })).toContainText("format");
  const links = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: text.links.open }).click();
  await (await links).setFiles({ name: "x.safetensors", mimeType: "", buffer: Buffer.from("no such thing") });
  await expect(page.getByRole("alert").filter({ hasText: strings.error.problems.linksInvalid.what })).toBeVisible();
});

for (const colorScheme of ["light", "dark"] as const) {
  test(`axe finds nothing serious: ${colorScheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await open(page, "?rounds=1&temperature=0.5");
    await expectReady(page);
    await runButton(page).click();
    await expectAnswered(page);
    expect(await findings(page)).toEqual([]);
    await thought(page, "planner", 1, 1).click();
    for (const summary of await page.getByText(strings.table.show).all()) await summary.click();
    expect(await findings(page)).toEqual([]);
  });
}

test("on a phone the room is one column", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await open(page);
  await expect(part(page, text.laps.title)).toBeVisible();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  expect(await findings(page)).toEqual([]);
});
