/** A browser without WebGPU: questions and recursions are answered by the processor, and nothing looks like an error. */
import { expect, type Page } from "@playwright/test";
import { strings } from "../../app/strings";
import { askButton, engineLine, expectGoldAnswer, expectReady, findings, openRoom, presets, test } from "./room";

// A browser of its own, without the flags of the others.
test.use({
  launchOptions: {
    executablePath: process.env.TWINLOOP_CHROMIUM as string,
    args: ["--disable-gpu", "--disable-features=WebGPU,Vulkan", "--disable-background-networking", "--no-first-run"],
  },
});

/** Browsers differ in whether they show WebGPU that has no device. */
const BECAUSE = new RegExp(["noWebGpu" as const, "noAdapter" as const].map(strings.engines.because).join("|"));

// Loading and compiling 14 MB and more takes its time where the processor has much else to do.
test.setTimeout(420_000);

const notice = (page: Page) => page.getByRole("status").filter({ hasText: strings.engines.noticeLimits });

async function expectCpuEngine(page: Page): Promise<void> {
  await expectReady(page);
  expect(await page.evaluate(async () => (await navigator.gpu?.requestAdapter()) ?? null)).toBeNull();
  await expect(engineLine(page)).toContainText(strings.engines.cpu);
  await expect(page.getByRole("alert")).toHaveCount(0);
}

test("a question is researched on the processor, with a quiet word on what answers", async ({ page }) => {
  await openRoom(page);
  await expectCpuEngine(page);
  await expect(notice(page)).toBeVisible();
  await engineLine(page).getByRole("button", { name: strings.engines.open }).click();
  const menu = page.getByRole("dialog", { name: strings.engines.open });
  await expect(menu.getByRole("radio", { name: strings.engines.choices.auto.name })).toBeChecked();
  await expect(menu).toContainText(strings.engines.came(strings.engines.choices["onnx-wasm"].name));
  expect(await findings(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await expect(menu).toBeHidden();

  await presets(page).first().click();
  await askButton(page).click();
  await expectGoldAnswer(page);
  await expect(page.getByText(strings.dualSystem.run.origin.recorded, { exact: true })).toHaveCount(0);
  expect(await findings(page)).toEqual([]);
  await notice(page).getByRole("button", { name: strings.device.dismiss }).click();
  await expect(notice(page)).toHaveCount(0);
});

test("a latent recursion runs through the shipped links, and says what needs our engine", async ({ page }) => {
  const text = strings.latentRecursion;
  await page.goto("#/latent-recursion?rounds=2");
  await expectCpuEngine(page);
  const ridge = page.getByRole("combobox", { name: text.links.inner }).locator("option[value='ridge']");
  await expect(ridge).toHaveText(new RegExp(strings.engines.needs.option));
  await page.getByRole("button", { name: text.run.start, exact: true }).click();
  await expect(page.getByText(text.status.answered, { exact: true })).toBeVisible({ timeout: 120_000 });
  const laps = page.getByRole("region", { name: text.laps.title, exact: true });
  // Two rounds of three agents, four thoughts each; the last agent of the last round writes instead.
  await expect(laps.getByRole("button", { name: /^Thought/ })).toHaveCount(20);
  await expect(page.getByRole("status").filter({ hasText: "Answer:" })).not.toBeEmpty();
  await expect(page.getByRole("alert")).toHaveCount(0);
  expect(await findings(page)).toEqual([]);
});

test("the training room explains itself, and offers what is possible", async ({ page }) => {
  await page.goto("#/link-training");
  await expectCpuEngine(page);
  const why = page.getByRole("note").filter({ hasText: strings.engines.needs.training });
  await expect(why).toContainText(BECAUSE);
  for (const { start } of Object.values(strings.linkTraining.stages)) {
    await expect(page.getByRole("button", { name: start, exact: true })).toBeDisabled();
  }
  await expect(page.getByRole("button", { name: strings.linkTraining.evaluation.start })).toBeDisabled();
  expect(await findings(page)).toEqual([]);
});

test("who insists on our engine is told why not, and is one click from an answer", async ({ page }) => {
  await openRoom(page, "?engine=wgsl");
  const alert = page.getByRole("alert");
  const { noWebGpu, noAdapter } = strings.error.problems;
  await expect(alert).toContainText(new RegExp(`${noWebGpu.what}|${noAdapter.what}`));
  await alert.getByRole("button", { name: strings.engines.useCpu }).click();
  await expectCpuEngine(page);
  await expect(page).toHaveURL(/engine=onnx-wasm/);
  await expect(askButton(page)).toBeEnabled();
});
