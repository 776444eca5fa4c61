import { mkdtempSync } from "node:fs";
import { mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SYSTEM1_INSTRUCTION } from "../dual/prompts";
import { type ScriptedModel, scriptedModel } from "../dual/scriptedModel";
import type { LanguageModel } from "../model/languageModel";
import { makeWorld } from "../world/world";
import type { FindOptions } from "./command";
import { main } from "./main";
import { UsageError } from "./options";

const folder = mkdtempSync(join(tmpdir(), "lab-"));
afterAll(() => rm(folder, { recursive: true }));

/** Runs the command line with a scripted model; `loads` holds the options of each time that it was loaded. */
async function lab(
  argv: string[],
  model: LanguageModel = scriptedModel(() => "yes"),
  fetch: typeof globalThis.fetch = () => Promise.reject(new Error("no test uses the network")),
) {
  let [out, err, closed] = ["", "", 0];
  const found: [string | undefined, FindOptions | undefined][] = [];
  const loads: unknown[] = [];
  const code = await main(argv, {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    errIsTerminal: false,
    models: {
      async find(name, options) {
        found.push([name, options]);
        if (name === "missing") throw new UsageError('--model: there is no folder "missing"');
        const load = async (loadOptions?: object) => {
          loads.push(loadOptions);
          return model;
        };
        const loadLatent = async () => Promise.reject(new Error("a scripted model has no latents"));
        return { config: model.config, tokenizer: model.tokenizer, load, loadLatent };
      },
      close() {
        closed++;
      },
    },
    web: { fetch },
    python: {
      run: async (program) => `printed by ${program}`,
      close() {
        closed++;
      },
    },
  });
  expect(closed).toBe(2);
  // Bad arguments are found before a device is touched.
  if (code === 2) expect(loads).toEqual([]);
  return { code, out, err, found, loads, json: () => JSON.parse(out) as unknown };
}

/** Exit code 2, one line on standard error that holds the text, nothing on standard output, no model opened. */
async function expectUsageError(argv: string[], message: string) {
  const { code, out, err } = await lab(argv);
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err).toMatch(/^lab: [^\n]+\n$/);
  expect(err).toContain(message);
}

describe("commands", () => {
  it.each([[["--help"]], [["-h"]]])("%s lists all commands", async (argv) => {
    const { code, out, err } = await lab(argv);
    expect([code, err]).toEqual([0, ""]);
    for (const name of ["research", "eval dual", "pack", "logits", "hidden", "generate"]) expect(out).toContain(name);
  });

  it.each(["research", "eval dual", "pack", "logits", "hidden", "generate"])(
    "%s --help tells its options",
    async (name) => {
      const { code, out, err, found } = await lab([...name.split(" "), "--help"]);
      expect([code, err, found]).toEqual([0, "", []]);
      expect(out).toContain(`${name}:`);
      expect(out).toContain("--json");
    },
  );

  it("eval --help lists what can be evaluated", async () => {
    expect((await lab(["eval", "--help"])).out).toContain("eval dual");
  });

  it.each([
    [[], "no command given; commands: research, eval dual, "],
    [["train"], 'unknown command "train"'],
    [["eval"], 'unknown command "eval"; commands: eval dual'],
    [["eval", "single"], 'unknown command "eval single"'],
    [["--json"], 'unknown command "--json"'],
    [["nonsense", "--help"], 'unknown command "nonsense --help"'],
  ])("refuses %j", async (argv, message) => expectUsageError(argv, message));
});

