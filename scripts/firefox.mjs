/**
 * `node scripts/firefox.mjs [full]`: the built page in headless Firefox, without WebGPU and with it (Firefox's own
 * implementation, which shares no code with Chromium's): a question is researched, a recursion runs through the shipped
 * links; with WebGPU every kernel is compared with its reference, and inner links are trained. Any error of the page
 * ends it. Prints what was seen and how long it took. Needs `npm run build` and Firefox (FIREFOX_PATH, or `firefox` or
 * `firefox-esr` on the path).
 */
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { importTypeScript } from "./lib/bundle.mjs";
import { root, runScript, SetupError } from "./lib/script.mjs";

const LIMIT_MS = 30 * 60_000;
/** Firefox on Linux has WebGPU behind these. */
const WEBGPU = { "dom.webgpu.enabled": true, "dom.webgpu.workers.enabled": true, "gfx.webgpu.ignore-blocklist": true };
const INNER = { steps: 24, batch: 2, warmupSteps: 3, learningRate: 0.003, rounds: 2, hops: [1, 2], validateEvery: 0 };

await runScript(async () => {
  const executablePath = findFirefox();
  if (!executablePath) throw new SetupError("There is no Firefox: name its file in FIREFOX_PATH.");
  if (!existsSync(join(root, "dist", "index.html")))
    throw new SetupError("There is no built page: run `npm run build`.");
  const { strings } = await importTypeScript(join(root, "app", "strings", "index.ts"));
  const { preview } = await import("vite");
  const server = await preview({ root, logLevel: "silent", preview: { port: 0, open: false } });
  const address = server.resolvedUrls?.local[0] ?? "";
  try {
    await visit(executablePath, {}, async (tab) => {
      await research(tab, address, strings);
      await recursion(tab, address, strings);
    });
    await visit(executablePath, WEBGPU, async (tab) => {
      await selfTest(tab, address, strings, process.argv[2] === "full");
      await research(tab, address, strings);
      await recursion(tab, address, strings);
      await training(tab, address, strings);
    });
  } finally {
    await server.close();
  }
});
process.exit();

function findFirefox() {
  const { FIREFOX_PATH, PATH = "" } = process.env;
  if (FIREFOX_PATH) return existsSync(FIREFOX_PATH) ? FIREFOX_PATH : undefined;
  const names = process.platform === "win32" ? ["firefox.exe"] : ["firefox", "firefox-esr"];
  return names.flatMap((name) => PATH.split(delimiter).map((folder) => join(folder, name))).find(existsSync);
}

/**
 * @param {string} executablePath
 * @param {Record<string, boolean>} preferences
 * @param {(tab: import("puppeteer-core").Page) => Promise<void>} look
 */
async function visit(executablePath, preferences, look) {
  const { launch } = await import("puppeteer-core");
  const options = { executablePath, extraPrefsFirefox: preferences, protocolTimeout: LIMIT_MS };
  const browser = await launch({ browser: "firefox", headless: true, ...options });
  try {
    const tab = await browser.newPage();
    tab.setDefaultTimeout(LIMIT_MS);
    await tab.setViewport({ width: 1440, height: 900 });
    /** @type {string[]} */
    const errors = [];
    tab.on("pageerror", (error) => errors.push(String(error)));
    tab.on("console", (message) => message.type() === "error" && errors.push(message.text()));
    await look(tab);
    if (errors.length > 0) throw new Error(`the page reported errors:\n${errors.join("\n")}`);
  } finally {
    await browser.close();
  }
}

/** @typedef {import("puppeteer-core").Page} Tab */

/**
 * Opens a room anew, and waits for the words that say that it is ready.
 * @param {Tab} tab @param {string} address @param {string} room @param {RegExp} [ready]
 */
async function open(tab, address, room, ready = /\d( million)? parameters/) {
  await tab.goto("about:blank");
  await tab.goto(`${address}#/${room}`);
  await seen(tab, ready);
}

/** Waits until the page's text has it. @param {Tab} tab @param {RegExp} words @returns {Promise<string>} what it found */
async function seen(tab, words) {
  const found = await tab.waitForFunction(
    (source) => new RegExp(source).exec(document.body.textContent ?? "")?.[0],
    {},
    words.source,
  );
  return /** @type {string} */ (await found.jsonValue());
}

/**
 * Presses a button and waits for words that were not there before.
 * @param {Tab} tab @param {string} button @param {RegExp} words @returns {Promise<{ found: string, ms: number }>}
 */
async function pressed(tab, button, words) {
  const before = await tab.evaluate(() => document.body.textContent ?? "");
  if (words.test(before)) throw new Error(`${words} stands on the page before "${button}" is pressed`);
  const begun = performance.now();
  await tab.locator(`::-p-aria([name="${button}"][role="button"])`).click();
  return { found: await seen(tab, words), ms: performance.now() - begun };
}

/** @param {string} text */
function exactly(text) {
  return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
}

/**
 * What was seen, on which engine, after how long.
 * @param {Tab} tab @param {string} what @param {{ found: string, ms: number }} seen
 */
async function tell(tab, what, { found, ms }) {
  const engine = await tab.evaluate(() => ("gpu" in navigator ? "WebGPU" : "no WebGPU"));
  console.log(`${engine}: ${what}: ${found} (${(ms / 1000).toFixed(1)} s)`);
}

/** @param {Tab} tab @param {string} address @param {any} strings */
async function research(tab, address, { dualSystem: { ask, run } }) {
  // Other settings than the recorded run's, so that nothing is drawn yet.
  await open(tab, address, "dual-system?results=4");
  const graded = await pressed(tab, ask.ask, new RegExp(`${run.correct}|${run.wrong("").split(".")[0]}`));
  if (graded.found !== run.correct) throw new Error("the question was not answered as its gold says");
  await tell(tab, "a question is researched", graded);
}

/** @param {Tab} tab @param {string} address @param {any} strings */
async function recursion(tab, address, { latentRecursion: { run, status } }) {
  await open(tab, address, "latent-recursion?steps=8&rounds=2");
  await tell(tab, "a recursion of two rounds", await pressed(tab, run.start, exactly(status.answered)));
}

/** @param {Tab} tab @param {string} address @param {any} strings @param {boolean} isFull */
async function selfTest(tab, address, { models: { test } }, isFull) {
  await open(tab, address, "models", exactly(test.quick));
  const ended = await pressed(tab, isFull ? test.all : test.quick, /All \d+ checks passed|\d+ of \d+ checks failed/);
  if (!ended.found.startsWith("All")) throw new Error(`kernels: ${ended.found}`);
  await tell(tab, "kernels against their references", ended);
}

/** @param {Tab} tab @param {string} address @param {any} strings */
async function training(tab, address, { linkTraining: { stages, track } }) {
  await open(tab, address, `link-training?inner=${encodeURIComponent(JSON.stringify(INNER))}`);
  const last = exactly(track.step(String(INNER.steps), String(INNER.steps)));
  await tell(tab, "inner links are trained", await pressed(tab, stages.inner.start, last));
}
