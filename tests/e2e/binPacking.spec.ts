/** The bin-packing room: by keyboard alone, from a link, by hand, over many seeds, for everyone. */
import { readFile } from "node:fs/promises";
import { AxeBuilder } from "@axe-core/playwright";
import { expect, type Locator, type Page } from "@playwright/test";
import { strings } from "../../app/strings";
import { askButton, expectGoldAnswer, expectReady, test } from "./room";

const text = strings.binPacking;

async function open(page: Page, search = ""): Promise<void> {
  await page.goto(`#/bin-packing${search}`);
  await expect(row(page, "One per call").or(row(page, "Next Fit")).first()).toBeVisible({ timeout: 60_000 });
}

const part = (page: Page, name: string) => page.getByRole("region", { name, exact: true });
const picture = (page: Page) => part(page, text.picture.title);
/** The row of an algorithm by its name. */
const row = (page: Page, name: string) =>
  picture(page)
    .getByRole("listitem")
    .filter({ has: page.getByRole("heading", { name: new RegExp(`^${name}( [A-Z]+)?$`) }) });
const position = (page: Page) => page.getByRole("slider", { name: strings.transport.position });
const capacity = (page: Page) => page.getByRole("slider", { name: text.panel.capacity });
const hash = (page: Page) => page.evaluate(() => decodeURIComponent(location.hash));
const tray = (page: Page) => page.locator("[data-drop='tray']");
const column = (page: Page, bin: number) => page.locator(`li[data-drop='${bin - 1}']`);
const block = (page: Page, number: number) => page.locator(`[data-item='${number - 1}']`);

async function tabTo(page: Page, target: Locator): Promise<void> {
  for (let presses = 0; presses < 120; presses++) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  await expect(target).toBeFocused();
}

async function findings(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => `${id}: ${target}: ${failureSummary}`));
}

test("the room is walked by keyboard alone: steps, seeds, a document followed, a packing by hand, a study", async ({
  page,
}) => {
  await open(page);
  await expect(row(page, "First Fit Decreasing")).toContainText("6 bins");
  await expect(row(page, "One per call")).toContainText("14 bins");
  await page.keyboard.press("Tab");
  await expect(page.getByRole("button", { name: strings.skipToRun })).toBeFocused();
  await page.keyboard.press("Enter");

  await page.keyboard.press("Home");
  await expect(row(page, "First Fit Decreasing")).toContainText("0 bins");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await expect(row(page, "First Fit Decreasing")).toContainText("Bin 1: does 345 fit in 512 − 353? No, 186 too many.");
  await expect(row(page, "First Fit")).toContainText("Bin 1: does 82 fit in 512 − 288? Yes, 142 to spare.");
  await expect(page.getByRole("status").filter({ hasText: "does 345 fit" })).toHaveCount(1);
  await page.keyboard.press("Shift+ArrowRight");
  await expect(row(page, "First Fit Decreasing")).toContainText("No room: document 7 (345) opens bin 2.");
  await expect.poll(() => hash(page)).toContain("step=3");
  await page.keyboard.press("Space");
  await expect(page.getByRole("button", { name: strings.transport.pause })).toBeVisible();
  await expect.poll(async () => Number(await position(page).inputValue())).toBeGreaterThan(4);
  await page.keyboard.press("Space");
  await expect(page.getByRole("button", { name: strings.transport.play })).toBeVisible();
  await page.keyboard.press("End");
  await expect.poll(() => hash(page)).not.toContain("step=");

  // A document is followed through all packings.
  const first = picture(page).getByRole("button", { name: text.picture.document(1, "288") });
  await tabTo(page, first);
  await page.keyboard.press("ArrowRight");
  await expect(picture(page)).toContainText(text.picture.where(2, "82"));
  await expect(picture(page)).toContainText("One bin 2");
  await page.keyboard.press("Escape");
  await expect(picture(page)).toContainText(text.picture.pick);

  // By hand: two into one bin, then one that does not fit, then undone.
  await tabTo(page, block(page, 1));
  await page.keyboard.press("Enter");
  await expect(column(page, 1).locator("[data-target]")).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(column(page, 1)).toContainText("224 free");
  await expect(block(page, 2)).toBeFocused();
  for (let presses = 0; presses < 4; presses++) await page.keyboard.press("ArrowRight");
  await expect(block(page, 6)).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(column(page, 2).locator("[data-target]")).toBeFocused();
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("Enter");
  await expect(part(page, text.hand.title)).toContainText("Bin 1: does 353 fit in 512 − 288? No, 129 too many.");
  await page.keyboard.press("Escape");
  await expect(block(page, 6)).toBeFocused();
  await expect.poll(() => hash(page)).toContain("hand=0");
  await page.keyboard.press("Control+z");
  await expect(tray(page).locator("[data-item]")).toHaveCount(14);

  // The study, and its worst seed.
  await tabTo(page, page.getByRole("button", { name: text.study.run }));
  await page.keyboard.press("Enter");
  await expect(part(page, text.study.title)).toContainText(text.study.progress("1,000", "1,000"), { timeout: 60_000 });
  await expect(part(page, text.study.title)).toContainText("90% at the bound");
  const worst = part(page, text.study.title)
    .getByRole("button", { name: /^\+1: Open seed/ })
    .first();
  await tabTo(page, worst);
  await page.keyboard.press("Enter");
  await expect.poll(() => hash(page)).toContain("seed=");
  // One more than L2, which no packing reaches here: the search proves it.
  await expect(row(page, "First Fit Decreasing")).toContainText("7 bins");
  await expect(part(page, text.bounds.title)).toContainText(`${text.bounds.strong}6`);
  const seed = await hash(page);
  await page.keyboard.press("Tab");
  await page.evaluate(() => (document.activeElement as HTMLElement).blur());
  await page.keyboard.press("n");
  await expect.poll(() => hash(page)).not.toBe(seed);
  await page.keyboard.press("r");
  await expect.poll(() => hash(page)).toContain("step=0");
  await page.keyboard.press("1");
  await expect.poll(() => hash(page)).toContain("#/dual-system");
  await page.keyboard.press("2");
  await expect.poll(() => hash(page)).toContain("#/bin-packing");
});

