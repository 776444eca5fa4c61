import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { modelFolder } from "./nodeModels";
import { UsageError } from "./options";

const folder = mkdtempSync(join(tmpdir(), "models-"));
afterAll(() => rmSync(folder, { recursive: true }));

const shipped = join(folder, "shipped");
for (const [name, files] of [
  ["shipped/beta", ["config.json", "tokenizer.json", "model.safetensors"]],
  ["shipped/alpha", ["config.json", "tokenizer.json", "model.safetensors.index.json"]],
  ["own", ["config.json", "model.safetensors"]],
  ["bare", ["config.json"]],
] as const) {
  mkdirSync(join(folder, name), { recursive: true });
  for (const file of files) writeFileSync(join(folder, name, file), "{}");
}
writeFileSync(join(folder, "shipped", "README.md"), "no agent");

const find = (name?: string, files = ["config.json"]) => modelFolder(name, files, shipped);

describe("modelFolder", () => {
  it("finds shipped agents by id, and the first of them without a name", () => {
    expect(find("beta")).toBe(join(shipped, "beta"));
    expect(find()).toBe(join(shipped, "alpha"));
  });

  it("finds any other folder by its path", () => {
    expect(find(join(folder, "own"))).toBe(join(folder, "own"));
  });

  it("says what is missing", () => {
    expect(() => find("gamma")).toThrow(UsageError);
    expect(() => find("gamma")).toThrow('--model: "gamma" is no folder, and no shipped agent (alpha, beta)');
    expect(() => find("README.md")).toThrow('--model: "README.md" is no folder');
    expect(() => find(join(folder, "own"), ["config.json", "tokenizer.json"])).toThrow(
      `--model: there is no tokenizer.json in ${join(folder, "own")}`,
    );
    expect(() => find(join(folder, "bare"))).toThrow(
      "there is no model.safetensors or model.safetensors.index.json in",
    );
    expect(() => modelFolder(undefined, [], join(folder, "nowhere"))).toThrow("there is no shipped agent");
  });
});
