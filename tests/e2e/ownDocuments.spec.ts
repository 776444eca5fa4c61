/** A visitor's own documents in the browser: dropped, chosen, read, asked about, and shown in their place. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, type Page } from "@playwright/test";
import { strings } from "../../app/strings";
import { makeWorld } from "../../src/world/world";
import { ANSWER_MS, askButton, expectReady, findings, picture, questionField, test } from "./room";

test.setTimeout(600_000);

const text = strings.dualSystem;

/** Invented documents in the words that the agents were trained on, whatever these are today. */
const world = makeWorld(424_242);
const oneHop = world.questions.filter(({ kind, hops }) => kind === "lookup" && hops === 1).slice(0, 4);
const needed = new Set(oneHop.flatMap(({ goldDocuments }) => goldDocuments));
const articles = world.documents.filter(({ id }, i) => needed.has(id) || i % 12 === 0);

let folder: string;
test.beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), "twinloop-")), "archive");
});
test.afterEach(() => rmSync(dirname(folder), { recursive: true, force: true }));

function write(name: string, content: string | Uint8Array): void {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

/** The articles as files of several formats in a folder with folders, a picture, an empty file and a hidden one. */
function writeFolder(): void {
  for (const [i, { title, text: body }] of articles.entries()) {
    if (i % 3 === 0) write(`notes/${title}.md`, `# ${title}\n\n${body}\n`);
    else if (i % 3 === 1) write(`plain/${title}.txt`, `${body}\n`);
    else write(`pages/${title}.html`, `<title>${title}</title><nav>Home</nav><p>${body}</p>`);
  }
  write("photo.png", Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 1, 2, 3));
  write("empty.txt", "");
  write(".hidden/secret.txt", "Nobody should read this.");
}

async function openOwn(page: Page, search = ""): Promise<void> {
  await page.goto(`#/dual-system?corpus=own${search}`);
  await expect(page.getByTestId("drop")).toBeVisible({ timeout: ANSWER_MS });
}

/** Drops a file or a folder of the disk, as a person does. */
async function drop(page: Page, path: string): Promise<void> {
  const box = (await page.getByTestId("drop").boundingBox())!;
  const session = await page.context().newCDPSession(page);
  const data = { items: [], files: [path], dragOperationsMask: 1 };
  for (const type of ["dragEnter", "dragOver", "drop"] as const) {
    await session.send("Input.dispatchDragEvent", { type, x: box.x + 20, y: box.y + 15, data });
  }
}

/** Asks until the agent, which is small, answers one question rightly. */
async function expectOneAnswer(page: Page): Promise<void> {
  for (const { text: question, gold } of oneHop) {
    await questionField(page).fill(question);
    await askButton(page).click();
    await expect(page.getByRole("button", { name: text.run.download })).toBeVisible({ timeout: 3 * ANSWER_MS });
    const answer = picture(page).getByTestId("answer");
    if ((await answer.count()) > 0 && (await answer.textContent())?.trim() === gold[0]) return;
  }
  throw new Error("none of the questions was answered from the documents");
}

