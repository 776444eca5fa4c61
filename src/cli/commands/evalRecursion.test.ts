import { mkdtempSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { scriptedModel } from "../../dual/scriptedModel";
import { linkConfig } from "../../links/linkConfig";
import { type LinkSet, writeLinkSetFiles } from "../../links/linkSet";
import { initialLinkTensors } from "../../links/linkTensors";
import type { StoredLink } from "../../links/release";
import { shippedLinkSet } from "../linkFolder";
import { main } from "../main";

const folder = mkdtempSync(join(tmpdir(), "lab-links-"));
afterAll(() => rm(folder, { recursive: true }));

/** Runs the command line; no model can be loaded, so that whatever fails before is seen alone. */
async function lab(args: readonly string[]) {
  let [out, err] = ["", ""];
  const found: (string | undefined)[] = [];
  const model = scriptedModel(() => "");
  const fail = () => Promise.reject(new Error("no device in this test"));
  const code = await main(["eval", "recursion", ...args], {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    errIsTerminal: false,
    models: {
      async find(name) {
        found.push(name);
        return { config: model.config, tokenizer: model.tokenizer, load: fail, loadLatent: fail };
      },
      close() {},
    },
    web: { fetch: fail },
    python: { run: fail, close() {} },
  });
  return { code, out, err, found };
}

const questions = ["--n", "4", "--seed", "1"];

async function expectUsageError(args: readonly string[], message: string) {
  const { code, out, err, found } = await lab(args);
  expect({ code, out, found }).toEqual({ code: 2, out: "", found: [] });
  expect(err).toMatch(/^lab: [^\n]+\n$/);
  expect(err).toContain(message);
}

const sizes = [4, 6, 4];
const names = ["planner", "critic", "solver"];

function linkOf(kind: "inner" | "outer", inputSize: number, outputSize: number): StoredLink {
  const config = linkConfig({ kind, form: "paper", inputSize, outputSize });
  return { config, tensors: initialLinkTensors(config, { seed: 1 }) };
}

function linkSet(): LinkSet {
  return {
    id: "test",
    task: "relay",
    agents: names.map((id, i) => ({ id, model: `model-${i % 2}`, hiddenSize: sizes[i]! })),
    inner: names.map((agent, i) => ({ agent, link: linkOf("inner", sizes[i]!, sizes[i]!) })),
    outer: names.map((from, i) => {
      const to = (i + 1) % 3;
      return { from, to: names[to]!, link: linkOf("outer", sizes[i]!, sizes[to]!) };
    }),
    seeds: {},
    training: { latentSteps: 5 },
  };
}

describe("eval recursion", () => {
  const links = join(folder, "shipped", "b-links");
  beforeAll(async () => {
    await mkdir(links, { recursive: true });
    await mkdir(join(folder, "shipped", "a-other"), { recursive: true });
    for (const [file, bytes] of writeLinkSetFiles(linkSet())) await writeFile(join(links, file), bytes);
    for (const [file, bytes] of writeLinkSetFiles({ ...linkSet(), task: "another" })) {
      await writeFile(join(folder, "shipped", "a-other", file), bytes);
    }
  });

  it("tells its options", async () => {
    const { code, out } = await lab(["--help"]);
    expect(code).toBe(0);
    for (const word of ["--links", "textPadded", "--links-dir", "--deal", "--latent-steps"])
      expect(out).toContain(word);
  });

  it.each([
    [["--seed", "1"], "--n is missing"],
    [[...questions, "--links", "nothing"], 'links: "nothing" is none of trained, identity'],
    [[...questions, "--links", "text,,solver"], "--links has an empty entry"],
    [[...questions, "--rounds", "0"], "--rounds: number 1 must be a whole number, at least 1"],
    [[...questions, "--task", "chess"], "--task must be one of relay"],
    [[...questions, "--pattern", "ring"], "--pattern must be one of sequential, distillation, mixture"],
    [[...questions, "--batch", "1"], "--batch must be a whole number, at least 2"],
    [[...questions, "--agents", "a,b", "--links", "text"], "--agents: sequential has 3 agents, not 2"],
    [[...questions, "--agents", "a,b,c", "--links", "text,trained,shuffled"], "trained, shuffled needs trained links"],
    [[...questions, "--links-dir", join(folder, "nowhere")], "--links-dir: there is no file or folder"],
  ])("%j is refused before a model is looked for", async (args, message) => {
    await expectUsageError(args, message);
  });

  it("takes the agents that the links name, or others", async () => {
    expect((await lab([...questions, "--links-dir", links])).found).toEqual(["model-0", "model-1", "model-0"]);
    const own = await lab([...questions, "--agents", "x, y,x", "--links", "text"]);
    expect(own).toMatchObject({ code: 1, found: ["x", "y", "x"] });
    expect(own.err).toContain("no device in this test");
  });

  it("finds the shipped set of a task and a number of agents", async () => {
    const shipped = join(folder, "shipped");
    expect((await shippedLinkSet("relay", 3, shipped))?.id).toBe("test");
    expect((await shippedLinkSet("relay", 3, shipped))?.task).toBe("relay");
    expect(await shippedLinkSet("relay", 4, shipped)).toBeUndefined();
    expect(await shippedLinkSet("relay", 3, join(folder, "nowhere"))).toBeUndefined();
  });
});
