/** The Python worker of browsers. The build copies Pyodide's files beside the page; nothing comes from another host. */
import runtime from "pyodide/pyodide.asm.mjs?url";
import wasm from "pyodide/pyodide.asm.wasm?url";
import pyodide from "pyodide/pyodide.mjs?url";
import stdlib from "pyodide/python_stdlib.zip?url";
import { servePython } from "../dual/tools/pythonSandbox.mjs";

const { fetch, postMessage } = self;
const urls = { "pyodide.asm.wasm": wasm, "python_stdlib.zip": stdlib };

void servePython({
  pyodide,
  runtime,
  fetchFile: (name) => fetch(urls[name]),
  listen: (receive) => self.addEventListener("message", (event: MessageEvent<string>) => receive(event.data)),
  post: (message) => postMessage(message),
});
