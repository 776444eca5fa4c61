/** The page of scripts/benchEngines.mjs: hands its query to the worker and prints what that finds. */
const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
worker.onmessage = ({ data }) => console.log(JSON.stringify(data));
worker.onerror = ({ message }) => console.log(JSON.stringify({ type: "failed", message }));
worker.postMessage(Object.fromEntries(new URLSearchParams(location.search)));
