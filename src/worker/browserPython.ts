/** Python for browsers: Pyodide in a worker of its own. */
import type { PythonMessage } from "../dual/tools/pythonMessages";
import { PythonQueue } from "../dual/tools/pythonQueue";

/** Downloads about 13 MB and starts its worker on the first call. */
export function browserPython(): PythonQueue {
  return new PythonQueue((onMessage) => {
    const worker = new Worker(new URL("./pythonWorker.ts", import.meta.url), { type: "module" });
    worker.onmessage = (event: MessageEvent<PythonMessage>) => onMessage(event.data);
    worker.onerror = ({ message }) => {
      onMessage({ type: "crashed", message: `Python failed: ${message || "its worker could not be started"}` });
    };
    return { post: (code) => worker.postMessage(code), terminate: () => worker.terminate() };
  });
}
