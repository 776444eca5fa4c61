/**
 * `node scripts/bench.mjs`: how fast the decoder reads and writes on this machine, with random weights in the shape of
 * the shipped agent. Times are given as they passed and as the processors worked: on a software device that shares its
 * cores with other programs only the latter can be compared.
 */
import { join } from "node:path";
import { importTypeScript } from "./lib/bundle.mjs";
import { applyGpuEnvironment, describeGpuEnvironment } from "./lib/gpuEnvironment.mjs";
import { root, runScript, SetupError } from "./lib/script.mjs";

await runScript(async () => {
  const found = applyGpuEnvironment();
  if (!found) throw new SetupError(describeGpuEnvironment(null));
  console.log(describeGpuEnvironment(found));
  const { benchDecoder } = await importTypeScript(join(root, "scripts", "lib", "benchDecoder.ts"));
  await benchDecoder();
});
