/** The scholar tool over papers at hand, and over a server that answers as OpenAlex does. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeWorld } from "../../world/world";
import { parseMessage } from "../parse";
import { hasty, type TestServer, testServer } from "./nodeTestServer";
import { openAlex } from "./openAlex";
import { SCHOLAR_FUNCTION, scholarTool, shippedPapers } from "./scholar";

let server: TestServer;
beforeAll(async () => {
  server = await testServer();
});
afterAll(() => server.close());

/** A work as `GET /works?search=` gives it with `select`, shortened. */
const work = {
  id: "https://openalex.org/W2741809807",
  doi: "https://doi.org/10.7717/peerj.4375",
  display_name: "The state of OA",
  publication_year: 2018,
  authorships: ["Heather Piwowar", "Jason Priem", "Vincent Larivière"].map((display_name, i) => ({
    author_position: i === 0 ? "first" : "middle",
    author: { id: `https://openalex.org/A${i}`, display_name, orcid: null },
    institutions: [],
  })),
  primary_location: { is_oa: true, source: { id: "https://openalex.org/S1983995261", display_name: "PeerJ" } },
  cited_by_count: 812,
  relevance_score: 95.5,
  abstract_inverted_index: {
    Despite: [0],
    growing: [1],
    interest: [2],
    in: [3, 6],
    Open: [4],
    Access: [5],
    general: [7],
  },
};
const answerOf = (...results: unknown[]) => ({
  body: { meta: { count: results.length, page: 1, per_page: 5, cost_usd: 0.001 }, results, group_by: [] },
});
const live = (settings = {}) => scholarTool(openAlex({ ...hasty(), url: server.url, ...settings }), 5);
const run = (query: string, tool = live(), signal?: AbortSignal) => tool.run({ query, purpose: "p" }, signal);

describe("scholarTool over shipped papers", () => {
  const papers = makeWorld(3, { corpus: "papers", questions: 0 }).documents;

  it("finds papers and sends nothing", async () => {
    const tool = scholarTool(shippedPapers(papers), 2);
    const [first, ...rest] = await tool.run({ query: papers[4]?.title, purpose: "p" });
    expect(first).toMatchObject({ id: papers[4]?.id, text: papers[4]?.text });
    expect(rest).toHaveLength(1);
    expect([tool.network, tool.cost]).toEqual([undefined, { requests: 0 }]);
  });

  it("says what found nothing", async () => {
    await expect(scholarTool(shippedPapers(papers)).run({ query: "qqq", purpose: "p" })).rejects.toThrow(
      'No paper matches "qqq". Try other words.',
    );
    expect(() => scholarTool(shippedPapers(papers), 0)).toThrow("results must be a positive integer; got 0");
  });

  it("takes a call as models write it", () => {
    const call = { name: "scholar", arguments: { query: "open access", purpose: "its growth" } };
    const text = `<tool_call>${JSON.stringify(call)}</tool_call>`;
    expect(parseMessage(text, [SCHOLAR_FUNCTION]).action).toMatchObject({ type: "toolCall", call });
  });
});

describe("scholarTool over OpenAlex", () => {
  it("asks for what it needs, and writes out works with their abstracts", async () => {
    server.answer(() => answerOf(work));
    expect(await run("Where is open access* growing?")).toEqual([
      {
        id: "https://openalex.org/W2741809807",
        title: "The state of OA",
        text:
          "Heather Piwowar, Jason Priem, Vincent Larivière, 2018, PeerJ. Cited 812 times. Despite growing interest in " +
          "Open Access in general",
        score: 95.5,
        source: { kind: "web", url: "https://doi.org/10.7717/peerj.4375" },
      },
    ]);
    const [{ path, query }] = server.requests as [TestServer["requests"][0]];
    expect([path, query.get("search"), query.get("per_page")]).toEqual(["/works", "Where is open access growing", "5"]);
    expect(query.get("select")?.split(",")).toContain("abstract_inverted_index");
    expect(query.has("api_key")).toBe(false);
  });

  it("sends the person's key when there is one, and says so", async () => {
    server.answer(() => answerOf(work));
    const tool = live({ apiKey: "k1" });
    await run("x", tool);
    expect(server.requests[0]?.query.get("api_key")).toBe("k1");
    expect(tool.network).toEqual({
      hosts: [new URL(server.url).host],
      notice: expect.stringMatching(/^Search words that the model writes, with your OpenAlex key are sent to OpenAlex/),
    });
    expect(live().network?.notice).not.toContain("key");
    expect(scholarTool(openAlex(hasty())).network?.hosts).toEqual(["api.openalex.org"]);
  });

  it("takes works of which little is known", async () => {
    const bare = {
      id: "https://openalex.org/W1",
      doi: null,
      display_name: null,
      authorships: null,
      primary_location: null,
    };
    const many = { ...work, authorships: Array(9).fill({ author: { display_name: "A. B." } }), cited_by_count: 0 };
    server.answer(() => answerOf(bare, { ...many, abstract_inverted_index: null, primary_location: { source: null } }));
    const [first, second] = await run("x");
    expect(first).toEqual({
      id: "https://openalex.org/W1",
      title: "Untitled",
      text: "No abstract is available.",
      source: { kind: "web", url: "https://openalex.org/W1" },
    });
    expect(second?.text).toBe("A. B., A. B., A. B., A. B., A. B. and others, 2018. No abstract is available.");
  });

  it("is not impressed by impossible positions", async () => {
    server.answer(() =>
      answerOf({ ...work, abstract_inverted_index: { far: [4_000_000_000], near: [1], first: [0] } }),
    );
    expect((await run("x"))[0]?.text).toMatch(/times\. first near$/);
  });

  it("returns no more than it was asked for, and says what found nothing", async () => {
    server.answer(() => answerOf(...Array(9).fill(work)));
    expect(await run("x")).toHaveLength(5);
    server.answer(() => answerOf());
    await expect(run("zzz")).rejects.toThrow('No paper matches "zzz". Try other words.');
    await expect(run("?*")).rejects.toThrow('No paper matches "?*"');
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    [
      { status: 429, body: { error: "Rate limit exceeded", message: "Daily limit exceeded" } },
      "too many requests: Rate limit",
    ],
    [
      { status: 400, body: { error: "Invalid query parameters error.", message: "x is not valid" } },
      "status 400: Invalid",
    ],
    [{ body: { results: [{ doi: null }] } }, "OpenAlex answered in an unknown form (results.0.id"],
    [{ body: { meta: {} } }, "OpenAlex answered in an unknown form (results"],
    [{ body: "<html></html>" }, "OpenAlex answered with something that is no JSON."],
  ])("fails in words: %j", async (answer, message) => {
    server.answer(() => answer);
    await expect(run("x")).rejects.toThrow(message);
  });

  it("stops when it is aborted, and does nothing while the network is off", async () => {
    const reason = new Error("stopped");
    const controller = new AbortController();
    server.answer(() => {
      setTimeout(() => controller.abort(reason), 20);
      return { delay: "never" };
    });
    await expect(run("x", live(), controller.signal)).rejects.toBe(reason);
    const settings = hasty();
    settings.network.forbid();
    server.answer(() => answerOf(work));
    await expect(run("x", live(settings))).rejects.toThrow("The use of the network is switched off.");
    expect(server.requests).toHaveLength(0);
  });
});