test("a dropped folder is read, asked about, and the answer's quote leads to its file", async ({ page }) => {
  writeFolder();
  await page.emulateMedia({ reducedMotion: "reduce" });
  await openOwn(page);
  await expect(askButton(page)).toBeDisabled();
  await drop(page, folder);
  const panel = page.getByRole("region", { name: text.ask.label });
  await expect(panel).toContainText(`${articles.length} files`, { timeout: 2 * ANSWER_MS });
  await expect(panel).toContainText(text.own.hidden("1"));
  const skipped = panel.getByRole("listitem");
  await expect(skipped.filter({ hasText: "photo.png" })).toContainText("is a picture");
  await expect(skipped.filter({ hasText: "empty.txt" })).toContainText("is empty");
  expect(await findings(page)).toEqual([]);

  await expectOneAnswer(page);
  const quote = picture(page)
    .getByRole("button", { name: /^\d+ ?\S/ })
    .first();
  const words = ((await quote.textContent()) ?? "").replace(/^\d+\s*/, "");
  await quote.click();
  const inspector = page.getByRole("complementary", { name: strings.inspector.label });
  const source = inspector.getByRole("region", { name: text.source.label });
  await expect(source).toContainText(/archive\/(notes|plain|pages)\/.+\.(md|txt|html)/);
  await expect(source.locator("mark")).toHaveText(words);
  expect(await findings(page)).toEqual([]);

  // What a link cannot carry is told, not lost.
  await page.reload();
  await expect(questionField(page)).not.toHaveValue("");
  await askButton(page).click();
  await expect(page.getByRole("alert")).toContainText(strings.error.problems.noDocuments.what, { timeout: ANSWER_MS });
});

test("files are chosen, replaced and taken out by keyboard alone; a folder is chosen by its dialog", async ({
  page,
}) => {
  writeFolder();
  await openOwn(page);
  await expectReady(page);
  const panel = page.getByRole("region", { name: text.ask.label });
  const files = page.waitForEvent("filechooser");
  await panel.getByRole("button", { name: text.own.files, exact: true }).focus();
  await page.keyboard.press("Enter");
  await (await files).setFiles([
    { name: "a.md", mimeType: "text/markdown", buffer: Buffer.from("# A\n\nOne sentence.\n") },
    { name: "b.csv", mimeType: "text/csv", buffer: Buffer.from("name,born\nAda,1815\nBo,1816\n") },
  ]);
  await expect(panel).toContainText("2 files, 3 passages", { timeout: ANSWER_MS });
  const again = page.waitForEvent("filechooser");
  await panel.getByRole("button", { name: text.own.files, exact: true }).press("Enter");
  await (await again).setFiles([{ name: "b.csv", mimeType: "text/csv", buffer: Buffer.from("name,born\nAda,1815\n") }]);
  await expect(panel).toContainText("2 files, 2 passages", { timeout: ANSWER_MS });
  await panel.getByText(text.own.read("2 files")).focus();
  await page.keyboard.press("Enter");
  await panel.getByRole("button", { name: text.own.remove("a.md") }).press("Enter");
  await expect(panel).toContainText("1 file, 1 passage");

  const chooser = page.waitForEvent("filechooser");
  await panel.getByRole("button", { name: text.own.folder, exact: true }).press("Enter");
  await (await chooser).setFiles(folder);
  await expect(panel).toContainText(`${articles.length + 1} files`, { timeout: ANSWER_MS });
  await panel.getByRole("button", { name: text.own.removeAll }).press("Enter");
  await expect(panel.getByRole("button", { name: text.own.sample })).toBeVisible();
});

test("on a phone the sample files are read, and reading can be cancelled", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await openOwn(page);
  await page.getByRole("button", { name: text.own.sample }).click();
  await expect(page.getByRole("region", { name: text.ask.label })).toContainText("9 files", { timeout: 2 * ANSWER_MS });
  await expect(questionField(page)).not.toHaveValue("");
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  expect(await findings(page)).toEqual([]);

  const many = Array.from({ length: 400 }, (_, i) => ({
    name: `many/${i}.txt`,
    mimeType: "text/plain",
    buffer: Buffer.from(`${articles[i % articles.length]!.text} `.repeat(60)),
  }));
  const chooser = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: text.own.files, exact: true }).click();
  await (await chooser).setFiles(many);
  await expect(page.getByRole("progressbar", { name: text.own.progress })).toBeVisible({ timeout: ANSWER_MS });
  await page.getByRole("button", { name: text.own.cancel, exact: true }).click();
  await expect(page.getByText(text.own.cancelled)).toBeVisible({ timeout: ANSWER_MS });
  await expect(page.getByRole("region", { name: text.ask.label })).toContainText("9 files");
});