test("a link reopens documents, bins, algorithms, step and the packing by hand", async ({ page }) => {
  await open(page, "?preset=nf&seed=5&capacity=300&algorithms=ffd.nf&step=12&hand=01------------------");
  await expect(picture(page).getByRole("listitem")).toHaveCount(2);
  await expect(position(page)).toHaveValue("12");
  await expect(capacity(page)).toHaveAttribute("aria-valuenow", "300");
  await expect(tray(page).locator("[data-item]")).toHaveCount(18);
  // Blocks are labelled once the width of the picture is known.
  await expect(picture(page)).toContainText("256✗");
  const before = await picture(page).textContent();
  await page.reload();
  await expect(position(page)).toHaveValue("12");
  await expect.poll(() => picture(page).textContent()).toBe(before);
  // Another link in the same tab.
  await page.goto("#/bin-packing?preset=ffd");
  await expect(row(page, "First Fit Decreasing")).toContainText("2 more than needed");
  await expect(position(page)).toHaveValue(await position(page).evaluate((input: HTMLInputElement) => input.max));
});

test("all is packed anew while the capacity moves, and what is too long is cut in sight", async ({ page }) => {
  await open(page);
  await capacity(page).focus();
  for (let presses = 0; presses < 60; presses++) await page.keyboard.press("ArrowLeft");
  await expect.poll(() => hash(page)).toContain("capacity=272");
  await expect(page.getByText(/^\d+ documents longer than a bin: cut to fit/)).toBeVisible();
  await expect(picture(page).locator("[data-cut]").first()).toBeVisible();
  await expect(row(page, "First Fit Decreasing")).not.toContainText("6 bins");
  await page.getByRole("button", { name: text.panel.capacityOwn("512") }).click();
  await expect(row(page, "First Fit Decreasing")).toContainText("6 bins");
  await expect.poll(() => hash(page)).not.toContain("capacity");
});

test("an own list is packed, and a bad one refused by name", async ({ page }) => {
  await open(page);
  await page.getByRole("button", { name: text.panel.own.name }).click();
  await expect(page.getByText(text.status.noList)).toBeVisible();
  const field = page.getByRole("textbox", { name: text.panel.ownLabel });
  await field.fill("300, two, 40");
  await page.getByRole("button", { name: text.panel.ownUse }).click();
  await expect(page.getByText(text.panel.ownProblems.word("two"))).toBeVisible();
  await field.fill("300 300 200\n200; 12 12");
  await page.getByRole("button", { name: text.panel.ownUse }).click();
  await expect(row(page, "First Fit Decreasing")).toContainText("2 bins");
  await expect(row(page, "First Fit")).toContainText("2 bins");
  await expect.poll(() => hash(page)).toContain("items=300-300-200-200-12-12");
});

test("documents are dragged into bins, and beat FFD in its trap", async ({ page }) => {
  await open(page, "?preset=own&items=200-150-150-120-100-300&capacity=512");
  await block(page, 1).scrollIntoViewIfNeeded();
  const centre = async (of: Locator) => {
    const box = (await of.boundingBox())!;
    return [box.x + box.width / 2, box.y + Math.min(40, box.height / 2)] as const;
  };
  const drag = async (number: number, to: Locator) => {
    await page.mouse.move(...(await centre(block(page, number))));
    await page.mouse.down();
    await page.mouse.move(...(await centre(to)), { steps: 6 });
    await page.mouse.up();
  };
  await drag(1, column(page, 1));
  await drag(6, column(page, 1));
  await expect(column(page, 1)).toContainText("12 free");
  // Too much: it stays where it was.
  await drag(4, column(page, 1));
  await expect(part(page, text.hand.title)).toContainText("108 too many");
  await expect(tray(page).locator("[data-item]")).toHaveCount(4);
  await drag(2, column(page, 2));
  await drag(2, tray(page));
  await expect(tray(page).locator("[data-item]")).toHaveCount(4);
  for (const number of [2, 3, 4]) await drag(number, column(page, 2));
  await drag(5, column(page, 3));
  await expect(part(page, text.hand.title)).toContainText(text.hand.count("3 bins"));

  await page.goto("#/bin-packing?preset=ffd");
  await expect(row(page, "First Fit Decreasing")).toContainText("11 bins");
  await page.getByRole("button", { name: text.hand.best }).click();
  const board = part(page, text.hand.title);
  await expect(board).toContainText(text.hand.count("9 bins"));
  await expect(board).toContainText(text.hand.beats("FFD", 11));
  await expect(board).toContainText(text.hand.optimal);
  await expect(part(page, text.figures.title)).toContainText(text.figures.byHand);
});

