/**
 * The frame of all rooms: the recorded run before anything is loaded, links that reopen what they were copied from, the
 * tour and the keys, files out and in, and every room for everyone: axe, phones, inside another page.
 */
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { type Download, expect, type Page } from "@playwright/test";
import { FIRST_PICTURE } from "../../app/components/firstPicture";
import { strings } from "../../app/strings";
import { findings, openRoom, picture, tabTo, test } from "./room";

const LONG = { timeout: 60_000 };

/** The recorded run without System 1: what it was asked, and how it failed. */
const ALONE = JSON.parse(readFileSync("public/traces/dual-system-alone.json", "utf8")) as {
  events: { type: string; question: string; gold: string[]; reason: keyof typeof runText.reasons; text: string }[];
};
const eventOf = (type: string) => ALONE.events.find((event) => event.type === type);
const { run: runText, open: openText, settings: settingsText } = strings.dualSystem;

/** The words for how System 2 alone ends: with a wrong answer, or with none. */
function endAlone(): string {
  const reason = eventOf("runFinished")!.reason;
  return reason === "answer" ? runText.wrong(eventOf("runStarted")!.gold[0]!) : runText.reasons[reason];
}

/** Every room with settings, a seed and a step of its own; `shows` is what they do to the room. */
const ROOMS: readonly { title: string; path: string; search: string; shows: (page: Page) => Promise<void> }[] = [
  {
    title: strings.rooms.dualSystem.title,
    path: "dual-system",
    search: "?system1=false&step=5",
    shows: async (page) => {
      await expect(transport(page)).toContainText("5 /", LONG);
      await expect(page.getByRole("switch", { name: settingsText.system1.label })).not.toBeChecked();
    },
  },
  {
    title: strings.rooms.binPacking.title,
    path: "bin-packing",
    search: "?seed=5&count=9&step=7",
    shows: (page) => expect(transport(page)).toContainText("7 /", LONG),
  },
  {
    title: strings.rooms.latentRecursion.title,
    path: "latent-recursion",
    search: "?seed=12&hops=2&rounds=2",
    shows: async (page) => {
      await expect(page.getByRole("textbox", { name: strings.latentRecursion.question.seed })).toHaveValue("12", LONG);
    },
  },
  {
    title: strings.rooms.linkTraining.title,
    path: "link-training",
    search: "?stage=outer&saveEvery=40",
    shows: (page) => expect(page.getByRole("textbox", { name: /Save/ }).first()).toHaveValue("40", LONG),
  },
  {
    title: strings.rooms.models.title,
    path: "models",
    search: "",
    shows: (page) => expect(page.locator("main")).toContainText(/\w/, LONG),
  },
];

const transport = (page: Page) => page.getByRole("region", { name: strings.transport.label });
const heading = (page: Page, title: string) => page.getByRole("heading", { level: 1, name: title });
const tourPanel = (page: Page) => page.getByRole("region", { name: strings.tour.label });
const chapter = (page: Page, number: number) =>
  tourPanel(page).getByRole("heading", { name: strings.tour.chapters[number - 1]!.title });

async function textOf(download: Promise<Download>): Promise<string> {
  return readFile(await (await download).path(), "utf8");
}

test("a recorded run is drawn before any weight has arrived, and says so", async ({ page, context }) => {
  await context.route("**/*.safetensors", () => {});
  await page.goto("");
  await expect(picture(page).getByText(runText.correct)).toBeVisible(LONG);
  await expect(page.getByText(runText.origin.recorded, { exact: true })).toBeVisible();
  await expect(page.getByRole("button", { name: runText.runLive })).toBeEnabled(LONG);
  const mark = await page.evaluate((name) => performance.getEntriesByName(name)[0]?.startTime, FIRST_PICTURE);
  expect(mark).toBeGreaterThan(0);
  console.log(`first picture after ${Math.round(mark!)} ms`);
  // Run, room and font were asked for by the document itself, before the page's code was there; none of them twice.
  const asked = await page.evaluate(() => {
    const entries = performance.getEntriesByType("resource") as PerformanceResourceTiming[];
    const code = entries.find(({ name }) => /\/index-[^/]*\.js/.test(name))!;
    return entries
      .filter(({ name }) => /dual-system\.json|DualSystemRoom|inter-latin-wght/.test(name))
      .map(({ startTime }) => startTime < code.responseEnd);
  });
  expect(asked).toEqual([true, true, true]);
  // Another question is another run.
  await page.goto("#/dual-system?item=3");
  await expect(page.getByText(runText.origin.recorded, { exact: true })).toBeHidden();
  await expect(page.getByText(strings.dualSystem.empty.title)).toBeVisible();
});

