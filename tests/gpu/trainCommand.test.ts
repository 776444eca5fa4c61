/** `train` on the real engine: from new links to a set that `eval recursion` takes, with an interruption between. */
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ModelConfig } from "../../src/checkpoint/config";
import { randomCheckpointFiles } from "../../src/checkpoint/randomCheckpoint";
import { main } from "../../src/cli/main";
import { nodeContext } from "../../src/cli/nodeContext";
import { type TrainingEvent, trainingEventSchema } from "../../src/trace/trainingEvents";

const folder = mkdtempSync(join(tmpdir(), "lab-train-gpu-"));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string) => join(folder, name);

const SHIPPED = "public/models/twinloop-relay-s";

beforeAll(() => {
  const { vocab_size: vocabSize } = JSON.parse(readFileSync(`${SHIPPED}/config.json`, "utf8"));
  for (const [name, hiddenSize] of [
    ["narrow", 16],
    ["wide", 24],
  ] as const) {
    const config: ModelConfig = {
      modelType: "qwen3",
      vocabSize,
      hiddenSize,
      intermediateSize: 32,
      layers: 1,
      heads: 2,
      kvHeads: 1,
      headDim: 8,
      ropeTheta: 10_000,
      rmsNormEps: 1e-6,
      tieWordEmbeddings: true,
      qkvBias: false,
      oBias: false,
      qkNorm: true,
      maxPositions: 256,
      eosIds: [1],
    };
    mkdirSync(at(name));
    const files = randomCheckpointFiles(config, { seed: hiddenSize });
    for (const [file, bytes] of Object.entries(files)) writeFileSync(join(at(name), file), bytes);
    for (const file of ["tokenizer.json", "tokenizer_config.json"]) {
      copyFileSync(join(SHIPPED, file), join(at(name), file));
    }
  }
});

async function lab(argv: string[], onOut: (text: string) => void = () => {}) {
  let [out, err] = ["", ""];
  const code = await main(argv, {
    ...nodeContext(),
    out: (text) => {
      out += text;
      onOut(text);
    },
    err: (text) => {
      err += text;
    },
  });
  const events = () =>
    out
      .split("\n")
      .slice(0, -1)
      .map((line) => trainingEventSchema.parse(JSON.parse(line)));
  return { code, out, err, events };
}

const lossesOf = (events: readonly TrainingEvent[]) =>
  events.flatMap((event) => (event.type === "trainingStep" ? [event.loss] : []));

const agents = () => ["--agents", `planner=${at("narrow")},critic=${at("wide")},solver=${at("narrow")}`];
const small = ["--batch", "2", "--latent-steps", "2", "--validation-n", "3"];
const looked = ["--steps", "6", "--validate-every", "3"];

describe("train", () => {
  it("inner, interrupted and resumed, then outer, then an evaluation of the links", { timeout: 600_000 }, async () => {
    const inner = [...agents(), ...small, ...looked, "--json"];
    const whole = await lab(["train", "inner", ...inner, "--out", at("whole.safetensors")]);
    expect(whole.err).toBe("");
    expect(whole.code).toBe(0);
    const losses = lossesOf(whole.events());
    expect(losses).toHaveLength(6);
    const types = whole.events().map(({ type }) => type);
    // Before the first step, every third, and after the last; saved at the end.
    expect(types.filter((type) => type === "trainingValidation")).toHaveLength(3);
    expect(types.slice(-2)).toEqual(["trainingFinished", "trainingSaved"]);

    // Ctrl-C after the second step: the file is written and goes on exactly.
    const first = await lab(["train", "inner", ...inner, "--out", at("run.safetensors")], (line) => {
      if (line.includes('"trainingStep"') && JSON.parse(line).step === 2) process.emit("SIGINT", "SIGINT");
    });
    expect(first.code).toBe(0);
    expect(first.err).toContain("stopping after this step");
    expect(first.events().at(-2)).toMatchObject({ type: "trainingFinished", reason: "stopped", step: 2 });
    const run = ["--resume", at("run.safetensors"), ...agents(), "--out", at("run.safetensors"), "--json"];
    const second = await lab(["train", "inner", ...run]);
    expect(second.code).toBe(0);
    expect([...lossesOf(first.events()), ...lossesOf(second.events())]).toEqual(losses);
    expect(readFileSync(at("run.safetensors"))).toEqual(readFileSync(at("whole.safetensors")));

    const outer = ["--links", at("run.safetensors"), ...agents(), ...small, ...looked, "--rounds-mix", "1,2"];
    const told = await lab(["train", "outer", ...outer, "--save-every", "4", "--out", at("links.safetensors")]);
    expect(told.code).toBe(0);
    expect(told.out).toMatch(/^outer links: outer\/planner\/critic, outer\/critic\/solver, outer\/solver\/planner; /);
    expect(told.out.match(/^step \d+ {2}loss .* rounds [12] .*/gm)).toHaveLength(6);
    expect(told.out.match(/^saved at step 4$/m)).not.toBeNull();

    // Outer links begin anew after an inner run, as is asked for, and go on from those of an outer run otherwise.
    const firstLoss = async (...argv: string[]) => {
      const one = await lab([
        "train",
        "outer",
        ...agents(),
        ...small,
        ...argv,
        "--out",
        at("one.safetensors"),
        "--json",
      ]);
      expect(one.err).toBe("");
      return lossesOf(one.events())[0]!;
    };
    const short = ["--steps", "1", "--validate-every", "0"];
    const starts = [
      await firstLoss("--links", at("run.safetensors"), ...short),
      await firstLoss("--links", at("run.safetensors"), "--start", "aligned", ...short),
      await firstLoss("--links", at("run.safetensors"), "--start", "ridge", ...short),
      await firstLoss("--links", at("links.safetensors"), ...short),
    ];
    expect(starts[1]).toBe(starts[0]);
    expect(new Set(starts).size).toBe(3);

    const evaluation = await lab([
      ...["eval", "recursion", "--links-dir", at("links.safetensors"), "--links", "trained", "--rounds", "2"],
      ...["--agents", `${at("narrow")},${at("wide")},${at("narrow")}`, "--n", "4", "--seed", "1", "--json"],
    ]);
    expect(evaluation.err).toBe("");
    // Two messages of two vectors in the first round and three in the second, less the last agent's answer.
    expect(JSON.parse(evaluation.out).results[0]).toMatchObject({ links: "trained", n: 4, latentSteps: 10 });
  });
});
