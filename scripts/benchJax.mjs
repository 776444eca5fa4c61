/**
 * `node scripts/benchJax.mjs [agents] [rounds] [batch] [prompt tokens] [repetitions]`: a step of outer-loop training
 * with our engine beside the same computation with jax-js, in one page of headless Chromium, on one device.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findChromium } from "./lib/chromium.mjs";
import { root, runScript, SetupError } from "./lib/script.mjs";

const NAMES = ["agents", "rounds", "batch", "promptTokens", "steps"];
const DEFAULTS = [2, 1, 16, 48, 3];
const LIMIT_MS = 20 * 60_000;

await runScript(async () => {
  const executablePath = findChromium();
  if (!executablePath) throw new SetupError("There is no Chromium: run `npm run setup`.");
  const query = new URLSearchParams(NAMES.map((name, i) => [name, process.argv[2 + i] ?? String(DEFAULTS[i])]));
  const outDir = mkdtempSync(join(tmpdir(), "bench-jax-"));
  try {
    const { build, preview } = await import("vite");
    /** @type {import("vite").InlineConfig} */
    const config = {
      configFile: false,
      root: join(root, "scripts", "benchJax"),
      base: "./",
      logLevel: "warn",
      publicDir: false,
      build: { target: "es2023", outDir, emptyOutDir: true, chunkSizeWarningLimit: 1500 },
    };
    await build(config);
    const server = await preview({ ...config, preview: { host: "127.0.0.1", port: 0 } });
    const [address] = server.resolvedUrls?.local ?? [];
    await measure(`${address}?${query}`, executablePath);
    await server.close();
  } finally {
    rmSync(outDir, { recursive: true });
  }
});
process.exit();

/** Prints what the page finds, line by line, and the ratios at its end. @param {string} url @param {string} executablePath */
async function measure(url, executablePath) {
  const { chromium } = await import("@playwright/test");
  const args = ["--enable-unsafe-webgpu", "--disable-background-networking", "--disable-component-update"];
  if (process.getuid?.() === 0) args.push("--no-sandbox");
  const browser = await chromium.launch({ executablePath, args });
  /** @type {any[]} */
  const times = [];
  try {
    const page = await browser.newPage();
    const ended = new Promise((resolve, reject) => {
      page.on("pageerror", reject);
      page.on("console", (message) => {
        const text = message.text();
        console.log(text);
        if (!text.startsWith("{")) return;
        const said = JSON.parse(text);
        if (said.type === "times") times.push(said);
        if (said.type === "done") resolve(undefined);
        if (said.type === "failed") reject(new Error(said.message));
      });
      setTimeout(() => reject(new Error("The page took too long.")), LIMIT_MS).unref();
    });
    await page.goto(url);
    await ended;
  } finally {
    await browser.close();
  }
  console.log("\n| | ours, ms | jax-js, ms | ours / jax-js |\n|---|---|---|---|");
  for (const part of /** @type {const} */ (["promptMs", "stepMs"])) {
    const of = (/** @type {string} */ engine) =>
      times.flatMap((time) => (time.engine === engine ? time[part] : [])).sort((x, y) => x - y);
    const [ours, theirs] = [of("ours"), of("jax-js")];
    const median = (/** @type {number[]} */ sorted) => {
      const half = (sorted.length - 1) / 2;
      return ((sorted[Math.floor(half)] ?? 0) + (sorted[Math.ceil(half)] ?? 0)) / 2;
    };
    for (const [label, left, right] of /** @type {const} */ ([
      ["median", median(ours), median(theirs)],
      ["fastest", ours[0], theirs[0]],
    ])) {
      const ratio = (left / right).toPrecision(2);
      console.log(`| ${part}, ${label} | ${left.toFixed(0)} | ${right.toFixed(0)} | ${ratio} |`);
    }
  }
}
