/** A smoke set of the gradient checks (tests/gpu/tensorOps.test.ts, lab gradcheck) in the browser, on its device. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "@playwright/test";
import { build, type InlineConfig, type PreviewServer, preview } from "vite";
import type {} from "./gradients/page";
import { test } from "./room";

let server: PreviewServer;
let folder: string;

test.beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "twinloop-gradients-"));
  const config: InlineConfig = {
    configFile: false,
    root: fileURLToPath(new URL("./gradients", import.meta.url)),
    base: "./",
    logLevel: "warn",
    publicDir: false,
    build: { target: "es2023", outDir: folder, emptyOutDir: true },
  };
  await build(config);
  server = await preview({ ...config, preview: { host: "127.0.0.1", port: 0 } });
});

test.afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

test("operations and a whole decoder have the reference's results and gradients", async ({ page }) => {
  // A software device compiles some sixty kernels.
  test.setTimeout(600_000);
  await page.goto(server.resolvedUrls?.local[0] as string);
  const { cases, decoder, left } = await page.evaluate(() => window.checkGradients());
  expect(new Set(cases.map(({ op }) => op)).size).toBeGreaterThan(15);
  for (const { op, size, forward, gradients } of cases) {
    expect(forward, `${op} ${size}`).toBeLessThan(1e-5);
    expect(Object.keys(gradients).length, `${op} ${size}`).toBeGreaterThan(0);
    for (const [name, error] of Object.entries(gradients)) {
      expect(error, `${op} ${size}: gradient of ${name}`).toBeLessThan(2e-5);
    }
  }
  expect(decoder.loss).toBeLessThan(1e-5);
  expect(Object.keys(decoder.gradients).length).toBeGreaterThan(20);
  for (const [name, error] of Object.entries(decoder.gradients)) expect(error, name).toBeLessThan(1e-3);
  expect(left).toEqual([0, 0]);
});
