/**
 * `node scripts/largeCheckpoint.mjs [stored|q8|q4] [tokens]`: a checkpoint of random weights in the shape of Qwen3-0.6B
 * (1.2 GB in bf16, written to a temporary folder) is opened in the built page in headless Chromium, kept in the
 * browser's store, loaded, and continues a text; the same text is wanted of our engine in Node, on another driver where
 * there is one, and, with weights as they are stored, the same tokens of the f64 reference. Prints times and the most
 * memory that the browser's processes held. Needs `npm run build`, 4 GB of disk and 8 GB of memory.
 */
import { execFile } from "node:child_process";
import { createReadStream, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { importTypeScript } from "./lib/bundle.mjs";
import { findChromium } from "./lib/chromium.mjs";
import { root, runScript, SetupError } from "./lib/script.mjs";

const PROMPT = "The two systems share a context";
const LIMIT_MS = 30 * 60_000;

await runScript(async () => {
  const executablePath = findChromium();
  if (!executablePath) throw new SetupError("There is no Chromium: run `npm run setup`.");
  if (!existsSync(join(root, "dist", "index.html")))
    throw new SetupError("There is no built page: run `npm run build`.");
  const weights = process.argv[2] ?? "stored";
  const folder = mkdtempSync(join(tmpdir(), "large-checkpoint-"));
  try {
    const { writeLargeCheckpoint, referenceTokens } = await importTypeScript(
      join(root, "scripts", "lib", "largeCheckpoint.ts"),
    );
    const model = join(folder, "qwen3-0.6b-random");
    const bytes = writeLargeCheckpoint(model);
    console.log(`checkpoint: ${(bytes / 1e9).toFixed(2)} GB of weights`);
    const found = await inBrowser(executablePath, model, join(folder, "profile"), weights);
    console.log(JSON.stringify(found, undefined, 2));
    const lab = [
      join(root, "scripts", "lab.mjs"),
      "generate",
      "--model",
      model,
      "--weights",
      weights,
      "--prompt",
      PROMPT,
    ];
    const options = { maxBuffer: 2 ** 24, timeout: LIMIT_MS };
    const { stdout } = await promisify(execFile)(process.execPath, [...lab, "--max-tokens", "24", "--json"], options);
    const wanted = JSON.parse(stdout);
    console.log(`Node: ${JSON.stringify(wanted.text)}, ${(wanted.ms / 1000).toFixed(1)} s`);
    if (found.text !== wanted.text) throw new Error("the page wrote another text than our engine in Node");
    console.log("the same text");
    if (weights === "stored") {
      const tokens = await referenceTokens(model, PROMPT, wanted.ids);
      const place = tokens.findIndex((/** @type {number} */ id, /** @type {number} */ i) => id !== wanted.ids[i]);
      if (place >= 0) throw new Error(`the reference takes another token at place ${place}: ${tokens[place]}`);
      console.log(`the reference takes the same ${tokens.length} tokens`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
process.exit();

/** @param {string} executablePath @param {string} model @param {string} profile @param {string} weights */
async function inBrowser(executablePath, model, profile, weights) {
  const { chromium } = await import("@playwright/test");
  const { preview } = await import("vite");
  const files = await serveFolder(model);
  const page = await preview({ root, logLevel: "silent", preview: { port: 0, open: false } });
  const address = page.resolvedUrls?.local[0] ?? "";
  const args = ["--enable-unsafe-webgpu", "--enable-features=Vulkan"];
  if (process.getuid?.() === 0) args.push("--no-sandbox");
  // A profile on disk: the store of one in memory would count as memory.
  const browser = await chromium.launchPersistentContext(profile, { executablePath, args });
  const memory = watchMemory(profile);
  try {
    const tab = await browser.newPage();
    tab.setDefaultTimeout(LIMIT_MS);
    const name = basename(new URL(files.url).pathname);
    await tab.goto(`${address}#/models?source=url&url=${encodeURIComponent(`${files.url}/`)}`);
    await tab.getByText("Adapter").first().waitFor();
    const start = performance.now();
    await tab.getByRole("button", { name: "List its files" }).click();
    await tab.getByLabel("Weights on the device").selectOption(weights);
    const listedMs = performance.now() - start;
    const price = await tab
      .getByLabel(/^Memory: /)
      .first()
      .textContent();
    await tab.getByRole("button", { name: /^Load( anyway)?$/ }).click();
    await tab
      .getByText("Putting the weights on the device")
      .or(tab.getByText("Preparing the shaders"))
      .first()
      .waitFor();
    const keptMs = performance.now() - start;
    await tab.getByText(`${name} is loaded.`, { exact: false }).waitFor();
    const loadedMs = performance.now() - start;
    await tab.getByLabel("A text to go on with").fill(PROMPT);
    await tab.getByRole("button", { name: /^Continue by/ }).click();
    await tab.getByText(/tokens in /).waitFor();
    const text = await tab.locator("section[aria-label='Try it'] pre").textContent();
    const figures = await tab.getByText(/tokens in /).textContent();
    const seconds = (/** @type {number} */ ms) => Number((ms / 1000).toFixed(1));
    return {
      weights,
      price,
      listedSeconds: seconds(listedMs),
      keptSeconds: seconds(keptMs),
      loadedSeconds: seconds(loadedMs),
      text,
      figures,
      mostMemoryMB: memory.stop(),
    };
  } finally {
    memory.stop();
    await browser.close();
    await page.close();
    files.close();
  }
}

/** Files with ranges, for pages of any address. @param {string} folder */
async function serveFolder(folder) {
  const server = createServer((request, response) => {
    const file = join(folder, basename(new URL(request.url ?? "/", "http://localhost").pathname));
    response.setHeader("Access-Control-Allow-Origin", "*");
    response.setHeader("Access-Control-Allow-Headers", "range");
    response.setHeader("Access-Control-Expose-Headers", "Content-Range");
    if (request.method === "OPTIONS") return void response.writeHead(204).end();
    if (!existsSync(file) || !statSync(file).isFile()) return void response.writeHead(404).end();
    const { size } = statSync(file);
    const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? "");
    const start = range ? Number(range[1]) : 0;
    const end = range?.[2] ? Math.min(Number(range[2]), size - 1) : size - 1;
    const headers = { "Content-Length": end - start + 1, "Content-Type": "application/octet-stream" };
    if (range) response.writeHead(206, { ...headers, "Content-Range": `bytes ${start}-${end}/${size}` });
    else response.writeHead(200, headers);
    createReadStream(file, { start, end }).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${port}/models/${basename(folder)}`, close };
}

/**
 * The most memory that the page's and the GPU's processes of a browser held, each alone and both at one time: their
 * share of resident pages, as Linux counts it. On other systems nothing is measured.
 * @param {string} profile tells the browser's processes from others
 */
function watchMemory(profile) {
  /** @type {Record<string, number>} */
  const most = {};
  const look = () => {
    /** @type {Record<string, number>} */
    const now = { page: 0, gpu: 0 };
    for (const [kind, pid] of processesOf(profile)) {
      try {
        const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
        now[kind] = (now[kind] ?? 0) + Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) / 1000;
      } catch {
        // It has ended meanwhile.
      }
    }
    now.together = (now.page ?? 0) + (now.gpu ?? 0);
    for (const [kind, megabytes] of Object.entries(now)) most[kind] = Math.max(most[kind] ?? 0, Math.round(megabytes));
  };
  const timer = process.platform === "linux" ? setInterval(look, 500) : undefined;
  return {
    stop() {
      clearInterval(timer);
      return most;
    },
  };
}

/** @param {string} profile @returns {[string, string][]} */
function processesOf(profile) {
  const all = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  /** @type {Map<string, { parent: string, command: string }>} */
  const processes = new Map();
  for (const pid of all) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      const parent = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1] ?? "";
      processes.set(pid, { parent, command: readFileSync(`/proc/${pid}/cmdline`, "utf8") });
    } catch {
      // It has ended meanwhile.
    }
  }
  const isOurs = (/** @type {string} */ pid) => {
    for (let at = processes.get(pid); at; at = processes.get(at.parent)) {
      if (at.command.includes(profile)) return true;
    }
    return false;
  };
  return [...processes].flatMap(([pid, { command }]) => {
    const type = /--type=([a-z-]+)/.exec(command)?.[1];
    const kind = type === "renderer" ? "page" : type === "gpu-process" ? "gpu" : undefined;
    return kind && isOurs(pid) ? [/** @type {[string, string]} */ ([kind, pid])] : [];
  });
}
