/**
 * `npm run -s lab -- <command>`: the library in Node. Picks the WebGPU device before anything loads Dawn, then runs
 * src/cli/main.ts from its TypeScript source. Standard output belongs to the command alone.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { importTypeScript } from "./lib/bundle.mjs";
import { applyGpuEnvironment, describeGpuEnvironment } from "./lib/gpuEnvironment.mjs";
import { root, runScript, SetupError } from "./lib/script.mjs";

// A reader that stops early (`| head`) is no failure of the command.
process.stdout.on("error", (error) => {
  if (/** @type {NodeJS.ErrnoException} */ (error).code === "EPIPE") process.exit(0);
  throw error;
});

/** @param {string[]} args */
const worksWithoutGpu = (args) =>
  ["pack", "export"].includes(args[0] ?? "") || args.some((arg) => /^(--engine=)?onnx-wasm$/.test(arg));

await runScript(async () => {
  for (const name of ["rolldown", "webgpu"]) {
    if (existsSync(join(root, "node_modules", name))) continue;
    throw new SetupError("The npm packages are not installed: run `npm run setup`.");
  }
  if (!applyGpuEnvironment() && !worksWithoutGpu(process.argv.slice(2))) {
    throw new SetupError(describeGpuEnvironment(null));
  }
  // npm starts scripts in the repository; paths on the command line mean the folder where it was typed.
  if (process.env.npm_lifecycle_event === "lab" && process.env.INIT_CWD) process.chdir(process.env.INIT_CWD);
  const { main } = await importTypeScript(join(root, "src", "cli", "main.ts"));
  process.exitCode = await main(process.argv.slice(2));
});
// Dawn would keep the process alive. Writing an empty string waits until everything before it is out.
process.stdout.write("", () => process.exit());
