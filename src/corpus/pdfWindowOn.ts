/**
 * pdf.js's worker module starts to talk to whoever made the worker as soon as it is loaded in one, on the very port that
 * our worker uses; it leaves that in a thread that has a `window`. So there is one, just while the module is evaluated:
 * modules are evaluated in the order of their imports (see pdfWorker.ts), and nothing comes between.
 */
if (typeof (globalThis as { window?: unknown }).window === "undefined") {
  Object.defineProperty(globalThis, "window", { value: globalThis, configurable: true });
  Object.defineProperty(globalThis, "pdfWindow", { value: true, configurable: true });
}
