/** The python tool's worker as it is built: its files come from the page's own folder, and nothing leads out of it. */
import { readdirSync } from "node:fs";
import { expect, type Page, test } from "@playwright/test";
import type { PythonMessage } from "../../src/dual/tools/pythonMessages";

/** Starts the worker and runs programs in it, one after the other. */
function runPrograms(page: Page, programs: readonly string[]): Promise<PythonMessage[]> {
  const [file] = readdirSync("dist/assets").filter((name) => /^pythonWorker-.*\.js$/.test(name));
  return page.evaluate(
    async ([url, ...codes]) => {
      const worker = new Worker(new URL(url as string, document.baseURI), { type: "module" });
      const next = () =>
        new Promise<PythonMessage>((resolve, reject) => {
          worker.onmessage = (event) => resolve(event.data);
          worker.onerror = (event) => reject(new Error(event.message));
        });
      const messages = [await next()];
      for (const code of codes) {
        worker.postMessage(code);
        messages.push(await next());
      }
      return messages;
    },
    [`assets/${file}`, ...programs],
  );
}

const DIG = `import gc
p = [o for o in gc.get_objects() if type(o).__name__ == 'JsFinder'][0].jsproxies['pyodide_js']
`;

test("Python runs in the browser, from the page's own files, and reaches nothing", async ({ page, baseURL }) => {
  const urls: string[] = [];
  page.context().on("request", (request) => urls.push(request.url()));
  await page.goto("./");
  const results = await runPrograms(page, [
    "print(abs(1876 - 1843))",
    "print(1",
    "import builtins\nbuiltins.abs = None\nx = 1\nprint(x)",
    "print(abs(-2), 'x' in globals())",
    "import js",
    "import urllib.request\nurllib.request.urlopen('http://127.0.0.1:9/')",
    "open('notes.txt', 'w')",
    `${DIG}p.runPython.constructor('return 1')()`,
    `${DIG}print([n for n in dir(p._module) if 'ync' in n or 'oad' in n])`,
    "print([0] * 10**9)",
    "print(3)",
  ]);
  console.log(results);
  for (const url of urls) expect(url.startsWith(baseURL as string)).toBe(true);
  expect(urls.some((url) => url.endsWith(".wasm"))).toBe(true);
  const [worker] = page.workers().filter((candidate) => candidate.url().includes("pythonWorker"));
  console.log(await worker?.evaluate("Object.getOwnPropertyNames(globalThis).join()"));
  console.log(await worker?.evaluate("const o=[]; for (let p = globalThis; p; p = Object.getPrototypeOf(p)) o.push(Object.getOwnPropertyNames(p).length + String(Object.getOwnPropertyNames(p).slice(0,20))); o.join(' | ')"));
});
