/** The command line's surroundings in Node: standard streams, models on Dawn, Python; the last two load on first use. */
import type { CliContext, ModelFinder } from "./command";
import { nodePython } from "./nodePython";

export function nodeContext(): CliContext {
  return {
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
    errIsTerminal: process.stderr.isTTY === true,
    models: lazily(async () => (await import("./nodeModels")).nodeModels()),
    python: nodePython(),
    web: {
      headers: { "user-agent": "Twinloop/0.1 (a research lab; Node.js)" },
      ...(process.env.OPENALEX_API_KEY && { openAlexKey: process.env.OPENALEX_API_KEY }),
    },
  };
}

/** Commands without a model must not need a GPU, and help must not wait for one. */
function lazily(load: () => Promise<ModelFinder>): ModelFinder {
  let loaded: Promise<ModelFinder> | undefined;
  return {
    async find(name, options) {
      loaded ??= load();
      return (await loaded).find(name, options);
    },
    async close() {
      await (await loaded)?.close();
    },
  };
}
