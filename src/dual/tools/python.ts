/**
 * The python tool: runs a program and returns what it printed, as one document. Which interpreter runs it is the
 * caller's choice (`PythonRunner`): Pyodide in a worker of Node or of the browser. The agents in `pretrain/` are trained
 * on a tool of this name, with these arguments.
 */
import type { ToolFunction } from "../../text/tokenizer";
import type { Tool } from "../tool";

export interface PythonRunner {
  /**
   * Runs one program from a fresh state and gives what it printed, trimmed. Calls run one after the other.
   * @throws Error with the last line of the traceback, or with what stopped the program; the signal's reason after an
   * abort
   */
  run(code: string, signal?: AbortSignal): Promise<string>;
}

export const PYTHON_FUNCTION: ToolFunction = {
  name: "python",
  description: "Runs Python code and returns what it prints.",
  parameters: {
    type: "object",
    properties: {
      code: { type: "string", minLength: 1, description: "the program; print the result" },
      purpose: { type: "string", minLength: 1, description: "what you need to know" },
    },
    required: ["code", "purpose"],
  },
};

/** Milliseconds of one program. */
export const PYTHON_TIME_LIMIT_MS = 10_000;
/** Pyodide's four files. */
const PYTHON_LOAD_BYTES = 13_000_000;

/** The tool that System 2 calls as `python`. A program that prints nothing is an error for System 2 to read. */
export function pythonTool(runner: PythonRunner): Tool {
  return {
    function: PYTHON_FUNCTION,
    cost: { requests: 0, limitMs: PYTHON_TIME_LIMIT_MS, firstLoadBytes: PYTHON_LOAD_BYTES },
    async run(args, signal) {
      const text = await runner.run(String(args.code), signal);
      if (text === "") throw new Error("The code printed nothing. Print the result.");
      return [{ id: "output", title: "output", text }];
    },
  };
}
