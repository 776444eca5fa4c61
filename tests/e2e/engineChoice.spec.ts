/** The engine is chosen in the address or in the menu, and every one of them answers. */
import { expect } from "@playwright/test";
import { strings } from "../../app/strings";
import { askButton, engineLine, expectGoldAnswer, expectReady, openRoom, picture, presets, test } from "./room";

// Loading and compiling 14 MB and more takes its time where the processor has much else to do.
test.setTimeout(420_000);

test("onnx-wasm answers where it was chosen in the address, from room to room", async ({ page }) => {
  await openRoom(page, "?engine=onnx-wasm");
  await expectReady(page);
  await expect(engineLine(page)).toContainText(strings.engines.cpu);
  await presets(page).first().click();
  await askButton(page).click();
  await expectGoldAnswer(page);
  await page.getByRole("link", { name: strings.rooms.linkTraining.title }).click();
  await expect(page).toHaveURL(/link-training.*engine=onnx-wasm/);
  await expect(page.getByRole("note")).toContainText(strings.engines.choices["onnx-wasm"].name);
  await expect(page.getByRole("note")).toContainText(strings.engines.needs.chosen);
});

test("onnx-webgpu writes where it was chosen in the address", async ({ page }) => {
  await openRoom(page, "?engine=onnx-webgpu");
  await expectReady(page);
  await expect(engineLine(page)).toContainText(strings.engines.onnxGpu);
  await presets(page).first().click();
  await askButton(page).click();
  // A whole answer takes minutes on a program that plays the GPU.
  await expect(picture(page).getByText(strings.dualSystem.run.thought).first()).toBeVisible({ timeout: 150_000 });
});

test("the menu moves the models from engine to engine and back", async ({ page }) => {
  await openRoom(page);
  await expectReady(page);
  await expect(engineLine(page)).toContainText(/software device|GPU/);
  const choose = async (name: string) => {
    await engineLine(page).getByRole("button", { name: strings.engines.open }).click();
    await page.getByRole("radio", { name }).check();
    await page.keyboard.press("Escape");
  };
  await choose(strings.engines.choices["onnx-wasm"].name);
  await expect(engineLine(page)).toContainText(strings.engines.cpu, { timeout: 60_000 });
  await expectReady(page);
  await choose(strings.engines.choices.auto.name);
  await expect(engineLine(page)).toContainText(/software device|GPU/, { timeout: 60_000 });
  await expect(page).not.toHaveURL(/engine=/);
});
