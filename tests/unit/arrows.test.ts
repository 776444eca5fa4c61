/**
 * The import rules of .dependency-cruiser.cjs. A configuration that silently reads no module, or a rule whose pattern
 * matches nothing, passes for ever: so every rule is broken once in a small tree made for the purpose.
 */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { cruise, type IConfiguration, type ICruiseOptions, type ICruiseResult } from "dependency-cruiser";
import extractTSConfig from "dependency-cruiser/config-utl/extract-ts-config";
import { afterAll, describe, expect, test } from "vitest";

const repository = fileURLToPath(new URL("../../", import.meta.url));
const configuration: IConfiguration = createRequire(import.meta.url)("../../.dependency-cruiser.cjs");
const folders: string[] = [];

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Runs the repository's rules over a tree; paths in the result are relative to `baseDir`. */
async function cruiseTree(baseDir: string, roots: string[]): Promise<ICruiseResult> {
  const { options, ...ruleSet } = configuration;
  const settings = { ...options, ruleSet, validate: true, baseDir } as ICruiseOptions;
  const result = await cruise(roots, settings, undefined, {
    tsConfig: extractTSConfig(join(repository, "tsconfig.json")),
  });
  if (typeof result.output === "string") throw new Error("dependency-cruiser answered with text");
  return result.output;
}

/** Writes a tree of files, runs the rules over it, and returns the names of the broken rules, sorted. */
async function brokenRules(files: Record<string, string>): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), "twinloop-arrows-"));
  folders.push(folder);
  symlinkSync(join(repository, "node_modules"), join(folder, "node_modules"));
  const all = { "app/main.ts": "export {};", "src/index.ts": "export {};", "shaders/add.wgsl": "", ...files };
  for (const [name, text] of Object.entries(all)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const { summary } = await cruiseTree(folder, ["app", "src", "shaders"]);
  return [...new Set(summary.violations.map(({ rule }) => rule.name))].sort();
}

const gpuFile = { "src/gpu/device.ts": "export const device = 1;" };

/** For each rule, a tree that breaks it. */
const breaches: Record<string, Record<string, string>> = {
  "gpu-looks-down": { ...gpuFile, "src/gpu/a.ts": 'import "../tensor/b";', "src/tensor/b.ts": "export {};" },
  "tensor-looks-down": { "src/tensor/a.ts": 'import "../model/b";', "src/model/b.ts": "export {};" },
  "model-links-onnx-looks-down": { "src/links/a.ts": 'import "../dual/b";', "src/dual/b.ts": "export {};" },
  "recursion-dual-looks-down": { "src/dual/a.ts": 'import "../train/b";', "src/train/b.ts": "export {};" },
  "train-looks-down": { "src/train/a.ts": 'import "../experiments/b";', "src/experiments/b.ts": "export {};" },
  "experiments-looks-down": { "src/experiments/a.ts": 'import "../worker/b";', "src/worker/b.ts": "export {};" },
  "pure-knows-no-gpu": {
    ...gpuFile,
    "src/world/a.ts": 'import { device } from "../gpu/device"; export default device;',
  },
  "library-knows-no-page": { "src/dual/a.ts": 'import "../../app/b";', "app/b.ts": "export {};" },
  "only-page-has-ui": { "src/dual/a.ts": 'import { create } from "zustand"; export default create;' },
  "rooms-are-islands": { "app/rooms/one/a.ts": 'import "../two/b";', "app/rooms/two/b.ts": "export {};" },
  "shared-knows-no-room": { "app/stores/a.ts": 'import "../rooms/two/b";', "app/rooms/two/b.ts": "export {};" },
  "page-uses-public-api": {
    ...gpuFile,
    "app/a.ts": 'import { device } from "../src/gpu/device"; export default device;',
  },
  "command-line-is-a-leaf": { "src/dual/a.ts": 'import "../cli/b";', "src/cli/b.ts": "export {};" },
  "library-runs-in-browsers": {
    "src/dual/a.ts": 'import { readFileSync } from "node:fs"; export default readFileSync;',
  },
  "page-reaches-no-node-file": {
    "src/index.ts": 'export * from "./gpu/open";',
    "src/gpu/open.ts": 'export * from "./nodeDevice";',
    "src/gpu/nodeDevice.ts": "export const one = 1;",
  },
  "shaders-belong-to-engine": {
    "src/dual/a.ts": 'import text from "../../shaders/add.wgsl?raw"; export default text;',
  },
  "no-cycles": {
    "src/dual/a.ts": 'import { b } from "./b"; export const a = () => b;',
    "src/dual/b.ts": 'import { a } from "./a"; export const b = () => a;',
  },
  "not-to-unresolvable": { "src/dual/a.ts": 'import "./nowhere";' },
  "product-knows-no-test": { "src/dual/a.ts": 'import "./b.test";', "src/dual/b.test.ts": "export {};" },
};

describe("import rules", () => {
  test("every rule has a tree that breaks it", () => {
    expect(Object.keys(breaches).sort()).toEqual(configuration.forbidden?.map(({ name }) => name).sort());
  });

  test.each(Object.entries(breaches))("%s is reported when it is broken", async (rule, files) => {
    expect(await brokenRules(files)).toEqual([rule]);
  });

  test("a type-only import of the GPU by a pure folder is reported", async () => {
    const files = {
      ...gpuFile,
      "src/text/a.ts": 'import type { device } from "../gpu/device"; export type A = typeof device;',
    };
    expect(await brokenRules(files)).toEqual(["pure-knows-no-gpu"]);
  });

  test("a tree that keeps the rules is not reported", async () => {
    const files = {
      ...gpuFile,
      "src/tensor/a.ts": 'import text from "../../shaders/add.wgsl?raw"; import "../gpu/device"; export default text;',
      "src/cli/main.ts": 'import "node:fs"; import "../tensor/a";',
      "src/index.ts": 'export { device } from "./gpu/device";',
      "app/rooms/one/a.tsx":
        'import { create } from "zustand"; import { device } from "../../../src"; import "./b"; create(device);',
      "app/rooms/one/b.ts": "export {};",
    };
    expect(await brokenRules(files)).toEqual([]);
  });

  test("the repository itself is read, type imports included", async () => {
    const { summary, modules } = await cruiseTree(repository, ["src"]);
    expect(summary.totalCruised).toBeGreaterThan(10);
    const model = modules.find(({ source }) => source === "src/model/languageModel.ts");
    expect(model?.dependencies.map(({ resolved }) => resolved)).toContain("src/text/tokenizer.ts");
  });
});
