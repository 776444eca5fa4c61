/** The python tool's interpreter as it is: what programs get, what they cannot reach, and that nothing stays of them. */
import { Worker } from "node:worker_threads";
import { afterAll, describe, expect, it } from "vitest";
import { nodePython } from "./nodePython";

// One interpreter for all tests that leave it alive: loading takes seconds.
const python = nodePython();
afterAll(() => python.close());
const fails = (code: string, message: string | RegExp) => expect(python.run(code)).rejects.toThrow(message);

describe("nodePython", { timeout: 240_000 }, () => {
  it("gives what a program prints, trimmed", async () => {
    expect(await python.run("print(abs(1876 - 1843))")).toBe("33");
    expect(await python.run("\nprint()\nprint('é', '🙂')\nprint(1, file=__import__('sys').stderr)\n")).toBe("é 🙂");
    expect(await python.run("x = 1 + 1\nx")).toBe("");
    expect(await python.run("import sys\nprint('done')\nsys.exit()\nprint('not reached')")).toBe("done");
  });

  it("has the standard library", async () => {
    const code = "import datetime, fractions, json, math, re, statistics\nprint(statistics.mean([1, 2]), math.tau > 6)";
    expect(await python.run(code)).toBe("1.5 True");
  });

  it.each([
    ["print(1", "SyntaxError: '(' was never closed"],
    ["prnt(1)", "NameError: name 'prnt' is not defined. Did you mean: 'print'?"],
    ["def f():\n  return {}['a']\nprint('before')\nf()", /^KeyError: 'a'$/],
    ["import numpy", "ModuleNotFoundError: No module named 'numpy'"],
    ["import sys\nsys.exit('bad')", "SystemExit: bad"],
    ["class E(Exception):\n  pass\ne = E('told')\ne.add_note('a note')\nraise e", /E: told$/],
    ["def f(n):\n  return f(n + 1)\nf(0)", "RecursionError: maximum recursion depth exceeded"],
    ["x = [0] * 10**9", "MemoryError"],
    ["print(input())", "EOFError: EOF when reading a line"],
    [`raise ValueError("${"v".repeat(1_000)}")`, /^ValueError: v{488}\.\.\.$/],
  ])("says what is wrong with %j", fails);

  it("cuts long output with a note", async () => {
    expect(await python.run("print('é' * 6000)\nprint()")).toBe("é".repeat(6_000));
    expect(await python.run("print('é' * 6001)")).toBe(`${"é".repeat(6_000)}\n[cut after 6000 characters]`);
    const many = await python.run("for i in range(5000):\n  print(i)");
    expect(many).toMatch(/^0\n1\n2\n/);
    expect(many).toMatch(/\n\[cut after 6000 characters\]$/);
  });

  it("runs many calls at once, each with its own result", async () => {
    const calls = Array.from({ length: 50 }, (_, i) => (i % 10 === 3 ? `1 / 0 # ${i}` : `print(${i} ** 2)`));
    const results = await Promise.allSettled(calls.map((code) => python.run(code)));
    for (const [i, result] of results.entries()) {
      if (i % 10 === 3) expect(result).toMatchObject({ reason: { message: "ZeroDivisionError: division by zero" } });
      else expect(result).toMatchObject({ value: String(i ** 2) });
    }
  });

  describe("nothing stays of a program", () => {
    it.each([
      ["a global", "x = 1\nprint(x)", "print('x' in globals(), __name__)", "False __main__"],
      ["a builtin", "import builtins\nbuiltins.abs = None\nprint(abs)", "print(abs(-1))", "1"],
      ["a module", "import math\nmath.pi = 3\nprint(math.pi)", "import math\nprint(math.pi > 3)", "True"],
      ["an import", "import queue\nprint(1)", "import sys\nprint('queue' in sys.modules)", "False"],
      [
        "a setting",
        "import sys\nsys.setrecursionlimit(50)\nprint(1)",
        "def f(n):\n  return n and f(n - 1)\nprint(f(99))",
        "0",
      ],
      [
        "the directory",
        "import os\nos.chdir('/')\nprint(os.getcwd())",
        "import os\nprint(os.getcwd())",
        "/home/pyodide",
      ],
      [
        "an open file",
        "import builtins\nbuiltins.f = open('/dev/null')\nprint(f.fileno())",
        "print(open('/dev/null').fileno())",
        "3",
      ],
      ["memory", "x = b'1' * (60 * 2**20)\nprint(len(x))", "print(len(bytes(60 * 2**20).lstrip(b'\\0')))", "0"],
    ])("not %s", async (_, first, second, result) => {
      expect(await python.run(first)).not.toBe("");
      expect(await python.run(second)).toBe(result);
    });

    it("not even chance: the same program prints the same", async () => {
      const code = "import random\nprint(random.random(), hash('a'), {'a', 'b', 'c'})";
      expect(await python.run(code)).toBe(await python.run(code));
    });
  });

  describe("a program cannot reach", () => {
    it.each([
      ["the network by urllib", "import urllib.request\nurllib.request.urlopen('http://127.0.0.1:9/')", "URLError"],
      ["the network by sockets", "import socket\nsocket.create_connection(('127.0.0.1', 9))", "Host is unreachable"],
      ["JavaScript", "import js\njs.fetch('http://127.0.0.1:9/')", "No module named 'js'"],
      ["JavaScript by Pyodide", "from pyodide.code import run_js", "No module named 'pyodide'"],
      ["Pyodide's network", "from pyodide.http import pyfetch", "No module named 'pyodide'"],
      ["Pyodide's interface", "import pyodide_js", "No module named 'pyodide_js'"],
      ["Pyodide's core", "import _pyodide_core", "No module named '_pyodide_core'"],
      ["files of the host", "print(open('/etc/passwd').read())", "FileNotFoundError"],
      ["files to write", "open('notes.txt', 'w').write('x')", "Read-only file system"],
      ["its own library", "open('/lib/python314.zip', 'r+b', buffering=0).write(b'x')", "Read-only file system"],
      ["other programs", "import subprocess\nsubprocess.run(['ls'])", "does not support processes"],
      ["threads", "import threading\nthreading.Thread(target=print).start()", "can't start new thread"],
    ])("%s", (_, code, message) => fails(code, message));

    it("variables of the environment", async () => {
      const names = JSON.parse(await python.run("import json, os\nprint(json.dumps(list(os.environ)))"));
      for (const name of Object.keys(process.env)) {
        if (!["HOME", "LANG", "LOGNAME", "PATH", "PWD", "USER", "_"].includes(name)) expect(names).not.toContain(name);
      }
    });

    // Objects of JavaScript can be dug up from the garbage collector's lists; there is nothing behind them.
    describe("by what it digs up", () => {
      const dig = `import gc
finder = [o for o in gc.get_objects() if type(o).__name__ == 'JsFinder'][0]
p = finder.jsproxies['pyodide_js']
`;

      it.each([
        ["code", "p.runPython.constructor('return 1')()", "code from text is not allowed"],
        ["a file system", "p.mountNodeFS('/home/x', '/')", "only works in Node"],
        ["the event loop", "p._api.scheduleCallback(print, 0)", "ReferenceError: setTimeout is not defined"],
      ])("%s", async (_, code, message) => {
        expect(await python.run(`${dig}print(p.version)`)).toMatch(/^\d+\./);
        await fails(`${dig}${code}`, message);
      });
    });

    it("anything but the language by JavaScript itself", async () => {
      const sandbox = JSON.stringify(new URL("../dual/tools/pythonSandbox.mjs", import.meta.url).href);
      const worker = new Worker(
        `import(${sandbox}).then(({ lockGlobals }) => {
          const port = require("node:worker_threads").parentPort;
          lockGlobals();
          const makers = [() => {}, async () => {}, function* () {}, async function* () {}].map((f) => f.constructor);
          const made = [eval, Function, ...makers].map((make) => {
            try { return String(make("1")); } catch (error) { return error.message; }
          });
          port.postMessage({ names: Reflect.ownKeys(globalThis).map(String), made });
        });`,
        { eval: true },
      );
      const { names, made } = await new Promise<Record<string, string[]>>((resolve, reject) => {
        worker.once("message", resolve).once("error", reject);
      });
      await worker.terminate();
      for (const name of ["fetch", "WebSocket", "process", "require", "setTimeout", "MessageChannel", "navigator"]) {
        expect(names).not.toContain(name);
      }
      expect(new Set(made)).toEqual(new Set(["code from text is not allowed here"]));
      expect(made).toHaveLength(6);
    });
  });

  it("tells of a crash of the interpreter", async () => {
    await fails("import ctypes\nctypes.CDLL(None).emscripten_run_script(b'1')", "code from text is not allowed here");
  });

  it("stops an endless program at its limit, works again, and stops one that is aborted", async () => {
    const hasty = nodePython({ timeMs: 1_500 });
    try {
      await expect(hasty.run("while True: print(1)")).rejects.toThrow("ran longer than 1.5 s and was stopped");
      expect(await hasty.run("print(2)")).toBe("2");
      const controller = new AbortController();
      const aborted = hasty.run("while True: pass", controller.signal);
      setTimeout(() => controller.abort(new Error("stopped by hand")), 300);
      await expect(aborted).rejects.toThrow("stopped by hand");
    } finally {
      hasty.close();
    }
  });
});
