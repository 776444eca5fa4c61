/** The python tool's worker as it is built: its files come from the page's own folder, and nothing leads out of it. */
import { readdirSync } from "node:fs";
import { expect, type Page } from "@playwright/test";
import type { PythonMessage } from "../../src/dual/tools/pythonMessages";
import { test } from "./room";

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

/** Names of the global object and its prototypes in the Python worker. No page script could ask: nothing evaluates. */
async function globalsOfWorker(page: Page): Promise<string[]> {
  const session = await page.context().newCDPSession(page);
  const answer = new Promise<string>((resolve) => {
    session.on("Target.receivedMessageFromTarget", ({ message }) => {
      const { id, result } = JSON.parse(message);
      if (id === 1) resolve(result.result.value);
    });
  });
  session.on("Target.attachedToTarget", ({ sessionId, targetInfo }) => {
    if (!targetInfo.url.includes("pythonWorker")) return;
    const expression = `(() => {
      const names = [];
      for (let owner = globalThis; owner; owner = Object.getPrototypeOf(owner)) names.push(...Reflect.ownKeys(owner));
      return names.map(String).join();
    })()`;
    const message = JSON.stringify({ id: 1, method: "Runtime.evaluate", params: { expression } });
    void session.send("Target.sendMessageToTarget", { sessionId, message });
  });
  await session.send("Target.setAutoAttach", { autoAttach: true, waitForDebuggerOnStart: false, flatten: false });
  return (await answer).split(",");
}

test("Python runs in the browser, from the page's own files, and reaches nothing", async ({ page, baseURL }) => {
  const urls: string[] = [];
  page.context().on("request", (request) => urls.push(request.url()));
  await page.goto("./");
  const outcomes: [program: string, outcome: PythonMessage][] = [
    ["print(abs(1876 - 1843))", { type: "output", text: "33" }],
    ["print(1", { type: "error", message: "SyntaxError: '(' was never closed" }],
    ["import builtins\nbuiltins.abs = None\nx = 1\nprint(x)", { type: "output", text: "1" }],
    ["print(abs(-2), 'x' in globals())", { type: "output", text: "2 False" }],
    ["import js", { type: "error", message: "ModuleNotFoundError: No module named 'js'" }],
    [
      "import urllib.request\nurllib.request.urlopen('http://127.0.0.1:9/')",
      { type: "error", message: "urllib.error.URLError: <urlopen error [Errno 23] Host is unreachable>" },
    ],
    ["open('x', 'w')", { type: "error", message: "OSError: [Errno 69] Read-only file system: 'x'" }],
    ["print([0] * 10**9)", { type: "error", message: "MemoryError" }],
    [
      `import gc
finder = [o for o in gc.get_objects() if type(o).__name__ == 'JsFinder'][0]
finder.jsproxies['pyodide_js'].runPython.constructor('return 1')()`,
      { type: "error", message: "pyodide.ffi.JsException: EvalError: code from text is not allowed here" },
    ],
    ["print(3)", { type: "output", text: "3" }],
  ];
  const told = await runPrograms(
    page,
    outcomes.map(([program]) => program),
  );
  expect(told).toEqual([{ type: "ready" }, ...outcomes.map(([, outcome]) => outcome)]);

  for (const file of [/pyodide.*\.wasm$/, /python_stdlib.*\.zip$/, /pyodide.*\.mjs$/]) {
    expect(urls.some((url) => file.test(url))).toBe(true);
  }
  expect(urls.filter((url) => !url.startsWith(baseURL as string))).toEqual([]);

  const names = await globalsOfWorker(page);
  expect(names).toContain("Object");
  const gone = [
    "fetch",
    "XMLHttpRequest",
    "WebSocket",
    "EventSource",
    "importScripts",
    "Worker",
    "indexedDB",
    "caches",
  ];
  for (const name of [...gone, "navigator", "location", "postMessage", "setTimeout", "MessageChannel", "self"]) {
    expect(names).not.toContain(name);
  }
});
