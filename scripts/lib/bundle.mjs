/**
 * Turns a TypeScript entry file into one JavaScript file that Node can import: in memory, some tens of milliseconds,
 * and never stale because it is done anew at every start. Installed packages stay outside and are imported by Node
 * itself.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./script.mjs";

const folder = join(root, "node_modules", ".cache", "twinloop-bundles");
const dayInMs = 24 * 60 * 60 * 1000;

/** Text imports as in Vite, and `import.meta.url` as the place of the source instead of that of the bundle. */
const sourceFiles = {
  name: "twinloop-source-files",
  /** @param {string} id */
  load(id) {
    if (!id.endsWith("?raw")) return null;
    const text = readFileSync(id.slice(0, -"?raw".length), "utf8");
    return { code: `export default ${JSON.stringify(text)};`, moduleType: /** @type {const} */ ("js") };
  },
  /** @param {string} code @param {string} id */
  transform(code, id) {
    if (!code.includes("import.meta.url") || id.includes("node_modules")) return null;
    return code.replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href));
  },
};

/**
 * Bundles and imports an entry file.
 * @param {string} entry absolute path of a TypeScript file
 * @returns {Promise<any>} its module
 */
export async function importTypeScript(entry) {
  const { rolldown } = await import("rolldown");
  const bundle = await rolldown({
    input: entry,
    cwd: root,
    platform: "node",
    logLevel: "silent",
    external: (id) => !/^(\.{0,2}\/|[A-Za-z]:\\)/.test(id),
    plugins: [sourceFiles],
  });
  const { output } = await bundle.generate({ format: "esm", codeSplitting: false, sourcemap: "inline" });
  await bundle.close();
  const { code } = output[0];
  // Bare imports are looked up from where the file lies, so it must lie inside the repository. Its name is its
  // content: several commands may start at once.
  const file = join(folder, `${createHash("sha256").update(code).digest("hex").slice(0, 16)}.mjs`);
  if (!existsSync(file)) {
    mkdirSync(folder, { recursive: true });
    for (const name of readdirSync(folder)) {
      const other = join(folder, name);
      const written = statSync(other, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
      if (Date.now() - written > dayInMs) rmSync(other, { force: true });
    }
    const unfinished = `${file}.${process.pid}`;
    writeFileSync(unfinished, code);
    renameSync(unfinished, file);
  }
  process.setSourceMapsEnabled(true);
  return import(pathToFileURL(file).href);
}
