/**
 * The Python worker of Node (node:worker_threads). Pyodide must not find out that it runs in Node, or it would give its
 * programs the file system, child processes and sockets: it sees a browser's worker whose only files are its own two.
 */
import { readFile } from "node:fs/promises";
import { parentPort } from "node:worker_threads";
import { openPython } from "../dual/tools/pythonSandbox.mjs";

const INDEX_URL = "http://pyodide.invalid/";
const STDLIB = "python_stdlib.zip";

const port = /** @type {import("node:worker_threads").MessagePort} */ (parentPort);
const folder = import.meta.resolve("pyodide/pyodide.mjs");
const [wasm, stdlib] = await Promise.all(["pyodide.asm.wasm", STDLIB].map((name) => readFile(new URL(name, folder))));

/** @type {(code: string) => void} */
let run;
port.on("message", (code) => run(code));

Reflect.deleteProperty(globalThis, "process");
Object.assign(globalThis, {
  self: globalThis,
  WorkerGlobalScope: Object,
  location: new URL(INDEX_URL),
  /** @param {unknown} url */
  fetch: async (url) =>
    new Response(String(url).endsWith(STDLIB) ? stdlib : wasm, { headers: { "content-type": "application/wasm" } }),
});
const { loadPyodide } = await import("pyodide");
const { default: createPyodideModule } = await import("pyodide/pyodide.asm.mjs");
run = await openPython(
  { loadPyodide, createPyodideModule, indexUrl: INDEX_URL, stdlibUrl: `${INDEX_URL}${STDLIB}` },
  (message) => port.postMessage(message),
);
port.postMessage({ type: "ready" });