describe("pack", () => {
  const pack = (...more: string[]) => ["pack", "--capacity", "10", "--lengths", "5,7,12,2", ...more];

  it("prints one JSON object", async () => {
    const { code, out, err, json } = await lab(pack("--json"));
    expect([code, err]).toEqual([0, ""]);
    expect(out.endsWith("}\n")).toBe(true);
    expect(json()).toEqual({
      bins: [
        { items: [2], used: 10 },
        { items: [1, 3], used: 9 },
        { items: [0], used: 5 },
      ],
      capacity: 10,
      lowerBound: 3,
      utilization: 0.8,
      truncated: [2],
    });
  });

  it("takes an algorithm, and prints a table otherwise", async () => {
    expect((await lab(pack("--json", "--algorithm=nf"))).json()).toMatchObject({
      bins: [{ items: [0] }, { items: [1] }, { items: [2] }, { items: [3] }],
    });
    expect((await lab(pack())).out).toContain("2:12 (cut)");
  });

  it.each([
    [["pack"], "--capacity is missing"],
    [["pack", "--capacity", "10"], "--lengths is missing"],
    [["pack", "--lengths", "1", "--capacity"], "'--capacity <value>' argument missing"],
    [["pack", "--lengths", "1", "--capacity", "0"], "--capacity must be a whole number, at least 1; got 0"],
    [["pack", "--lengths", "1", "--capacity=-3"], "--capacity must be a whole number, at least 1; got -3"],
    [["pack", "--lengths", "1", "--capacity", "ten"], '--capacity must be a whole number; got "ten"'],
    [["pack", "--lengths", "1", "--capacity", "1e3"], '--capacity must be a whole number; got "1e3"'],
    [["pack", "--lengths", "1", "--capacity", "99999999999999999999"], "--capacity must be a whole number"],
    [["pack", "--lengths", "1", "--capacity", ""], '--capacity must be a whole number; got ""'],
    [["pack", "--lengths", "1,,2", "--capacity", "9"], '--lengths: number 2 must be a whole number; got ""'],
    [["pack", "--lengths", "", "--capacity", "9"], "--lengths: number 1 must be a whole number"],
    [["pack", "--lengths=-1", "--capacity", "9"], "--lengths: number 1 must be a whole number, at least 0; got -1"],
    [["pack", "--lengths", "1.5", "--capacity", "9"], '--lengths: number 1 must be a whole number; got "1.5"'],
    [["pack", "--lengths", "-1,2", "--capacity", "9"], "'--lengths' argument is ambiguous"],
    [pack("--algorithm", "best"), '--algorithm must be one of ffd, ff, nf, bf, one; got "best"'],
    [pack("--capacity", "11"), "--capacity is given more than once"],
    [pack("--frobnicate"), "Unknown option '--frobnicate'"],
    [pack("stray"), "Unexpected argument 'stray'"],
    [pack("--json=yes"), "--json"],
  ])("refuses %j", async (argv, message) => expectUsageError(argv, message));
});

/** Searches for the subject of a question's first step, then answers with the gold answer of the world. */
function researcher(seed: number, questions = 100): ScriptedModel {
  const world = makeWorld(seed, { questions });
  return scriptedModel((prompt) => {
    if (prompt.includes(SYSTEM1_INSTRUCTION)) return "[1] a quote";
    const question = world.questions.find(({ text }) => prompt.includes(`<user>${text}\n`));
    if (!question) return "never heard of it";
    if (prompt.includes("<tool>")) return question.hops === 2 ? "wrong" : (question.gold[0] as string);
    const args = { query: question.chain[0]?.subject, purpose: "the first step" };
    return `<tool_call>${JSON.stringify({ name: "search", arguments: args })}</tool_call>`;
  });
}

