/** The command line on the real engine: what it writes is what the reference computes from the same files. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { ModelConfig } from "../../src/checkpoint/config";
import { openCheckpoint } from "../../src/checkpoint/load";
import { folderSource } from "../../src/checkpoint/nodeFolder";
import { randomCheckpointFiles } from "../../src/checkpoint/randomCheckpoint";
import { main } from "../../src/cli/main";
import { nodeContext } from "../../src/cli/nodeContext";
import { loadReferenceModel, referenceHidden, referenceLogits } from "../../src/reference/decoder";

const folder = mkdtempSync(join(tmpdir(), "lab-gpu-"));
afterAll(() => rmSync(folder, { recursive: true }));

const config: ModelConfig = {
  modelType: "qwen3",
  vocabSize: 61,
  hiddenSize: 24,
  intermediateSize: 40,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  headDim: 8,
  ropeTheta: 10_000,
  rmsNormEps: 1e-6,
  tieWordEmbeddings: true,
  qkvBias: false,
  oBias: false,
  qkNorm: true,
  maxPositions: 64,
  eosIds: [0],
};

/** Only config.json and safetensors: no tokenizer. */
function writeCheckpoint(name: string, files = randomCheckpointFiles(config, { seed: 4 })): string {
  const path = join(folder, name);
  mkdirSync(path, { recursive: true });
  for (const [file, bytes] of Object.entries(files)) writeFileSync(join(path, file), bytes);
  return path;
}

async function lab(...argv: string[]) {
  let [out, err] = ["", ""];
  const code = await main(argv, {
    ...nodeContext(),
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
  });
  return { code, out, err };
}

describe("logits and hidden", () => {
  const ids = [3, 1, 4, 1, 59, 60, 0];

  it.each([
    ["logits", 61, referenceLogits],
    ["hidden", 24, referenceHidden],
  ] as const)("%s agrees with the reference", async (command, width, reference) => {
    const model = writeCheckpoint("qwen3");
    const file = join(folder, `${command}.f32`);
    const { code, out, err } = await lab(command, "--model", model, "--ids", ids.join(), "--out", file, "--json");
    expect([code, err]).toEqual([0, ""]);
    expect(JSON.parse(out)).toEqual({ shape: [ids.length, width] });
    const expected = reference(await loadReferenceModel(await openCheckpoint(folderSource(model))), { ids });
    const bytes = readFileSync(file);
    expect(bytes.length).toBe(4 * expected.length);
    const largest = expected.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    expected.forEach((value, i) => {
      expect(Math.abs(bytes.readFloatLE(4 * i) - value)).toBeLessThan(1e-4 * largest);
    });
  });

  it("refuses a damaged checkpoint by the file's name", async () => {
    const files = randomCheckpointFiles(config, { seed: 4 });
    const weights = files["model.safetensors"]!;
    const model = writeCheckpoint("cut", { ...files, "model.safetensors": weights.slice(0, -10) });
    const { code, out, err } = await lab("logits", "--model", model, "--ids", "1", "--out", join(folder, "x"));
    expect([code, out]).toEqual([1, ""]);
    expect(err).toMatch(/^lab: [^\n]*model\.safetensors[^\n]*\n$/);
  });

  it("refuses a folder that lacks a file", async () => {
    const bare = writeCheckpoint("bare", { "config.json": randomCheckpointFiles(config)["config.json"]! });
    const logits = await lab("logits", "--model", bare, "--ids", "1", "--out", join(folder, "x"));
    expect(logits).toMatchObject({ code: 2, out: "" });
    expect(logits.err).toContain("there is no model.safetensors");
    const generate = await lab("generate", "--model", writeCheckpoint("qwen3"), "--prompt", "x");
    expect(generate).toMatchObject({ code: 2, out: "" });
    expect(generate.err).toContain("there is no tokenizer.json");
  });
});
