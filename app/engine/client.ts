/** The page's end of the engine worker: one worker for the page, calls through comlink, messages from one port. */
import { type Remote, transfer, wrap } from "comlink";
import type { EngineApi, EngineMessage } from "../../src/worker/protocol";

/** Starts the worker. `onMessage` gets what streams; `onCrash` is told when the worker's script itself failed. */
export function connectEngine(
  onMessage: (message: EngineMessage) => void,
  onCrash: (detail: string) => void,
): Remote<EngineApi> {
  const worker = new Worker(new URL("../../src/worker/engineWorker.ts", import.meta.url), { type: "module" });
  worker.addEventListener("error", (event) => onCrash(event.message || "the engine's worker could not be started"));
  const api = wrap<EngineApi>(worker);
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = (event: MessageEvent<EngineMessage>) => onMessage(event.data);
  void api.connect(transfer(port2, [port2]));
  return api;
}
