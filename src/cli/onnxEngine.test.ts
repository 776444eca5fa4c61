/** The command line on onnxruntime-web, which needs no GPU: real files, the reference's numbers. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { CHECKPOINTS, relativeError } from "../../tests/fixtures/onnxModels";
import { openCheckpoint } from "../checkpoint/load";
import { folderSource } from "../checkpoint/nodeFolder";
import { randomCheckpointFiles } from "../checkpoint/randomCheckpoint";
import { loadReferenceModel, referenceHidden, referenceLogits } from "../reference/decoder";
import { main } from "./main";
import { nodeContext } from "./nodeContext";
import { findOnnxFile } from "./nodeOnnxModels";

const folder = mkdtempSync(join(tmpdir(), "lab-onnx-"));
afterAll(() => rmSync(folder, { recursive: true }));

function writeCheckpoint(name: string): string {
  const path = join(folder, name);
  mkdirSync(path, { recursive: true });
  const { config } = CHECKPOINTS["mistral, widths of 32"]!;
  for (const [file, bytes] of Object.entries(randomCheckpointFiles(config, { dtype: "BF16", seed: 6 }))) {
    writeFileSync(join(path, file), bytes);
  }
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

const IDS = [3, 1, 4, 1, 59, 60, 0];

async function forward(command: string, ...options: string[]): Promise<Float32Array> {
  const file = join(folder, "values.f32");
  const found = await lab(command, "--ids", IDS.join(), "--out", file, "--engine", "onnx-wasm", "--json", ...options);
  expect([found.code, found.err]).toEqual([0, ""]);
  const bytes = readFileSync(file);
  return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
}

describe("--engine onnx-wasm", { timeout: 120_000 }, () => {
  it("gives the reference's logits and hidden states of a checkpoint", async () => {
    const model = writeCheckpoint("checkpoint");
    const reference = await loadReferenceModel(await openCheckpoint(folderSource(model)));
    const logits = await forward("logits", "--model", model);
    expect(relativeError(logits, referenceLogits(reference, { ids: IDS }))).toBeLessThan(1e-4);
    const hidden = await forward("hidden", "--model", model);
    expect(relativeError(hidden, referenceHidden(reference, { ids: IDS }))).toBeLessThan(1e-4);
    // Quantized ones are near, and not the same.
    const q8 = relativeError(await forward("logits", "--model", model, "--weights", "q8"), logits);
    expect(q8).toBeGreaterThan(1e-4);
    expect(q8).toBeLessThan(0.1);
  });

  it("runs what `export onnx` wrote, from its folder or as a file", async () => {
    const model = writeCheckpoint("original");
    const out = join(folder, "exported", "onnx");
    const { code, out: printed, err } = await lab("export", "onnx", "--model", model, "--out", out, "--json");
    expect([code, err]).toEqual([0, ""]);
    expect(readdirSync(out).sort()).toEqual(["config.json", "model.onnx", "model.onnx_data"]);
    const { bytes } = JSON.parse(printed) as { bytes: Record<string, number> };
    for (const [file, size] of Object.entries(bytes)) expect(readFileSync(join(out, file)).length).toBe(size);

    const wanted = await forward("logits", "--model", model);
    for (const name of [out, join(out, "model.onnx")]) {
      expect(relativeError(await forward("logits", "--model", name), wanted)).toBeLessThan(1e-5);
    }
  });

  it("exports in fewer bits", async () => {
    const model = writeCheckpoint("large");
    const out = join(folder, "small");
    const { code } = await lab("export", "onnx", "--model", model, "--out", out, "--weights", "q4");
    expect(code).toBe(0);
    const wanted = await forward("logits", "--model", model, "--weights", "q4");
    expect(relativeError(await forward("logits", "--model", out), wanted)).toBeLessThan(1e-4);
  });

  it("says what does not go together, before anything is loaded", async () => {
    const model = writeCheckpoint("plain");
    const exported = join(folder, "small");
    const further = ["--model", exported, "--ids", "1", "--out", join(folder, "x"), "--engine", "onnx-wasm"];
    const { code: onnxCode, err: onnxErr } = await lab("logits", ...further, "--weights", "q8");
    expect(onnxCode).toBe(2);
    expect(onnxErr).toContain("--model: model.onnx has its weights as they are; q8 and q4 need safetensors");
    for (const argv of [
      ["generate", "--prompt", "x", "--model", exported],
      ["export", "onnx", "--out", join(folder, "again"), "--model", join(exported, "model.onnx")],
    ]) {
      const ours = await lab(...argv);
      expect(ours.code).toBe(2);
      expect(ours.err).toContain("is an ONNX model, which runs with --engine onnx-wasm or onnx-webgpu");
    }
    const { code, err } = await lab("export", "onnx", "--model", model, "--out", join(model, "config.json"));
    expect(code).toBe(2);
    expect(err).toContain("config.json is no folder");
    if (!existsSync("/proc")) return;
    const sealed = await lab("export", "onnx", "--model", model, "--out", "/proc/twinloop");
    expect(sealed.code).toBe(2);
    expect(sealed.err).toMatch(/^lab: --out: \/proc.* cannot be written/);
  });
});

describe("eval weights", { timeout: 120_000 }, () => {
  it("tells what fewer bits cost the shipped agent", async () => {
    const { code, out, err } = await lab("eval", "weights", "--engine", "onnx-wasm", "--tokens", "300", "--json");
    expect([code, err]).toEqual([0, ""]);
    const { tokens, results } = JSON.parse(out) as {
      tokens: number;
      results: { weights: string; perplexity: number; agreement: number }[];
    };
    expect(tokens).toBeGreaterThan(250);
    const [stored, q8, q4] = results;
    expect(results.map(({ weights }) => weights)).toEqual(["stored", "q8", "q4"]);
    expect(stored!.agreement).toBe(1);
    expect(q8!.agreement).toBeGreaterThan(0.95);
    expect(Math.abs(Math.log(q8!.perplexity / stored!.perplexity))).toBeLessThan(0.05);
    // Far from chance, and from the same.
    expect(q4!.agreement).toBeGreaterThan(0.6);
    expect(q4!.agreement).toBeLessThan(1);
  });

  it("wants a text", async () => {
    const { code, err } = await lab("eval", "weights", "--text", join(folder, "nowhere.txt"));
    expect(code).toBe(2);
    expect(err).toContain("--text: ENOENT");
  });
});

describe("eval recursion", { timeout: 120_000 }, () => {
  const measure = (...options: string[]) =>
    lab("eval", "recursion", "--engine", "onnx-wasm", "--n", "12", "--seed", "5", "--json", ...options);

  it("measures the shipped links without the tape", async () => {
    const { code, out, err } = await measure("--links", "trained,solver", "--rounds", "2", "--hops", "1");
    expect([code, err]).toEqual([0, ""]);
    type Result = { links: string; accuracy: number; latentSteps: number };
    const { results } = JSON.parse(out) as { results: Result[] };
    const [trained, solver] = results;
    expect(results.map(({ links }) => links)).toEqual(["trained", "solver"]);
    expect(trained!.accuracy).toBeGreaterThan(solver!.accuracy + 0.2);
    expect([trained!.latentSteps, solver!.latentSteps]).toEqual([20, 0]);
  });

  it("refuses links that only the tape computes", async () => {
    const { code, err } = await measure("--links", "trained,ridge");
    expect(code).toBe(2);
    expect(err).toContain("--links: ridge is computed on the tape of --engine wgsl");
  });
});

describe("findOnnxFile", () => {
  const touch = (...path: string[]) => {
    const file = join(folder, ...path);
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, "");
    return file;
  };

  it("finds the file of a folder, of its folder onnx, or itself", () => {
    touch("hub", "config.json");
    const file = touch("hub", "onnx", "model_q4.onnx");
    const hub = join(folder, "hub");
    const wanted = { folder: hub, graphFolder: join(hub, "onnx"), file: "model_q4.onnx" };
    expect(findOnnxFile(hub)).toEqual(wanted);
    expect(findOnnxFile(file)).toEqual(wanted);
    touch("hub", "onnx", "model.onnx");
    expect(findOnnxFile(hub)).toEqual({ ...wanted, file: "model.onnx" });
  });

  it("leaves checkpoints and names alone", () => {
    touch("both", "model.safetensors");
    touch("both", "model.onnx");
    for (const name of [undefined, "twinloop-1m", join(folder, "both"), join(folder, "nowhere")]) {
      expect(findOnnxFile(name)).toBeUndefined();
    }
  });

  it("misses a file that is named", () => {
    expect(() => findOnnxFile(join(folder, "nowhere.onnx"))).toThrow(/--model: there is no file .*nowhere\.onnx/);
  });

  it("wants to know which of several", () => {
    touch("several", "b.onnx");
    touch("several", "a.onnx");
    expect(() => findOnnxFile(join(folder, "several"))).toThrow("holds a.onnx, b.onnx; name one of them");
  });
});
