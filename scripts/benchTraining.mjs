/**
 * `node scripts/benchTraining.mjs [repetitions]`: a step of outer-loop link training on this machine's device, with the
 * device's own kernels and without subgroups, in turns, and which kernels the time goes to. Times are given as they
 * passed and as the processors worked; on cores that are shared with other programs read the ratios.
 */
import { join } from "node:path";
import { importTypeScript } from "./lib/bundle.mjs";
import { applyGpuEnvironment, describeGpuEnvironment } from "./lib/gpuEnvironment.mjs";
import { root, runScript, SetupError } from "./lib/script.mjs";

await runScript(async () => {
  const found = applyGpuEnvironment();
  if (!found) throw new SetupError(describeGpuEnvironment(null));
  console.log(describeGpuEnvironment(found));
  const { benchTraining } = await importTypeScript(join(root, "scripts", "benchTraining", "measure.ts"));
  await benchTraining(Number(process.argv[2] ?? 3));
});
process.exit();