test("a pasted link reopens room, settings, seed and step", async ({ browser, baseURL }) => {
  for (const { title, path, search, shows } of ROOMS) {
    // A visitor who was never here: nothing comes from memory.
    const context = await browser.newContext({ baseURL: baseURL!, storageState: { cookies: [], origins: [] } });
    const page = await context.newPage();
    await page.goto(`#/${path}${search}`);
    await expect(heading(page, title)).toBeVisible(LONG);
    await shows(page);
    expect(new URL(page.url()).hash).toBe(`#/${path}${search}`);
    await page.reload();
    await expect(heading(page, title)).toBeVisible(LONG);
    await shows(page);
    await context.close();
  }
});

test("the tour is walked by keyboard, each chapter in the address, and leaving keeps the room", async ({ page }) => {
  await page.emulateMedia({ reducedMotion: "reduce" });
  await page.goto("#/dual-system?depth=learn");
  await expect(picture(page)).toBeVisible(LONG);
  await page.keyboard.press("t");
  const steps: number[] = [];
  for (let number = 1; number < strings.tour.chapters.length; number++) {
    await expect(chapter(page, number)).toBeVisible();
    await expect(chapter(page, number)).toBeFocused();
    await expect(page).toHaveURL(new RegExp(`tour=${number}(&|$)`));
    steps.push(Number(/step=(\d+)/.exec(page.url())?.[1] ?? Number.POSITIVE_INFINITY));
    await page.keyboard.press("ArrowRight");
  }
  expect(steps).toEqual([...steps].sort((a, b) => a - b));
  await expect(chapter(page, strings.tour.chapters.length)).toBeVisible();
  await expect(page.getByRole("region", { name: strings.tour.duel.alone })).toContainText(endAlone());
  await expect(page.getByRole("region", { name: strings.tour.duel.both })).toContainText(runText.correct);
  for (let back = 0; back < 4; back++) await page.keyboard.press("ArrowLeft");
  await expect(chapter(page, 4)).toBeVisible();
  await expect(page).toHaveURL(/step=\d+/);
  const step = /step=\d+/.exec(page.url())![0];
  await page.keyboard.press("Escape");
  await expect(tourPanel(page)).toBeHidden();
  expect(page.url()).toContain(step);
  expect(page.url()).not.toContain("tour=");
});

test("one key shows why two systems beat one", async ({ page }) => {
  await page.goto("#/dual-system?depth=learn");
  await expect(picture(page)).toBeVisible(LONG);
  await page.keyboard.press("w");
  await expect(page.getByRole("region", { name: strings.tour.duel.alone })).toContainText(endAlone(), LONG);
  await expect(page.getByRole("region", { name: strings.tour.duel.both })).toContainText(runText.correct);
});

