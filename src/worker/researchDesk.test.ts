/** What the page can choose: corpora, own documents with their places, tools, and the network's switches. */
import { afterEach, describe, expect, it, vi } from "vitest";
import { SYSTEM1_INSTRUCTION } from "../dual/prompts";
import { type Script, scriptedModel } from "../dual/scriptedModel";
import type { TraceEvent } from "../trace/events";
import { makeWorld } from "../world/world";
import type { EngineMessage, ResearchRequest } from "./protocol";
import { ResearchDesk } from "./researchDesk";

const call = (name: string, query: string) =>
  `<tool_call>\n${JSON.stringify({ name, arguments: { query, purpose: "the colour" } })}\n</tool_call>`;

/** Calls one tool, then answers with what it was told. */
function asking(tool: string, query: string): Script {
  return (prompt) => {
    if (prompt.includes(SYSTEM1_INSTRUCTION)) return /\S* is green\./.exec(prompt)?.[0] ?? "nothing relevant";
    const told = /<tool>([\s\S]*?)\n<assistant>/.exec(prompt)?.[1];
    return told ?? call(tool, query);
  };
}

const request: ResearchRequest = {
  model: "a",
  run: 1,
  world: 3,
  question: "Which colour?",
  useSystem1: true,
  searchResults: 3,
  maxTurns: 4,
  temperature: 0,
  seed: 0,
};
const textFile = (name: string, text: string) => ({ name, file: new File([text], name.split("/").at(-1) ?? name) });

function setUp(script: Script, maxPositions = 100_000) {
  const messages: EngineMessage[] = [];
  const model = scriptedModel(script, { maxPositions });
  const desk = new ResearchDesk(
    () => model,
    { run: async () => "1" },
    (message) => messages.push(message),
  );
  const run = async (change: Partial<ResearchRequest> = {}) => {
    const events: TraceEvent[] = [];
    const result = await desk.run({ ...request, ...change }, new AbortController().signal, (event) =>
      events.push(event),
    );
    return { result, events };
  };
  return { desk, model, messages, run };
}

afterEach(() => vi.unstubAllGlobals());