test("a study can be cancelled and belongs to its settings", async ({ page }) => {
  await open(page, "?count=120");
  const study = part(page, text.study.title);
  await study.getByRole("button", { name: text.study.run }).click();
  await expect(study.getByRole("progressbar")).toBeVisible();
  await study.getByRole("button", { name: text.study.cancel }).click();
  await expect(study).toContainText(/Stopped after \d+ seeds/);
  await page.keyboard.press("n");
  // Another draw of the same kind is the same study.
  await expect(study).toContainText(/Stopped after \d+ seeds/);
  await capacity(page).focus();
  await page.keyboard.press("ArrowRight");
  await expect(study).toContainText(text.study.empty);
});

test("everything can be saved: table, picture, JSON", async ({ page }) => {
  await open(page, "?preset=ff");
  const save = async (item: string) => {
    await page.getByRole("button", { name: strings.export.label(text.picture.title) }).click();
    const download = page.waitForEvent("download");
    await page.getByRole("menuitem", { name: item }).click();
    return readFile((await (await download).path())!, "utf8");
  };
  const csv = await save(strings.export.csv);
  expect(csv.split("\r\n")[0]).toBe("Document,Tokens,FFD,FF,BF,NF,One");
  expect(csv.trim().split("\r\n")).toHaveLength(19);
  const json = JSON.parse(await save(strings.export.json));
  expect(json.fewest).toEqual({ bins: 6, proven: true });
  expect(json.packings.map(({ bins }: { bins: unknown[] }) => bins.length)).toEqual([6, 10, 10, 10, 18]);
  const svg = await save(strings.export.svg);
  expect(svg).toContain("First Fit Decreasing: 6 bins, at least 6 needed");
  expect(svg.match(/<svg/g)!.length).toBe(6);
});

test("articles of the encyclopedia come with their real lengths and titles", async ({ page }) => {
  await open(page, "?preset=articles&count=5");
  await expect(capacity(page)).toHaveAttribute("aria-valuenow", "95");
  await picture(page).getByText(strings.table.show).click();
  await expect(picture(page).getByRole("rowheader").first()).toHaveText(/^1 \p{L}/u);
  await expect(part(page, text.system1.title)).toContainText("49 tokens");
});

test("what the last run packed is packed here", async ({ page }) => {
  // Before the other room was seen; afterwards its recorded run is there to be packed.
  await open(page);
  await expect(page.getByText(text.panel.noRun)).toBeVisible();
  await page.getByRole("link", { name: strings.rooms.dualSystem.title, exact: true }).click();
  await expectReady(page);
  await askButton(page).click();
  await expectGoldAnswer(page);
  await page.getByRole("link", { name: strings.rooms.binPacking.title, exact: true }).click();
  await page.getByRole("button", { name: text.panel.run.name }).click();
  await expect.poll(() => hash(page)).toMatch(/preset=run.*|items=\d+-\d+/);
  await picture(page).getByText(strings.table.show).click();
  await expect(picture(page).getByRole("rowheader").first()).toHaveText(/^1 \p{L}/u);
});

for (const colorScheme of ["light", "dark"] as const) {
  test(`axe finds nothing serious: ${colorScheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await open(page, "?longest=700&step=40&capacity=300&hand=0-----1-------");
    expect(await findings(page)).toEqual([]);
    await page.getByRole("button", { name: text.study.run }).click();
    await expect(part(page, text.study.title)).toContainText(text.study.progress("1,000", "1,000"), {
      timeout: 60_000,
    });
    await block(page, 3).click();
    await picture(page).getByText(strings.table.show).click();
    expect(await findings(page)).toEqual([]);
    await page.goto("#/bin-packing?preset=own&items=5-x");
    await expect(page.getByText(text.status.noList)).toBeVisible();
    expect(await findings(page)).toEqual([]);
  });
}

test("on a phone all fits the width, also with many documents, and nothing moves under reduced motion", async ({
  page,
}) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.emulateMedia({ reducedMotion: "reduce" });
  for (const search of ["", "?preset=ffd&step=30", "?count=120&longest=700"]) {
    await open(page, search);
    await page.getByRole("button", { name: text.study.run }).click();
    await expect(part(page, text.study.title)).toContainText(" of 1,000 seeds");
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    await page.goto("about:blank");
  }
  await open(page);
  const duration = await picture(page)
    .locator("g[data-pointed]")
    .first()
    .evaluate((element) => getComputedStyle(element).transitionDuration);
  expect(duration).toBe("0s, 0s");
  expect(await findings(page)).toEqual([]);
});
