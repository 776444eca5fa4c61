/**
 * `npm run -s lab -- <command>`: the library in Node. Picks the WebGPU device before anything loads Dawn, then runs
 * src/cli/main.ts from its TypeScript source: Vite's module runner resolves imports, and shaders as text, exactly as
 * the page and the tests do. Standard output belongs to the command alone.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { applyGpuEnvironment, describeGpuEnvironment } from "./lib/gpuEnvironment.mjs";
import { root, runScript, SetupError } from "./lib/script.mjs";

/** Everything under src/ is evaluated by this runner; installed packages are imported by Node itself. */
async function openRunner() {
  const { createRunnableDevEnvironment, resolveConfig } = await import("vite");
  const config = await resolveConfig(
    {
      root,
      configFile: false,
      envDir: false,
      logLevel: "silent",
      cacheDir: join(root, "node_modules", ".cache", "lab"),
      environments: {
        lab: {
          consumer: "server",
          dev: { moduleRunnerTransform: true },
          resolve: { external: true, mainFields: [], conditions: ["node"] },
        },
      },
    },
    "serve",
  );
  const environment = createRunnableDevEnvironment("lab", config, {
    runnerOptions: { hmr: { logger: false } },
    hot: false,
  });
  await environment.init();
  return environment.runner;
}

// A reader that stops early (`| head`) is no failure of the command.
process.stdout.on("error", (error) => {
  if (/** @type {NodeJS.ErrnoException} */ (error).code === "EPIPE") process.exit(0);
  throw error;
});

await runScript(async () => {
  for (const name of ["vite", "webgpu"]) {
    if (existsSync(join(root, "node_modules", name))) continue;
    throw new SetupError("The npm packages are not installed: run `npm run setup`.");
  }
  if (!applyGpuEnvironment()) throw new SetupError(describeGpuEnvironment(null));
  // npm starts scripts in the repository; paths on the command line mean the folder where it was typed.
  if (process.env.npm_lifecycle_event === "lab" && process.env.INIT_CWD) process.chdir(process.env.INIT_CWD);
  const runner = await openRunner();
  const { main } = await runner.import(join(root, "src", "cli", "main.ts"));
  process.exitCode = await main(process.argv.slice(2));
});
// Dawn would keep the process alive. Writing an empty string waits until everything before it is out.
process.stdout.write("", () => process.exit());
