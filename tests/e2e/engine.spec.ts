/** What can go wrong below the page, each with its own plain sentence and a way on. */
import { expect } from "@playwright/test";
import { strings } from "../../app/strings";
import { askButton, engineLine, expectReady, openRoom, test } from "./room";

const { problems } = strings.error;
const problem = (kind: keyof typeof problems) => problems[kind].what;

test("loading can be cancelled and taken up again", async ({ page, context }) => {
  let release: () => void = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  await context.route("**/model.safetensors", async (route) => {
    await gate;
    await route.continue().catch(() => {});
  });
  await openRoom(page);
  await engineLine(page).getByRole("button", { name: strings.device.cancel }).click();
  await expect(engineLine(page)).toContainText(strings.device.cancelled);
  release();
  await engineLine(page).getByRole("button", { name: strings.device.load }).click();
  await expectReady(page);
});

test("missing model files are named, and trying again helps once they are there", async ({ page, context }) => {
  await context.route("**/models/**/config.json", (route) => route.fulfill({ status: 404, body: "not here" }));
  await openRoom(page);
  const alert = page.getByRole("alert").filter({ hasText: problem("modelFilesMissing") });
  await expect(alert).toBeVisible();
  await alert.getByRole("button", { name: strings.error.details }).last().click();
  await expect(alert).toContainText("config.json");
  await context.unroute("**/models/**/config.json");
  await alert.getByRole("button", { name: strings.error.retry }).click();
  await expectReady(page);
  await expect(alert).toBeHidden();
});

test("damaged model files are refused by name", async ({ page, context }) => {
  await context.route("**/models/**/config.json", (route) =>
    route.fulfill({ status: 200, contentType: "application/json", body: '{"model_type": "qwen9"}' }),
  );
  await openRoom(page);
  const alert = page.getByRole("alert").filter({ hasText: problem("modelInvalid") });
  await alert.getByRole("button", { name: strings.error.details }).last().click();
  await expect(alert).toContainText("model_type");
});

test("a lost device is replaced once by itself", async ({ page, browser }) => {
  await openRoom(page);
  await expectReady(page);
  const session = await browser.newBrowserCDPSession();
  await session.send("Browser.crashGpuProcess");
  await expect(page.getByText(strings.device.recovered)).toBeVisible({ timeout: 60_000 });
  await expectReady(page);
});

test("a worker that cannot start is reported, and a new page helps", async ({ page }) => {
  await page.route("**/assets/engineWorker-*.js", (route) => route.fulfill({ status: 404, body: "not here" }));
  await page.goto("#/dual-system");
  const alert = page.getByRole("alert").filter({ hasText: problem("engineFailed") });
  await expect(alert).toBeVisible();
  await page.unroute("**/assets/engineWorker-*.js");
  await alert.getByRole("button", { name: strings.error.retry }).click();
  await expectReady(page);
});

test("without WebGPU in the worker the processor takes over", async ({ page }) => {
  // Scripts of workers cannot be prepared by Playwright, so the worker's script is served with a first line more.
  await page.route("**/assets/engineWorker-*.js", async (route) => {
    const response = await route.fetch();
    const body = `Object.defineProperty(navigator, "gpu", { value: undefined });\n${await response.text()}`;
    await route.fulfill({ response, body });
  });
  await openRoom(page);
  await expectReady(page);
  await expect(page.getByRole("alert")).toHaveCount(0);
  await expect(askButton(page)).toBeEnabled();
});

test("over an insecure address the processor takes over", async ({ page, baseURL }) => {
  await page.route("http://insecure.example/**", async (route) => {
    const { pathname } = new URL(route.request().url());
    await route.fulfill({ response: await route.fetch({ url: new URL(`.${pathname}`, baseURL).href }) });
  });
  await page.goto("http://insecure.example/");
  await expectReady(page);
  await expect(page.getByRole("alert")).toHaveCount(0);
});