describe("own documents", () => {
  const files = [
    textFile("zoo/frog.md", "# Frog\n\nIntro.\n\nFrog is green.\n"),
    textFile("zoo/empty.txt", ""),
    textFile("crow.txt", "Crow is black."),
  ];

  it("are read with progress, searched, and lead back to their place", async () => {
    const { desk, messages, run } = setUp(asking("search", "Frog"));
    const outcome = await desk.read({ model: "a", files });
    expect(outcome).toMatchObject({
      status: "read",
      corpus: {
        files: [
          { name: "zoo/frog.md", title: "Frog", kind: "markdown", passages: 1 },
          { name: "crow.txt", passages: 1 },
        ],
        skipped: [{ name: "zoo/empty.txt", reason: "is empty" }],
        passages: 2,
      },
    });
    expect(messages.map((message) => message.type === "readingProgress" && message.progress.done)).toEqual([1, 2, 3]);
    const { result, events } = await run({ corpus: "own" });
    expect(result).toMatchObject({ answer: "Frog is green." });
    const [document] = events.find((event) => event.type === "toolResult")!.documents;
    expect(document!.source).toMatchObject({ kind: "file", file: "zoo/frog.md", line: 3 });
    const view = desk.viewSource(document!.source as never, "Frog is green.")!;
    expect(view.text.slice(...view.quote!)).toBe("Frog is green.");
    expect(view).toMatchObject({ file: "zoo/frog.md", before: 0, after: 0, place: { unit: "line", number: 5 } });
    expect(events[0]).toMatchObject({ corpus: "own documents: 2 files, 2 passages" });
  });

  it("are added to those that are there, replaced by name, and taken out", async () => {
    const { desk } = setUp(() => "");
    await desk.read({ model: "a", files });
    const more = [textFile("crow.txt", "Crow is blue. It flies."), textFile("zoo/empty.txt", "Not empty.")];
    const outcome = await desk.read({ model: "a", files: more });
    if (outcome.status !== "read") throw new Error(outcome.status);
    expect(outcome.corpus.files.map(({ name }) => name)).toEqual(["zoo/frog.md", "crow.txt", "zoo/empty.txt"]);
    expect(outcome.corpus).toMatchObject({ skipped: [], passages: 3 });
    expect(desk.remove("crow.txt")).toMatchObject({ passages: 2 });
    expect(desk.viewSource({ kind: "file", file: "crow.txt", start: 0, end: 4 })).toBeUndefined();
    expect(desk.remove()).toMatchObject({ files: [], skipped: [], passages: 0 });
  });

  it("are cut anew for smaller bins, and nothing of a passage is cut off", async () => {
    const { desk, model, run } = setUp(asking("search", "word"));
    const sentences = Array.from({ length: 12 }, (_, i) => `Sentence ${i} of many has one word.`).join(" ");
    const before = await desk.read({ model: "a", files: [textFile("long.txt", sentences)] });
    const { events } = await run({ corpus: "own", capacity: 100, searchResults: 9 });
    expect(before).toMatchObject({ corpus: { maxTokens: 256 } });
    expect(desk.remove("none")).toMatchObject({ maxTokens: 100 });
    expect(events.find((event) => event.type === "packed")).toMatchObject({ truncated: [], capacity: 100 });
    expect(model.batches.length).toBeGreaterThan(1);
  });

  it("can be cancelled while they are read, and stay as they were", async () => {
    const { desk, messages } = setUp(() => "");
    await desk.read({ model: "a", files: [textFile("crow.txt", "Crow is black.")] });
    const reading = desk.read({ model: "a", files: [textFile("a.txt", "A."), textFile("b.txt", "B.")] });
    desk.cancelReading();
    expect(await reading).toMatchObject({
      status: "cancelled",
      corpus: { files: [{ name: "crow.txt" }], passages: 1 },
    });
    expect(messages).toHaveLength(1);
  });

  it("that were never given are told, before anything runs", async () => {
    const { run } = setUp(() => "");
    await expect(run({ corpus: "own" })).rejects.toMatchObject({ kind: "noDocuments" });
  });
});

describe("corpora and tools", () => {
  it("the papers of a seed can be searched, and have questions", async () => {
    const papers = makeWorld(3, { corpus: "papers" });
    const { desk, run } = setUp(asking("search", papers.documents[0]!.title));
    expect(desk.world(3, "papers")).toMatchObject({
      corpus: "papers",
      articles: papers.documents.length,
    });
    expect(desk.world(3, "papers").questions[0]).toMatchObject({ text: papers.questions[0]!.text });
    const { events } = await run({ corpus: "papers" });
    const found = events.find((event) => event.type === "toolResult")!.documents;
    expect(found[0]!.title).toBe(papers.documents[0]!.title);
  });

  it("System 2's prompt lists what was chosen, and only that", async () => {
    const { model, run } = setUp(() => "an answer");
    await run({ tools: { search: true, python: false, scholar: "papers", wikipedia: true } });
    await run({ tools: { search: false, python: true, scholar: "off", wikipedia: false } });
    await run();
    expect(model.batches.map(([prompt]) => prompt!.split("\n")[0])).toEqual([
      "[search,scholar,wikipedia]",
      "[python]",
      "[search,python]",
    ]);
  });
});