test("the sheet lists the keys of the room, and the keys do what it says", async ({ page }) => {
  await page.goto("#/dual-system?depth=lab");
  await expect(picture(page)).toBeVisible(LONG);
  await page.keyboard.press("?");
  const sheet = page.getByRole("dialog", { name: strings.keys.title });
  for (const action of ["room", "depth", "tour", "why", "fresh", "play", "markForward", "end"] as const) {
    await expect(sheet).toContainText(strings.keys.actions[action]);
  }
  await expect(sheet).not.toContainText(strings.keys.actions.trainStep);
  // Keys belong to the sheet while it is open.
  await page.keyboard.press("2");
  await expect(page).toHaveURL(/dual-system/);
  await page.keyboard.press("Escape");
  await expect(sheet).toBeHidden();

  await page.keyboard.press("Home");
  await expect(transport(page)).toContainText("0 /");
  await page.keyboard.press("ArrowRight");
  await expect(transport(page)).toContainText("1 /");
  await page.keyboard.press("Shift+ArrowRight");
  await expect(transport(page)).not.toContainText(/\b[012] \//);
  await page.keyboard.press("End");
  await expect(transport(page)).toContainText(/(\d+) \/ \1/);
  await page.keyboard.press("l");
  await expect(page).toHaveURL(/depth=learn/);
  await expect(page.getByRole("button", { name: strings.settings.title })).toBeHidden();
  for (const [i, { title }] of ROOMS.entries()) {
    await page.keyboard.press(String(i + 1));
    await expect(heading(page, title)).toBeVisible(LONG);
    await expect(page).toHaveURL(/depth=learn/);
  }
});

test("changes of settings are taken back and put on again, in each room by itself, and fields keep their own", async ({
  page,
}) => {
  const note = page.getByText(/^(Taken back|Put on again)/);
  await page.goto("#/dual-system?depth=lab&turns=4");
  await expect(picture(page).or(page.getByText(strings.dualSystem.empty.title))).toBeVisible(LONG);
  const system1 = page.getByRole("switch", { name: settingsText.system1.label });
  await system1.focus();
  await page.keyboard.press(" ");
  await expect(page).toHaveURL(/system1=false/);
  // In another room, the other room's settings.
  await page.keyboard.press("2");
  await expect(heading(page, strings.rooms.binPacking.title)).toBeVisible(LONG);
  await page.keyboard.press("n");
  await expect(page).toHaveURL(/bin-packing.*seed=/);
  const drawn = page.url();
  await page.keyboard.press("Control+z");
  await expect(page).not.toHaveURL(/seed=/);
  await expect(note).toHaveText(strings.settings.undone("seed"));
  await page.keyboard.press("Control+Shift+z");
  await expect(page).toHaveURL(drawn);
  await expect(note).toHaveText(strings.settings.redone("seed"));

  await page.keyboard.press("1");
  await expect(page).toHaveURL(/system1=false/);
  const question = page.getByRole("textbox", { name: strings.dualSystem.ask.question, exact: true });
  await question.fill("Who?");
  await expect(page).toHaveURL(/q=Who/);
  // What a field takes back is its own text; the room's settings stay.
  await question.press("Control+z");
  await expect(page).toHaveURL(/system1=false/);
  await expect(note).toBeHidden(LONG);
  await question.blur();
  await page.keyboard.press("?");
  const sheet = page.getByRole("dialog", { name: strings.keys.title });
  await expect(sheet).toContainText(strings.keys.actions.undoSettings);
  await page.keyboard.press("Escape");
  await expect(sheet).toBeHidden();
  for (let presses = 0; presses < 4; presses++) await page.keyboard.press("Control+z");
  await expect(page).toHaveURL(/turns=4/);
  await expect(page).not.toHaveURL(/system1=|q=/);
  await expect(system1).toBeChecked();
  await page.keyboard.press("Control+y");
  await expect(page).toHaveURL(/system1=false/);
});

test("Learn and Lab are remembered", async ({ page }) => {
  await openRoom(page, "?depth=learn");
  await expect(page.getByRole("button", { name: strings.settings.title })).toBeHidden();
  await page.getByText(strings.depth.names.lab, { exact: true }).click();
  await expect(page.getByRole("button", { name: strings.settings.title })).toBeVisible();
  await page.goto("about:blank");
  await page.goto("#/dual-system");
  await expect(page.getByRole("button", { name: strings.settings.title })).toBeVisible(LONG);
});

test("Learn leaves to Lab what a class does not need, keeps what a link changed, and says so", async ({ page }) => {
  const { binPacking: packing, latentRecursion: recursion, linkTraining: training } = strings;
  const region = (name: string) => page.getByRole("region", { name, exact: true });
  await page.goto("#/bin-packing?depth=learn&longest=300");
  await expect(region(packing.figures.title)).toBeVisible(LONG);
  await expect(region(packing.bounds.title)).toBeHidden();
  await expect(page.getByRole("checkbox")).toHaveCount(0);
  await expect(page.getByRole("textbox", { name: packing.panel.longest })).toHaveValue("300");
  await page.getByRole("button", { name: strings.depth.toLab }).click();
  await expect(page).toHaveURL(/depth=lab/);
  await expect(region(packing.bounds.title)).toBeVisible();
  await expect(page.getByRole("checkbox").first()).toBeVisible();

  await page.goto("#/latent-recursion?depth=learn");
  await expect(region(recursion.map.title)).toBeVisible(LONG);
  await expect(region(recursion.lens.title)).toBeHidden();
  await expect(page.getByRole("textbox", { name: recursion.run.steps })).toHaveCount(0);
  await page.goto("#/latent-recursion?depth=learn&steps=6&inner=zero");
  await expect(page.getByRole("textbox", { name: recursion.run.steps })).toHaveValue("6", LONG);
  await expect(page.getByRole("combobox", { name: recursion.links.inner })).toHaveValue("zero");

  await page.goto('#/link-training?depth=learn&inner={"seed":9}');
  await expect(page.getByRole("textbox", { name: training.settings.seed.label })).toHaveValue("9", LONG);
  await expect(page.getByRole("textbox", { name: training.settings.batch.label })).toHaveCount(0);
});

test("a run is saved in every form, opened again, and a bad file is refused by its field", async ({ page }) => {
  await page.goto("#/dual-system?system1=false&depth=lab");
  await expect(picture(page)).toBeVisible(LONG);
  const save = async (item: string) => {
    await page.getByRole("button", { name: runText.download }).click();
    const download = page.waitForEvent("download");
    await page.getByRole("menuitem", { name: item }).click();
    return download;
  };
  const json = await textOf(save(strings.export.json));
  const { search, events } = JSON.parse(json) as { search: object; events: object[] };
  expect(search).toMatchObject({ system1: false });
  expect(await textOf(save(strings.export.csv))).toContain(strings.dualSystem.table.head.join(",").slice(0, 40));
  const svg = await textOf(save(strings.export.svg));
  expect(svg).toMatch(/^<svg [\s\S]*<\/svg>$/);
  expect(svg).toContain(eventOf("runStarted")!.question);
  const png = await readFile(await (await save(strings.export.png)).path());
  expect(png.subarray(1, 4).toString()).toBe("PNG");
  expect(png.length).toBeGreaterThan(20_000);

  await page.goto("#/dual-system?item=3&depth=lab");
  await expect(page.getByText(strings.dualSystem.empty.title)).toBeVisible(LONG);
  const choose = async (name: string, text: string) => {
    const chooser = page.waitForEvent("filechooser");
    await page.getByRole("button", { name: openText.button }).click();
    await (await chooser).setFiles({ name, mimeType: "application/json", buffer: Buffer.from(text) });
  };
  await choose("bad.json", json.replace(/"promptTokens":\d+/, '"promptTokens":"many"'));
  await expect(page.getByRole("alert").filter({ hasText: openText.failed })).toContainText(
    /bad\.json: events\.\d+\.promptTokens/,
  );
  await choose("run.json", json);
  await expect(page.getByText(runText.origin.file, { exact: true })).toBeVisible();
  await expect(picture(page)).toContainText(runText.system1Off);
  await expect(page).toHaveURL(/item=6/);
  await expect(page).toHaveURL(/system1=false/);
  // What was opened is saved as it was.
  expect(JSON.parse(await textOf(save(strings.export.json)))).toMatchObject({ search, events });
});

test("inside another page the results stay and the way out is there", async ({ page }) => {
  await page.goto("#/dual-system?embed=1");
  await expect(picture(page)).toBeVisible(LONG);
  await expect(page.getByRole("navigation", { name: strings.rooms.label })).toBeHidden();
  await expect(page.getByRole("region", { name: strings.dualSystem.ask.label })).toBeHidden();
  await expect(page.getByRole("region", { name: strings.dualSystem.ledger.label })).toBeVisible();
  await expect(page.getByRole("link", { name: strings.embed.open })).toHaveAttribute("href", "#/dual-system");
  await page.goto("#/dual-system?embed=1&tour=2");
  await expect(chapter(page, 2)).toBeVisible(LONG);
  // What the embedding page names is left out beside that, in every room.
  await page.goto("#/bin-packing?step=7&embed=1&hide=playback,export,nonsense");
  await expect(page.getByRole("region", { name: strings.binPacking.picture.title })).toBeVisible(LONG);
  await expect(transport(page)).toBeHidden();
  await expect(page.getByRole("button", { name: /^Save: / })).toHaveCount(0);
  await expect(page.getByRole("link", { name: strings.embed.open })).toHaveAttribute("href", "#/bin-packing?step=7");
  await page.goto("#/latent-recursion?hide=header,rooms");
  await expect(heading(page, strings.rooms.latentRecursion.title)).toBeVisible(LONG);
  await expect(page.getByRole("banner")).toHaveCount(0);
  await expect(page.getByRole("navigation", { name: strings.rooms.label })).toHaveCount(0);
  await expect(page.getByRole("button", { name: strings.latentRecursion.run.start, exact: true })).toBeVisible();
});

for (const colorScheme of ["light", "dark"] as const) {
  test(`axe finds nothing serious in any room: ${colorScheme}`, async ({ page, context }) => {
    test.setTimeout(400_000);
    await context.route("**/*.safetensors", () => {});
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    for (const { title, path } of ROOMS) {
      await page.goto(`#/${path}?depth=lab`);
      await expect(heading(page, title)).toBeVisible(LONG);
      await expect(page.locator("main")).toContainText(/\w/, LONG);
      expect(await findings(page), title).toEqual([]);
    }
    for (const number of [1, strings.tour.chapters.length]) {
      await page.goto(`#/dual-system?depth=learn&tour=${number}`);
      await expect(chapter(page, number)).toBeVisible(LONG);
      expect(await findings(page), `chapter ${number}`).toEqual([]);
    }
    await page.keyboard.press("?");
    await expect(page.getByRole("dialog", { name: strings.keys.title })).toBeVisible();
    expect(await findings(page), "sheet of keys").toEqual([]);
  });
}

test("no room is wider than a phone, and the way through it is there", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  for (const search of ["?depth=learn", "?depth=lab"]) {
    for (const { title, path } of ROOMS) {
      await page.goto(`#/${path}${search}`);
      await expect(heading(page, title)).toBeVisible(LONG);
      await expect(page.locator("main")).toContainText(/\w/, LONG);
      await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth), title).toBe(390);
    }
  }
  await page.goto("#/dual-system?tour=8");
  await expect(chapter(page, 8)).toBeVisible(LONG);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  await tabTo(page, tourPanel(page).getByRole("button", { name: strings.tour.back, exact: true }));
});
