/** Python for Node: Pyodide in a worker thread, without the machine's files or network. */
import { Worker } from "node:worker_threads";
import { type PythonLimits, PythonQueue } from "../dual/tools/pythonQueue";

/** Starts its worker on the first call. `close` when it is not needed any more. */
export function nodePython(limits?: PythonLimits): PythonQueue {
  return new PythonQueue((onMessage) => {
    // No environment variables either; what the worker prints by itself belongs to nobody.
    const worker = new Worker(new URL("./nodePythonWorker.mjs", import.meta.url), {
      env: {},
      execArgv: [],
      stdout: true,
      stderr: true,
    });
    worker.on("message", onMessage);
    worker.on("error", (error) => onMessage({ type: "crashed", message: `Python failed: ${error.message}` }));
    worker.on("exit", () => onMessage({ type: "crashed", message: "Python ended by itself." }));
    // An idle interpreter must not keep the program alive; a call does, by its time limit.
    worker.unref();
    return { post: (code) => worker.postMessage(code), terminate: () => void worker.terminate() };
  }, limits);
}
