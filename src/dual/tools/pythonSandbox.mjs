/**
 * The inside of a Python worker, the same in Node and in browsers: loads Pyodide, takes everything away that a program
 * could use to reach out of it, and runs programs, each from the same state. Plain JavaScript, because Node's workers
 * load it as it stands.
 *
 * Two walls. JavaScript: after loading, the worker's global object keeps the language and nothing else (no network, no
 * storage, no timers, no workers), and no code can be made from text, so that a program that finds a way into
 * JavaScript finds nothing there. Python: the modules that lead to JavaScript are hidden, and files cannot be written.
 * Before every program the interpreter's whole memory is put back, so nothing is left of the program before. (Not
 * after it: what a program left in the queue of promises still runs in memory that it knows.)
 */

/** @typedef {import("./pythonMessages").PythonMessage} PythonMessage */

export const PYTHON_OUTPUT_LIMIT = 6_000;
export const PYTHON_ERROR_LIMIT = 500;
export const PYTHON_MEMORY_LIMIT_BYTES = 256 * 2 ** 20;

/**
 * What a worker gives to its inside.
 * @typedef {object} PythonHost
 * @property {string} pyodide URL of pyodide.mjs
 * @property {string} runtime URL of pyodide.asm.mjs
 * @property {(name: "pyodide.asm.wasm" | "python_stdlib.zip") => Promise<Response>} fetchFile
 * @property {(receive: (code: string) => void) => void} listen called once, before anything is taken away
 * @property {(message: PythonMessage) => void} post
 */

/** Pyodide insists on a list of installable packages; there are none. */
const NO_PACKAGES = JSON.stringify({
  info: { abi_version: "2026_0", arch: "wasm32", platform: "emscripten_5_0_0", python: "3.14.2", version: "314.0.7" },
  packages: {},
});

const WASM = "pyodide.asm.wasm";
const STDLIB = "python_stdlib.zip";
const WASM_TYPE = "application/wasm";
/** Where Pyodide believes its files are; nothing is ever fetched from there. */
const FOLDER = "http://pyodide.invalid/";

/** Directory in which programs run. */
const HOME = "/home/pyodide";

/** Error number of a read-only file system, as Emscripten counts. */
const EROFS = 69;

/** What stays of the global object: the language, and what Pyodide still needs. */
const KEPT_GLOBALS = new Set(
  (
    "Object Function Array Number parseFloat parseInt Infinity NaN undefined Boolean String Symbol Date Promise " +
    "RegExp Error AggregateError EvalError RangeError ReferenceError SyntaxError TypeError URIError JSON Math Intl " +
    "ArrayBuffer Uint8Array Int8Array Uint16Array Int16Array Uint32Array Int32Array Float16Array Float32Array " +
    "Float64Array Uint8ClampedArray BigUint64Array BigInt64Array DataView Map BigInt Set WeakMap WeakSet WeakRef " +
    "Proxy Reflect FinalizationRegistry decodeURI decodeURIComponent encodeURI encodeURIComponent isFinite isNaN " +
    "globalThis Iterator WebAssembly TextDecoder TextEncoder performance crypto console"
  ).split(" "),
);

/**
 * Runs in Python before the first program. `run` gives "+" and the output, or "-" and the last line of the traceback.
 */
