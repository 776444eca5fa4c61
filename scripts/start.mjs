/**
 * `npm start`: installs the packages if some are missing, then serves the lab and prints its address. Needs neither a
 * browser nor a GPU on this machine. Further arguments go to Vite: `npm start -- --host`.
 */
import { ensurePackages, requireNode } from "./lib/packages.mjs";
import { root, runScript } from "./lib/script.mjs";

await runScript(async () => {
  requireNode();
  ensurePackages();
  process.chdir(root);
  // Vite's command line reads process.argv; a taken port makes it try the next one.
  await import(new URL("../node_modules/vite/bin/vite.js", import.meta.url).href);
});
