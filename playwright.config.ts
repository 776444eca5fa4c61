/**
 * Browser tests: the production build, served by `vite preview` on a free port, in the Chromium that is installed
 * (CHROMIUM_PATH overrides it). WebGPU runs on SwiftShader where there is no GPU.
 */
import { createServer } from "node:net";
import { defineConfig } from "@playwright/test";
import { findChromium } from "./scripts/lib/chromium.mjs";

/** A port that is free now, chosen by the system. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no free port was found");
  return address.port;
}

// Workers read this file again and must come to the same answers.
process.env.TWINLOOP_PREVIEW_PORT ??= String(await freePort());
process.env.TWINLOOP_CHROMIUM ??= findChromium() ?? "";
const baseURL = `http://localhost:${process.env.TWINLOOP_PREVIEW_PORT}/`;
if (process.env.TWINLOOP_CHROMIUM === "") {
  throw new Error("No Chromium or Chrome was found for the browser tests: run `npm run setup`.");
}

export default defineConfig({
  testDir: "tests/e2e",
  outputDir: "test-results",
  workers: 1,
  fullyParallel: false,
  retries: 0,
  timeout: 180_000,
  expect: {
    timeout: 15_000,
    // Edges of letters differ from machine to machine; a changed colour of any surface is more than this.
    toHaveScreenshot: { threshold: 0.02, maxDiffPixelRatio: 0.015, animations: "disabled", caret: "hide" },
  },
  snapshotPathTemplate: "{testDir}/screenshots/{arg}{ext}",
  forbidOnly: Boolean(process.env.CI),
  reporter: process.env.TWINLOOP_REPORT
    ? [["list"], ["json", { outputFile: process.env.TWINLOOP_REPORT }]]
    : [["list"]],
  use: {
    baseURL,
    // The page remembers how much to show: tests begin with every control, unless their address says otherwise.
    storageState: {
      cookies: [],
      origins: [{ origin: new URL(baseURL).origin, localStorage: [{ name: "twinloop.depth", value: "lab" }] }],
    },
    trace: "off",
    screenshot: "only-on-failure",
    launchOptions: {
      executablePath: process.env.TWINLOOP_CHROMIUM,
      args: [
        "--enable-unsafe-webgpu",
        "--enable-features=Vulkan",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
      ],
    },
  },
  webServer: {
    command: `node node_modules/vite/bin/vite.js preview --port ${process.env.TWINLOOP_PREVIEW_PORT} --strictPort`,
    url: baseURL,
    reuseExistingServer: false,
    timeout: 60_000,
  },
});
