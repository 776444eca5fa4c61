/**
 * `node scripts/benchEngines.mjs [model,...] [engine,...] [stored|q8|q4]`: our engine beside onnxruntime-web's
 * WebAssembly and WebGPU providers on the same weights, in headless Chromium. Each measurement has a browser of its own.
 * Models: folders of public/models, and "smollm2" (random weights in the shape of SmolLM2-135M).
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { findChromium } from "./lib/chromium.mjs";
import { root, runScript, SetupError } from "./lib/script.mjs";

const ENGINES = ["wgsl", "onnx-wasm", "onnx-webgpu"];
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm" };
/** One measurement. */
const LIMIT_MS = 60 * 60_000;

await runScript(async () => {
  const executablePath = findChromium();
  if (!executablePath) throw new SetupError("There is no Chromium: run `npm run setup`.");
  const models = (process.argv[2] ?? `${shippedAgents()[0]},smollm2`).split(",");
  const engines = (process.argv[3] ?? ENGINES.join()).split(",");
  const weights = process.argv[4] ?? "stored";
  const folder = mkdtempSync(join(tmpdir(), "bench-engines-"));
  try {
    await buildPage(folder);
    const { address, close } = await serve(folder);
    for (const model of models) {
      const results = [];
      for (const engine of engines) {
        const url = `${address}/?${new URLSearchParams({ engine, model, weights })}`;
        const result = await measure(url, executablePath);
        results.push(result);
        console.log(JSON.stringify(result));
      }
      print(model, weights, results);
    }
    close();
  } finally {
    rmSync(folder, { recursive: true });
  }
});
process.exit();

function shippedAgents() {
  const entries = readdirSync(join(root, "public", "models"), { withFileTypes: true });
  return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).sort();
}

/** @param {string} outDir */
async function buildPage(outDir) {
  const { build } = await import("vite");
  await build({
    configFile: false,
    root: join(root, "scripts", "lib", "benchEngines"),
    base: "./",
    logLevel: "warn",
    publicDir: false,
    worker: { format: "es" },
    build: { target: "es2023", outDir, emptyOutDir: true, chunkSizeWarningLimit: 1500 },
  });
}

/** @param {string} folder */
async function serve(folder) {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const isModel = pathname.startsWith("/models/");
    const file = join(isModel ? join(root, "public") : folder, pathname === "/" ? "index.html" : pathname);
    try {
      const content = readFileSync(file);
      const type = TYPES[/** @type {keyof typeof TYPES} */ (extname(file))] ?? "application/octet-stream";
      // Cross-origin isolation, so that WebAssembly has threads.
      response.writeHead(200, {
        "Content-Type": type,
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Embedder-Policy": "require-corp",
      });
      response.end(content);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return { address: `http://127.0.0.1:${port}`, close: () => server.close() };
}

/** @param {string} url @param {string} executablePath */
async function measure(url, executablePath) {
  const { chromium } = await import("@playwright/test");
  const args = ["--enable-unsafe-webgpu", "--disable-background-networking", "--disable-component-update"];
  if (process.getuid?.() === 0) args.push("--no-sandbox");
  const browser = await chromium.launch({ executablePath, args });
  try {
    const page = await browser.newPage();
    const found = new Promise((resolve) => {
      page.on("console", (message) => {
        if (message.text().startsWith("{")) resolve(JSON.parse(message.text()));
      });
      setTimeout(() => resolve({ type: "failed", message: "took too long" }), LIMIT_MS).unref();
    });
    await page.goto(url);
    return await found;
  } finally {
    await browser.close();
  }
}

/** As rows of a Markdown table, with ratios to the first engine. @param {string} model @param {string} weights @param {any[]} results */
function print(model, weights, results) {
  const first = results[0];
  console.log(`\n${model}, ${weights}\n`);
  console.log("| engine | load, s | decode 1, tokens/s | decode 8, tokens/s | prefill 256, tokens/s |");
  console.log("|---|---|---|---|---|");
  for (const result of results) {
    if (result.type !== "result") {
      console.log(`| ${result.engine ?? "?"} | ${result.message} |`);
      continue;
    }
    const cell = (/** @type {(of: any) => number} */ pick) =>
      `${Number(pick(result).toPrecision(3)).toLocaleString("en")} (${(pick(result) / pick(first)).toPrecision(2)} x)`;
    const cells = [
      cell((of) => of.decodeTokensPerSecond[1]),
      cell((of) => of.decodeTokensPerSecond[8]),
      cell((of) => of.prefillTokensPerSecond),
    ];
    console.log(`| ${result.engine} | ${(result.loadMs / 1000).toFixed(1)} | ${cells.join(" | ")} |`);
  }
}
