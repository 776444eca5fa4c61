// Runs one of the TypeScript programs of this folder: node pretrain/run.mjs <name> [arguments].
import { fileURLToPath } from "node:url";
import { runnerImport } from "vite";

const [name, ...args] = process.argv.slice(2);
if (!name) {
  console.error("usage: node pretrain/run.mjs tokenizer|data [arguments]");
  process.exit(2);
}
const { module } = await runnerImport(fileURLToPath(new URL(`./${name}.ts`, import.meta.url)));
await module.main(args);
