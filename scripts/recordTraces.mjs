/**
 * `node scripts/recordTraces.mjs [name...]`: records the runs that the page is shipped with (public/traces) anew, with
 * the engine of the page on Dawn. To be run after an agent, links, prompts or events changed; names choose among them.
 */
import { join } from "node:path";
import { importTypeScript } from "./lib/bundle.mjs";
import { applyGpuEnvironment, describeGpuEnvironment } from "./lib/gpuEnvironment.mjs";
import { root, runScript, SetupError } from "./lib/script.mjs";

await runScript(async () => {
  const found = applyGpuEnvironment();
  if (!found) throw new SetupError(describeGpuEnvironment(null));
  console.log(describeGpuEnvironment(found));
  // What is asked belongs to the page's rooms, which scripts do not import: the page's own list is bundled by itself.
  const { RECORDINGS } = await importTypeScript(join(root, "app", "recordings.ts"));
  const { recordTraces } = await importTypeScript(join(root, "scripts", "recordTraces", "recordTraces.ts"));
  await recordTraces(RECORDINGS, join(root, "public"), process.argv.slice(2));
});
// Dawn would keep the process alive.
process.stdout.write("", () => process.exit());