describe("research", () => {
  const question = makeWorld(7, { questions: 10 }).questions[3]!;
  /** Scripted answers are right but for questions of two hops. */
  const right = question.hops !== 2;

  it("answers a question of a world and grades it", async () => {
    const { code, err, json } = await lab(["research", "--seed", "7", "--index", "3", "--json"], researcher(7));
    expect([code, err]).toEqual([0, ""]);
    const result = json() as { turns: { documents: unknown[] }[]; ledger: object };
    expect(result).toMatchObject({ question: question.text, gold: question.gold, correct: right, reason: "answer" });
    expect(result.turns).toHaveLength(2);
    expect(result.turns[0]?.documents.length).toBeGreaterThan(0);
    expect(result.ledger).toMatchObject({ system1Calls: expect.any(Number), rawTokens: expect.any(Number) });
  });

  it("takes a typed question: graded when it is one of the world's, otherwise not", async () => {
    const known = await lab(["research", "--question", question.text, "--seed", "7", "--json"], researcher(7));
    expect(known.json()).toMatchObject({ gold: question.gold, correct: right });
    const unknown = await lab(["research", "--question", "Who?", "--json"], researcher(7));
    expect(unknown.json()).toMatchObject({ question: "Who?", answer: "never heard of it" });
    expect(unknown.json()).not.toHaveProperty("gold");
    expect(unknown.json()).not.toHaveProperty("correct");
  });

  it("says that there is no answer, with its reason", async () => {
    const model = scriptedModel(() => "<tool_call>");
    const { code, json } = await lab(["research", "--index", "0", "--max-turns", "2", "--json"], model);
    expect(code).toBe(0);
    expect(json()).toMatchObject({ answer: null, reason: "turnLimit" });
  });

  it("runs programs", async () => {
    const args = { code: "print(7)", purpose: "the result" };
    const model = scriptedModel((prompt) => {
      if (prompt.includes("printed by print(7)")) return prompt.includes(SYSTEM1_INSTRUCTION) ? prompt : "seven";
      return `<tool_call>${JSON.stringify({ name: "python", arguments: args })}</tool_call>`;
    });
    const { json } = await lab(["research", "--seed", "7", "--index", "3", "--json", "--no-system1"], model);
    const { turns } = json() as { turns: { call?: object; documents?: object[] }[] };
    expect(turns[0]).toMatchObject({ call: { name: "python", arguments: args }, documents: [{ title: "output" }] });
    expect(json()).toMatchObject({ answer: "seven" });
  });

  describe("over one's own files", () => {
    const notes = join(folder, "notes");
    beforeAll(async () => {
      await mkdir(join(notes, "deep", ".git"), { recursive: true });
      await writeFile(join(notes, "oder.md"), "# Rivers\n\n## Oder\n\nThe Oder is 840 km long.\n");
      await writeFile(join(notes, "deep", "towns.csv"), "town,river\nBreslau,Oder\n");
      await writeFile(join(notes, "deep", "photo.png"), Uint8Array.of(0x89, 0x50, 0x4e, 0x47));
      await writeFile(join(notes, "deep", ".git", "config"), "Oder");
      await writeFile(join(folder, "single.txt"), "The Oder rises in Moravia.");
      await symlink(notes, join(notes, "deep", "loop"));
    });
    const searching = scriptedModel((prompt) => {
      if (prompt.includes(SYSTEM1_INSTRUCTION)) return "- The Oder is 840 km long.";
      if (prompt.includes("<tool>")) return "840 km";
      return `<tool_call>{"name":"search","arguments":{"query":"Oder","purpose":"its length"}}</tool_call>`;
    });
    const ask = (...more: string[]) =>
      lab(
        ["research", "--question", "How long is the Oder?", "--corpus", notes, join(folder, "single.txt"), ...more],
        searching,
      );

    it("reads folders and files, tells what it skipped, and keeps the sources", async () => {
      const { code, err, json } = await ask("--json");
      expect(code).toBe(0);
      expect(err).toBe(
        `skipped: ${join(notes, "deep", "photo.png")} is a picture\n` +
          "corpus: 3 passages of at most 256 tokens from 3 files\n",
      );
      const result = json() as { turns: { documents: { title: string; source: object }[] }[]; corpus: object };
      const documents = result.turns[0]!.documents.map(({ title, source }) => [title, source]);
      expect(documents).toHaveLength(3);
      expect(documents).toContainEqual([
        "Rivers / Oder",
        { kind: "file", file: join(notes, "oder.md"), start: 19, end: 43, line: 5 },
      ]);
      expect(documents).toContainEqual([
        "towns / Breslau",
        { kind: "file", file: join(notes, "deep", "towns.csv"), start: 0, end: 26, row: 1 },
      ]);
      expect(result).toMatchObject({
        answer: "840 km",
        corpus: {
          files: [{ kind: "csv" }, { kind: "markdown", title: "Rivers", passages: 1 }, { kind: "text" }],
          skipped: [{ reason: "is a picture" }],
        },
      });
      expect(result).not.toHaveProperty("gold");
    });

    it("names the sources in its report", async () => {
      const { out } = await ask();
      expect(out).toContain(`${join(notes, "oder.md")}, line 5`);
      expect(out).toContain(`${join(notes, "deep", "towns.csv")}, row 1`);
    });

    it("refuses a folder with nothing to read", async () => {
      await mkdir(join(folder, "bare"));
      await expectUsageError(
        ["research", "--question", "Q", "--corpus", join(folder, "bare")],
        "there is nothing to read",
      );
    });
  });

  describe("with tools of the network", () => {
    const call = (name: string) =>
      `<tool_call>{"name":"${name}","arguments":{"query":"Oder","purpose":"length"}}</tool_call>`;
    const calling = (name: string) =>
      scriptedModel((prompt) =>
        prompt.includes("<tool>") ? "done" : prompt.includes(SYSTEM1_INSTRUCTION) ? "-" : call(name),
      );
    const answering =
      (...bodies: object[]): typeof fetch =>
      async () =>
        Response.json(bodies.length > 1 ? bodies.shift() : bodies[0]);

    it("has none of them by default", async () => {
      const { err, json } = await lab(["research", "--index", "0", "--json"], calling("wikipedia"));
      expect(err).toBe("");
      const { turns } = json() as { turns: { error: string }[] };
      expect(turns[0]?.error).toContain('there is no tool "wikipedia". Tools: search, python.');
    });

    it("says what it sends, and uses them", async () => {
      const fetch = answering(
        { query: { search: [{ pageid: 1, title: "Oder" }] } },
        { query: { pages: [{ title: "Oder", extract: "The Oder is long." }] } },
      );
      const { err, json } = await lab(
        ["research", "--index", "0", "--json", "--wikipedia", "de"],
        calling("wikipedia"),
        fetch,
      );
      expect(err).toMatch(/sent to Wikipedia \(de\.wikipedia\.org\)/);
      expect(json()).toMatchObject({
        turns: [{ documents: [{ source: { url: "https://de.wikipedia.org/wiki/Oder" } }] }, {}],
        answer: "done",
      });
      const work = { id: "https://openalex.org/W1", display_name: "On the Oder" };
      const live = await lab(
        ["research", "--index", "0", "--scholar", "openalex"],
        calling("scholar"),
        answering({ results: [work] }),
      );
      expect(live.err).toContain("sent to OpenAlex (api.openalex.org)");
      expect(live.out).toContain("https://openalex.org/W1");
    });

    it("finds shipped papers without it", async () => {
      const { err, json } = await lab(
        ["research", "--index", "0", "--json", "--scholar", "papers"],
        calling("scholar"),
      );
      expect(err).toBe("");
      expect(json()).toMatchObject({ turns: [{ error: 'Error: No paper matches "Oder". Try other words.' }, {}] });
    });
  });

  it("prints a readable report", async () => {
    const { out } = await lab(["research", "--seed", "7", "--index", "3"], researcher(7));
    for (const part of [question.text, "Turn 2", "the first step", "[1] a quote", "gold", "System 2 context"]) {
      expect(out).toContain(part);
    }
  });

  it("hands options on", async () => {
    const model = researcher(7);
    const args = ["--no-system1", "--temperature", "0.7", "--top-k", "5", "--search-results", "2"];
    const { json } = await lab(["research", "--seed", "7", "--index", "3", "--json", ...args], model);
    expect((json() as { turns: { documents: unknown[] }[] }).turns[0]?.documents).toHaveLength(2);
    expect((json() as { ledger: object }).ledger).toMatchObject({ system1Calls: 0 });
    expect(model.requests[0]).toMatchObject({ temperature: 0.7, topK: 5, topP: 1 });
  });

  it("fails with exit code 1 and one line when the engine fails", async () => {
    const { code, out, err } = await lab(
      ["research", "--index", "0", "--json"],
      scriptedModel(() => new Error("device\nlost")),
    );
    expect([code, out, err]).toEqual([1, "", "lab: device lost\n"]);
  });

  it.each([
    [["research"], "give either --question or --index"],
    [["research", "--question", "Q", "--index", "1"], "give either --question or --index"],
    [["research", "--question", ""], "--question is empty"],
    [["research", "--index", "-1"], "--index"],
    [
      ["research", "--index", "1", "--seed", "4294967296"],
      "--seed must be a whole number, at least 0, at most 4294967295",
    ],
    [["research", "--index", "1", "--capacity", "0"], "--capacity must be"],
    [["research", "--index", "1", "--temperature", "hot"], '--temperature must be a number; got "hot"'],
    [["research", "--index", "1", "--temperature", "NaN"], "--temperature must be a number"],
    [["research", "--index", "1", "--top-p", "1.1"], "--top-p must be a number, above 0, at most 1; got 1.1"],
    [["research", "--index", "1", "--top-p", "0"], "--top-p must be a number, above 0, at most 1; got 0"],
    [["research", "--index", "1", "--top-k", "4294967296"], "--top-k must be a whole number"],
    [
      ["research", "--question", "Q", "--corpus", "no-such-folder"],
      '--corpus: there is no file or folder "no-such-folder"',
    ],
    [["research", "--index", "1", "--corpus", "."], "--index needs a shipped corpus"],
    [["research", "--index", "1", "--corpus", ""], "--corpus is empty"],
    [["research", "--index", "1", "--scholar", "google"], "--scholar must be one of none, papers, openalex"],
    [["research", "--index", "1", "--wikipedia", "x/y"], '--wikipedia: language must be like "en"'],
    [["research", "--index", "1", "stray"], "Unexpected argument 'stray'"],
    [["research", "--index", "1", "--model", "missing"], '--model: there is no folder "missing"'],
  ])("refuses %j", async (argv, message) => expectUsageError(argv, message));
});

