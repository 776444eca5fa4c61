/** `train inner` and `train outer`: what is wrong with the arguments is named before any device is touched. */
import { mkdtempSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { linkConfig } from "../links/linkConfig";
import { type LinkSet, writeLinkSet } from "../links/linkSet";
import { initialLinkTensors } from "../links/linkTensors";
import { parseTrainingSettings } from "../train/settings";
import { writeTrainingFile } from "../train/trainingFile";
import { main } from "./main";
import { UsageError } from "./options";

const folder = mkdtempSync(join(tmpdir(), "lab-train-"));
afterAll(() => rm(folder, { recursive: true }));
const at = (name: string) => join(folder, name);

async function lab(...argv: string[]) {
  let [out, err] = ["", ""];
  const found: string[] = [];
  const code = await main(argv, {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    errIsTerminal: false,
    models: {
      async find(name) {
        found.push(name ?? "");
        throw new UsageError("--model: no model in this test");
      },
      close() {},
    },
    web: { fetch: () => Promise.reject(new Error("no test uses the network")) },
    python: { run: async () => "", close() {} },
  });
  return { code, out, err, found };
}

const links: LinkSet = {
  id: "some",
  task: "relay",
  agents: ["planner", "critic", "solver"].map((id) => ({ id, model: "tiny", hiddenSize: 4 })),
  inner: [],
  outer: [],
  seeds: {},
  training: {},
};

beforeAll(async () => {
  const config = linkConfig({ kind: "inner", form: "released", inputSize: 4, outputSize: 4 });
  const link = { config, tensors: initialLinkTensors(config, { seed: 1 }) };
  const moments = link.tensors.map(({ values }) => ({ first: values.slice(), second: values.slice() }));
  const run = writeTrainingFile({
    settings: parseTrainingSettings({ stage: "inner" }),
    step: 3,
    roles: ["planner", "critic", "solver"],
    links: { ...links, inner: [{ agent: "planner", link }] },
    moments: new Map([["inner/planner", moments]]),
  });
  await writeFile(at("inner.safetensors"), run);
  await writeFile(at("links.safetensors"), writeLinkSet(links));
  await writeFile(at("half.safetensors"), run.subarray(0, 500));
});

const OUT = ["--out", at("out.safetensors")];
const fails = async (argv: string[], message: string) => {
  const { code, out, err } = await lab(...argv);
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err).toMatch(/^lab: [^\n]+\n$/);
  expect(err).toContain(message);
};

describe("train", () => {
  it.each<[string[], string]>([
    [["train", "inner"], "--out is missing"],
    [["train", "inner", "--out", at("no/where")], "--out: there is no folder"],
    [["train", "inner", ...OUT, "--steps", "0"], "--steps must be a whole number, at least 1; got 0"],
    [["train", "inner", ...OUT, "--lr", "0"], "--lr must be a number, above 0"],
    [["train", "inner", ...OUT, "--deals", "with,along"], "--deals: training settings: deals.1"],
    [["train", "inner", ...OUT, "--batch", "100000"], "--batch: training settings: batch"],
    [["train", "inner", ...OUT, "--rounds-mix", "1,2"], "Unknown option '--rounds-mix'"],
    [["train", "inner", ...OUT, "--resume", at("none")], "--resume: ENOENT"],
    [["train", "inner", ...OUT, "--resume", at("inner.safetensors"), "--lr", "1e-3"], "--lr: a resumed run keeps its"],
    [["train", "inner", ...OUT, "--agents", "a,b"], "--agents: 2 agents instead of planner=...,critic=...,solver=..."],
    [["train", "inner", ...OUT, "--agents", "planner=a,critic=b,judge=c"], "--agents: no model of the solver"],
    [["train", "outer", ...OUT], "--links is missing: outer links are trained on inner ones"],
    [["train", "outer", ...OUT, "--links", at("none")], "--links: there is no file or folder"],
    [["train", "outer", ...OUT, "--links", folder], "--links: there is no links.json in"],
    [["train", "outer", ...OUT, "--resume", at("inner.safetensors")], "is a run of train inner"],
    [["train", "outer", ...OUT, "--feedback", "text"], "--feedback must be one of rollout, teacherForced"],
    [
      ["train", "inner", ...OUT, "--resume", at("inner.safetensors"), "--links", at("links.safetensors")],
      "--links: a resumed run has its own",
    ],
  ])("%j is refused", fails);

  it("refuses a file that is no run, or damaged, by name", async () => {
    for (const [file, message] of [
      ["links.safetensors", "no training run, links at most"],
      ["half.safetensors", "half.safetensors: "],
    ] as const) {
      const { code, err } = await lab("train", "inner", ...OUT, "--resume", at(file));
      expect(code).toBe(1);
      expect(err).toContain(at(file));
      expect(err).toContain(message);
    }
  });

  it("takes the agents of a run that is resumed, and looks for each model once", async () => {
    const { found } = await lab("train", "inner", ...OUT, "--resume", at("inner.safetensors"));
    expect(found.length).toBeGreaterThan(0);
    expect(new Set(found)).toEqual(new Set(["tiny"]));
    const { found: named } = await lab("train", "inner", ...OUT, "--agents", "solver=a,planner=b,critic=a");
    expect(named).toEqual(["b", "a"]);
  });

  it("tells the defaults of its settings", async () => {
    const { out } = await lab("train", "outer", "--help");
    const { steps, learningRate, batch } = parseTrainingSettings({ stage: "outer" });
    expect(out).toContain(`optimizer steps (default ${steps})`);
    expect(out).toContain(`highest learning rate (default ${learningRate})`);
    expect(out).toContain(`questions a step (default ${batch})`);
  });
});