const PRELUDE = `
def prepare():
    import asyncio, builtins, gc, io, random, sys, time, traceback, types

    hidden = {"js", "pyodide", "pyodide_js", "_pyodide", "_pyodide_core"}

    class Hide:
        @staticmethod
        def find_spec(name, path=None, target=None):
            if name.partition(".")[0] in hidden:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    class Output(io.TextIOBase):
        def __init__(self, limit):
            self.limit = limit
            self.room = limit
            self.parts = []
            self.cut = False

        def writable(self):
            return True

        def write(self, text):
            if not isinstance(text, str):
                raise TypeError(f"write() argument must be str, not {type(text).__name__}")
            if len(text) > self.room and text[self.room:].strip():
                self.cut = True
            if self.room > 0:
                self.parts.append(text[:self.room])
                self.room -= min(self.room, len(text))
            return len(text)

        def text(self):
            note = f"\\n[cut after {self.limit} characters]" if self.cut else ""
            return "".join(self.parts).strip() + note

    def last_line(error, limit):
        told = traceback.TracebackException(type(error), error, error.__traceback__, limit=0, compact=True)
        told.__notes__ = None
        line = list(told.format_exception_only())[-1].strip()
        return line if len(line) <= limit else line[:limit] + "..."

    def run(code, output_limit, error_limit):
        output = Output(output_limit)
        sys.stdout, sys.stderr = output, Output(0)
        main = types.ModuleType("__main__")
        main.__builtins__ = builtins
        sys.modules["__main__"] = main
        try:
            exec(compile(code, "<python>", "exec"), main.__dict__)
        except SystemExit as error:
            if error.code not in (None, 0):
                return "-" + last_line(error, error_limit)
        except BaseException as error:
            return "-" + last_line(error, error_limit)
        return "+" + output.text()

    for name in list(sys.modules):
        if name.partition(".")[0] in hidden:
            del sys.modules[name]
    # Pyodide's event loop is the browser's, which is gone.
    asyncio.run = asyncio.run.__wrapped__
    time.sleep = time.sleep.__wrapped__
    asyncio._set_running_loop(None)
    asyncio.events._set_event_loop_policy(None)
    kept = {"BuiltinImporter", "FrozenImporter", "PathFinder"}
    sys.meta_path[:] = [Hide] + [finder for finder in sys.meta_path if getattr(finder, "__name__", "") in kept]
    # The same program prints the same, today and tomorrow.
    random.seed(0)
    # Everything that is made on first use is made now, so that the state to come back to is complete.
    run("print(1)", 1, 1)
    run("1 / 0", 1, 1)
    gc.collect()
    return run

prepare()
`;

/**
 * Loads Python, locks the worker up, and runs what comes.
 * @param {PythonHost} host
 */
export async function servePython(host) {
  const { listen, post } = host;
  /** @type {(code: string) => void} */
  let run;
  listen((code) => run(code));
  try {
    run = await openPython(host);
    post({ type: "ready" });
  } catch (error) {
    post({ type: "crashed", message: `Python could not be loaded: ${error instanceof Error ? error.message : error}` });
  }
}

/**
 * @param {PythonHost} host
 * @returns {Promise<(code: string) => void>} runs a program and posts its outcome, then restores the state
 */
async function openPython({ pyodide: pyodideUrl, runtime, fetchFile, post }) {
  const [wasm, stdlib] = await Promise.all([download(fetchFile, WASM), download(fetchFile, STDLIB)]);
  globalThis.fetch = async (url) => (String(url).endsWith(WASM) ? wasm : stdlib);
  limitMemory();
  // Pyodide would keep one for its event loop, and a program's callback would find its memory gone.
  Reflect.deleteProperty(globalThis, "MessageChannel");
  const { loadPyodide } = await import(/* @vite-ignore */ pyodideUrl);
  const { default: createPyodideModule } = await import(/* @vite-ignore */ runtime);
  const pyodide = await loadPyodide({
    indexURL: FOLDER,
    createPyodideModule,
    lockFileContents: NO_PACKAGES,
    jsglobals: {},
    // Sets of strings come out in the same order every time.
    env: { HOME, PYTHONHASHSEED: "0" },
    stdin: () => null,
    stdout: () => {},
    stderr: () => {},
  });
  const run = pyodide.runPython(PRELUDE);
  forbidWriting(pyodide.FS);
  lockGlobals();
  // What a program leaves to the garbage collector is gone before that comes round.
  pyodide._module.finalizationRegistry = { register() {}, unregister() {} };
  const restore = snapshot(pyodide);
  return (code) => {
    /** @type {string} */
    let outcome;
    try {
      restore();
      outcome = run(code, PYTHON_OUTPUT_LIMIT, PYTHON_ERROR_LIMIT);
    } catch (error) {
      post({ type: "crashed", message: `Python crashed: ${error instanceof Error ? error.message : error}` });
      return;
    }
    const text = outcome.slice(1);
    post(outcome.startsWith("+") ? { type: "output", text } : { type: "error", message: text });
  };
}