describe("eval dual", () => {
  it("answers all questions in large batches and sums them up by hops and kind", async () => {
    const model = researcher(11, 40);
    const details = join(folder, "runs.jsonl");
    const { code, err, json, loads } = await lab(
      ["eval", "dual", "--n", "40", "--seed", "11", "--json", "--details", details],
      model,
    );
    expect([code, err]).toEqual([0, ""]);
    expect(loads).toEqual([{ batched: true }]);
    const { questions } = makeWorld(11, { questions: 40 });
    const right = questions.filter(({ hops }) => hops !== 2).length;
    type Groups = Record<string, { n: number }>;
    const result = json() as { overall: { ci95: [number, number] }; byHops: Groups; byKind: Groups; tokens: object };
    expect(Object.keys(result)).toEqual([
      "n",
      "seed",
      "model",
      "overall",
      "byHops",
      "byKind",
      "system1",
      "tokens",
      "ms",
    ]);
    expect(result).toMatchObject({ n: 40, seed: 11, model: "scripted", overall: { accuracy: right / 40 } });
    expect(result.byHops).toMatchObject({ 1: { accuracy: 1 }, 2: { accuracy: 0 }, 3: { accuracy: 1 } });
    const total = (groups: Groups) => Object.values(groups).reduce((sum, { n }) => sum + n, 0);
    expect([total(result.byHops), total(result.byKind)]).toEqual([40, 40]);
    const [low, high] = result.overall.ci95;
    expect(low).toBeLessThan(right / 40);
    expect(high).toBeGreaterThan(right / 40);
    const lines = (await readFile(details, "utf8"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map(({ index }) => index)).toEqual(questions.map((_, i) => i));
    const raw = lines.reduce((sum, { ledger }) => sum + ledger.rawTokens, 0);
    expect(result.tokens).toMatchObject({ rawTokens: raw });
  });

  it("is silent on standard error unless asked, and prints a table", async () => {
    const { out, err } = await lab(["eval", "dual", "--n", "3", "--seed", "11", "--progress"], researcher(11));
    expect(err).toMatch(/3 of 3 finished, \d right\n$/);
    expect(out).toContain("95% interval");
  });

  it("does not count a failure of the engine as a wrong answer", async () => {
    const model = scriptedModel((_, batch) => (batch === 2 ? new Error("out of memory") : "an answer"));
    const { code, out, err } = await lab(["eval", "dual", "--n", "5", "--seed", "1", "--json"], model);
    expect([code, out, err]).toEqual([1, "", "lab: out of memory\n"]);
  });

  it.each([
    [["eval", "dual", "--seed", "1"], "--n is missing"],
    [["eval", "dual", "--n", "5"], "--seed is missing"],
    [["eval", "dual", "--n", "0", "--seed", "1"], "--n must be a whole number, at least 1, at most"],
    [["eval", "dual", "--n", "5", "--seed", "one"], '--seed must be a whole number; got "one"'],
    [["eval", "dual", "--n", "5", "--seed", "1", "--details", "/no/such/folder/x"], "--details: there is no folder"],
  ])("refuses %j", async (argv, message) => expectUsageError(argv, message));
});

describe("logits and hidden", () => {
  const values = Float32Array.from({ length: 12 }, (_, i) => i / 3);
  const model = {
    ...scriptedModel(() => ""),
    config: { vocabSize: 4, hiddenSize: 4, maxPositions: 8 } as LanguageModel["config"],
    forward: async () => [values],
  };

  it.each(["logits", "hidden"])("%s writes little-endian f32 and prints the shape", async (name) => {
    const file = join(folder, name);
    const argv = [name, "--model", "d", "--ids", "0, 1,3", "--out", file, "--engine", "onnx-wasm", "--json"];
    const { code, json, found } = await lab(argv, model);
    expect(code).toBe(0);
    expect(json()).toEqual({ shape: [3, 4] });
    expect(found).toEqual([["d", { tokenizer: false, engine: "onnx-wasm", weights: "stored" }]]);
    const bytes = await readFile(file);
    expect(bytes.length).toBe(48);
    expect(Array.from(values, (_, i) => bytes.readFloatLE(4 * i))).toEqual([...values]);
  });

  const args = (ids: string, out = join(folder, "x")) => ["logits", "--model", "d", "--ids", ids, "--out", out];
  it.each([
    ["a token outside the vocabulary", args("1,4"), "--ids: number 2 is 4, but the vocabulary has 4 tokens"],
    ["a sequence that is too long", args("1,1,1,1,1,1,1,1,1"), "--ids: 9 tokens, but the model has 8 positions"],
    ["something else than ids", args("1,x"), '--ids: number 2 must be a whole number; got "x"'],
    ["no ids", args(""), "--ids: number 1"],
    ["a file in no folder", args("1", "/no/such/folder/x"), "--out: there is no folder /no/such/folder"],
    ["a folder as file", args("1", tmpdir()), "is a folder"],
    ["no file", ["logits", "--model", "d", "--ids", "1"], "--out is missing"],
    ["no model", ["logits", "--ids", "1", "--out", "x"], "--model is missing"],
    ["an unknown engine", [...args("1"), "--engine", "cpu"], "--engine must be one of wgsl, onnx-wasm, onnx-webgpu"],
    ["a missing model", ["logits", "--model", "missing", "--ids", "1", "--out", "x"], "--model: there is no folder"],
  ])("refuse %s", async (_name, argv, message) => {
    const { code, out, err } = await lab(argv, model);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toMatch(/^lab: [^\n]+\n$/);
    expect(err).toContain(message);
  });
});

describe("generate", () => {
  it("prints what the model writes", async () => {
    const model = scriptedModel(() => "and so on");
    const { code, json } = await lab(
      ["generate", "--prompt", "Once", "--json", "--max-tokens", "3", "--seed", "9"],
      model,
    );
    expect(code).toBe(0);
    expect(json()).toMatchObject({ text: "and", ids: [97, 110, 100], finishReason: "length", promptTokens: 4 });
    expect(model.requests[0]).toMatchObject({ maxTokens: 3, seed: 9, temperature: 0, repetitionPenalty: 1 });
    expect((await lab(["generate", "--prompt", "Once"], model)).out).toBe("and so on\n");
  });

  it("puts the prompt into the chat template on request", async () => {
    const model = scriptedModel(() => "x");
    await lab(["generate", "--prompt", "Hi", "--chat", "--json"], model);
    expect(model.batches[0]).toEqual(["<user>Hi\n<assistant>"]);
  });

  it("keeps within the model's context", async () => {
    const model = scriptedModel(() => "x".repeat(50), { maxPositions: 10 });
    expect((await lab(["generate", "--prompt", "Once", "--json"], model)).json()).toMatchObject({ text: "xxxxxx" });
    const { code, err } = await lab(["generate", "--prompt", "Once upon a time"], model);
    expect([code, err]).toEqual([2, "lab: --prompt: 16 tokens, but the model has 10 positions\n"]);
  });

  it.each([
    [["generate"], "--prompt is missing"],
    [["generate", "--prompt", "x", "--max-tokens", "0"], "--max-tokens must be a whole number, at least 1"],
    [["generate", "--prompt", "x", "--temperature", "-1"], "--temperature"],
    [
      ["generate", "--prompt", "x", "--temperature=-1"],
      "--temperature must be a number, at least 0, at most 100; got -1",
    ],
    [["generate", "--prompt", "x", "--min-p", "2"], "--min-p must be a number, at least 0, at most 1"],
    [
      ["generate", "--prompt", "x", "--repetition-penalty", "0"],
      "--repetition-penalty must be a number, above 0, at most 100; got 0",
    ],
    [["generate", "--prompt", "x", "--top-k", "1.5"], "--top-k must be a whole number"],
  ])("refuses %j", async (argv, message) => expectUsageError(argv, message));
});