describe("batches and measurements", () => {
  it("generated questions are those of the seed, and given ones are taken as they are", async () => {
    const { desk, messages } = setUp(() => "an answer");
    const { signal } = new AbortController();
    await desk.batch({ settings: request, questions: { generated: 3 } }, signal);
    await desk.batch({ settings: request, questions: { given: [{ text: "Own?", gold: ["An answer"] }] } }, signal);
    const results = messages.flatMap((message) => (message.type === "batchResult" ? [message.result] : []));
    const generated = makeWorld(3, { questions: 3 }).questions.map(({ text }) => text);
    expect(new Set(results.slice(0, 3).map(({ question }) => question))).toEqual(new Set(generated));
    expect(results.at(-1)).toMatchObject({ question: "Own?", correct: true });
  });

  it("packings are measured with sentences of the world, in bins that the model can read", async () => {
    const { desk, model, messages } = setUp(() => "- a quote", 4_000);
    const measured = { model: "a", run: 4, lengths: [90, 50, 40], algorithms: ["ffd" as const], repetitions: 1 };
    const { signal } = new AbortController();
    const outcome = await desk.measure({ ...measured, capacity: 100 }, signal);
    expect(outcome).toMatchObject({ status: "finished", rows: [{ algorithm: "ffd", calls: 2, batches: 1 }] });
    expect(model.batches).toHaveLength(2);
    expect(messages).toMatchObject([{ type: "measureProgress", run: 4, done: 1, total: 2 }, { done: 2 }]);
    const large = await desk.measure({ ...measured, capacity: 10_000 }, signal);
    expect(large).toMatchObject({ status: "tooLarge" });
    const { most } = large as { most: number };
    expect(await desk.measure({ ...measured, capacity: most }, signal)).toMatchObject({ status: "finished" });
  });
});

describe("the network", () => {
  const answers = (...bodies: unknown[]) => {
    const urls: string[] = [];
    vi.stubGlobal("fetch", async (url: URL) => {
      urls.push(String(url));
      const body = bodies[Math.min(urls.length, bodies.length) - 1];
      return body instanceof Response ? body.clone() : new Response(JSON.stringify(body));
    });
    return urls;
  };
  const found = { query: { search: [{ title: "Frog", pageid: 7 }] } };
  const page = { query: { pages: [{ title: "Frog", extract: "A frog. Frog is green." }] } };

  it("is not used before the visitor allows it, and System 2 reads why", async () => {
    const urls = answers(found, page);
    const { run } = setUp(asking("search", "Frog"));
    const { result } = await run({ corpus: "wikipedia" });
    expect(result.answer).toBe("Error: The use of the network is switched off.");
    expect(urls).toEqual([]);
  });

  it("serves search under its own name, from the Wikipedia that was chosen", async () => {
    const urls = answers(found, page);
    const { desk, run } = setUp(asking("search", "Frog"));
    desk.allow("wikipedia", true);
    const { result, events } = await run({ corpus: "wikipedia", network: { language: "de" } });
    expect(result.answer).toBe("Frog is green.");
    expect(new URL(urls[0]!).host).toBe("de.wikipedia.org");
    expect(events[0]).toMatchObject({ corpus: "Wikipedia (de)" });
    desk.allow("wikipedia", false);
    expect((await run({ corpus: "wikipedia" })).result.answer).toContain("switched off");
    expect(urls).toHaveLength(2);
  });

  it("allows one site and not the other, and sends a key only where it belongs", async () => {
    const urls = answers({ results: [] });
    const { desk, run } = setUp(asking("scholar", "frogs"));
    desk.allow("openalex", true);
    const tools = { search: true, python: true, scholar: "openalex", wikipedia: true } as const;
    const { result } = await run({ tools, network: { openAlexKey: "secret" } });
    expect(result.answer).toBe('Error: No paper matches "frogs". Try other words.');
    expect(new URL(urls[0]!).searchParams.get("api_key")).toBe("secret");
  });

  it("ends by itself after the time that was set", async () => {
    vi.stubGlobal(
      "fetch",
      (_: URL, { signal }: { signal: AbortSignal }) =>
        new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    );
    const { desk, run } = setUp(asking("search", "Frog"));
    desk.allow("wikipedia", true);
    const { result } = await run({ corpus: "wikipedia", network: { timeoutMs: 20 } });
    expect(result.answer).toMatch(/^Error: Wikipedia did not answer within 0\.02 s\./);
  });
});