/**
 * Fetched here and not by Pyodide, which waits for ever when a file is missing.
 * @param {PythonHost["fetchFile"]} fetchFile
 * @param {"pyodide.asm.wasm" | "python_stdlib.zip"} name
 * @returns {Promise<Response>}
 */
async function download(fetchFile, name) {
  const response = await fetchFile(name);
  if (!response.ok) throw new Error(`${name}: the server answered ${response.status}`);
  if (name !== WASM || response.headers.get("content-type") === WASM_TYPE) return response;
  // Some servers do not know the type, without which browsers refuse to compile while they load.
  return new Response(response.body, { headers: { "content-type": WASM_TYPE } });
}

/** Growth beyond the limit fails, which Python reports as MemoryError. */
function limitMemory() {
  const { grow } = WebAssembly.Memory.prototype;
  WebAssembly.Memory.prototype.grow = function (/** @type {number} */ pages) {
    if (this.buffer.byteLength + pages * 65_536 > PYTHON_MEMORY_LIMIT_BYTES) throw new RangeError("memory limit");
    return grow.call(this, pages);
  };
}

/**
 * Files live in JavaScript, outside the memory that is put back, so programs only read them.
 * @param {any} fs Emscripten's file system
 */
function forbidWriting(fs) {
  const refuse = () => {
    throw new fs.ErrnoError(EROFS);
  };
  const { dir, file } = fs.filesystems.MEMFS.ops_table;
  for (const name of ["setattr", "mknod", "rename", "unlink", "rmdir", "symlink"]) dir.node[name] = refuse;
  file.node.setattr = refuse;
  file.stream.write = refuse;
}

/**
 * Deletes what is not in KEPT_GLOBALS from the global object and its prototypes, and every way to make code of text.
 * There is no way back.
 */
export function lockGlobals() {
  const blocked = () => {
    throw new EvalError("code from text is not allowed here");
  };
  const makers = [() => {}, async () => {}, function* () {}, async function* () {}];
  for (const maker of makers) {
    const prototype = Object.getPrototypeOf(maker);
    Object.defineProperty(prototype, "constructor", { value: blocked, writable: false, configurable: false });
  }
  blocked.prototype = Function.prototype;
  const silent = Object.freeze(
    Object.fromEntries(["log", "info", "warn", "error", "debug"].map((at) => [at, () => {}])),
  );
  const { global, kept } = { global: globalThis, kept: KEPT_GLOBALS };
  for (let owner = global; owner && owner !== Object.prototype; owner = Object.getPrototypeOf(owner)) {
    for (const name of Reflect.ownKeys(owner)) {
      if (kept.has(/** @type {string} */ (name)) || name === Symbol.toStringTag) continue;
      Reflect.deleteProperty(owner, name);
    }
  }
  for (const [name, value] of Object.entries({ Function: blocked, eval: blocked, console: silent })) {
    Object.defineProperty(global, name, { value, writable: false, configurable: false });
  }
}

/**
 * Remembers the interpreter's memory and gives the function that puts it back. Nothing in JavaScript may point into
 * the memory of a program: that is why timers and the event loop are gone.
 * @param {any} pyodide
 */
function snapshot({ FS: fs, _module: wasm }) {
  const memory = wasm.HEAPU8.slice();
  const streams = new Set(fs.streams.filter(Boolean));
  return () => {
    // The program may have made the memory grow, which replaces the view.
    wasm.HEAPU8.set(memory);
    wasm.HEAPU8.fill(0, memory.length);
    for (const stream of fs.streams) if (stream && !streams.has(stream)) fs.close(stream);
    fs.chdir(HOME);
  };
}
