/**
 * The Python worker of Node (node:worker_threads). Pyodide must not find out that it runs in Node, or it would give its
 * programs the file system, child processes and sockets: it sees a browser's worker whose only files are its own two.
 */
import { readFile } from "node:fs/promises";
import { parentPort } from "node:worker_threads";
import { servePython } from "../dual/tools/pythonSandbox.mjs";

const port = /** @type {import("node:worker_threads").MessagePort} */ (parentPort);
const pyodide = import.meta.resolve("pyodide");

Reflect.deleteProperty(globalThis, "process");
Object.assign(globalThis, {
  self: globalThis,
  WorkerGlobalScope: Object,
  location: new URL("http://pyodide.invalid/"),
});
await servePython({
  pyodide,
  runtime: new URL("pyodide.asm.mjs", pyodide).href,
  fetchFile: async (name) => new Response(await readFile(new URL(name, pyodide))),
  listen: (receive) => port.on("message", receive),
  post: (message) => port.postMessage(message),
});
