/** The wikipedia tool, against a server that answers as MediaWiki does. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasty, type TestServer, testServer } from "./nodeTestServer";
import { type WikipediaSettings, wikipediaTool } from "./wikipedia";

let server: TestServer;
beforeAll(async () => {
  server = await testServer();
});
afterAll(() => server.close());

const countTokens = ({ title, text }: { title: string; text: string }) => `${title} ${text}`.split(" ").length;
const toolOf = (settings: Partial<WikipediaSettings> = {}) =>
  wikipediaTool({ ...hasty(), url: server.url, countTokens, maxTokens: 30, ...settings });
const run = (query: string, tool = toolOf(), signal?: AbortSignal) =>
  tool.run({ query, purpose: "the length" }, signal);

const oder = `The Oder is a river in Central Europe.


== Course ==
It rises in the Czech Republic.

=== Length ===
Its length is 840 kilometres.


== See also ==
`;
const articles: Record<number, { title: string; extract: string }> = {
  7: { title: "Oder", extract: oder },
  8: { title: "What Is a River?", extract: "A river flows." },
};
const found = (...pageids: number[]) => ({
  body: {
    batchcomplete: true,
    query: {
      searchinfo: { totalhits: pageids.length },
      search: pageids.map((pageid) => ({ ns: 0, title: articles[pageid]?.title ?? "?", pageid })),
    },
  },
});
const page = (pageid: number) => ({
  body: {
    batchcomplete: true,
    warnings: { extracts: { warnings: '"exlimit" was too large for a whole article extracts request, lowered to 1.' } },
    query: { pages: [{ pageid, ns: 0, ...articles[pageid] }] },
  },
});
type Decide = Parameters<TestServer["answer"]>[0];
/** Search finds the pages, and each is given. */
const wiki =
  (...pageids: number[]): Decide =>
  ({ query }) =>
    query.has("list") ? found(...pageids) : page(Number(query.get("pageids")));

describe("wikipediaTool", () => {
  it("searches, reads the articles one after the other, and returns their best passages", async () => {
    server.answer(wiki(7, 8));
    const documents = await run("Oder");
    expect(documents.map(({ title, text }) => `${title}: ${text}`).sort()).toEqual([
      "Oder / Course / Length: Its length is 840 kilometres.",
      "Oder / Course: It rises in the Czech Republic.",
      "Oder: The Oder is a river in Central Europe.",
    ]);
    expect(documents[0]?.title).toBe("Oder / Course / Length");
    for (const { text, source, id } of documents) {
      if (source?.kind !== "web") throw new Error("no source");
      expect(oder.slice(source.start, source.end)).toBe(text);
      expect(id).toBe(`${server.url}/wiki/Oder#${source.start}`);
    }
    const asked = server.requests.map(({ path, query }) => [
      path,
      query.get("list") ?? query.get("prop"),
      query.get("pageids"),
    ]);
    expect(asked).toEqual([
      ["/w/api.php", "search", null],
      ["/w/api.php", "extracts", "7"],
      ["/w/api.php", "extracts", "8"],
    ]);
    for (const { query, headers } of server.requests) {
      expect(Object.fromEntries(query)).toMatchObject({
        action: "query",
        format: "json",
        formatversion: "2",
        origin: "*",
      });
      expect(headers["api-user-agent"]).toMatch(/^Twinloop/);
    }
    expect(Object.fromEntries(server.requests[0]!.query)).toMatchObject({ srsearch: "Oder", srlimit: "3" });
  });

  it("returns the first passages when none shares a word, and encodes addresses", async () => {
    server.answer(wiki(8));
    const [document, ...rest] = await run("Nile", toolOf());
    expect(rest).toEqual([]);
    expect(document).toMatchObject({ title: "What Is a River?", text: "A river flows." });
    expect(document?.source).toMatchObject({ url: `${server.url}/wiki/What_Is_a_River%3F` });
  });

  it("returns as many passages as it was told", async () => {
    server.answer(wiki(7, 8));
    expect(await run("Oder river", toolOf({ results: 1 }))).toHaveLength(1);
    server.answer(wiki(7));
    await run("Oder", toolOf({ articles: 1 }));
    expect(server.requests[0]?.query.get("srlimit")).toBe("1");
  });

  it("cuts a query that MediaWiki would refuse, between characters", async () => {
    server.answer(wiki(8));
    await run("é".repeat(200));
    expect(server.requests[0]?.query.get("srsearch")).toBe("é".repeat(150));
    server.answer(wiki(8));
    await run(`x${"é".repeat(200)}`);
    expect(server.requests[0]?.query.get("srsearch")).toBe(`x${"é".repeat(149)}`);
  });

  it("says what found nothing, with the site's suggestion", async () => {
    const nothing = (searchinfo: object) => ({ body: { batchcomplete: true, query: { searchinfo, search: [] } } });
    server.answer(() => nothing({ totalhits: 0 }));
    await expect(run("qqq")).rejects.toThrow('No article of Wikipedia matches "qqq". Try other words.');
    server.answer(() => nothing({ totalhits: 0, suggestion: "oder", suggestionsnippet: "oder" }));
    await expect(run("odre")).rejects.toThrow('Did you mean "oder"?');
  });

  it("goes on without an article that fails or has no text, and fails when none is left", async () => {
    const gone = { body: { query: { pages: [{ pageid: 9, title: "Gone", missing: true }] } } };
    server.answer(({ query }) => {
      if (query.has("list")) return found(9, 5, 7);
      const id = Number(query.get("pageids"));
      return id === 9 ? gone : id === 5 ? { status: 500 } : page(id);
    });
    expect((await run("Oder"))[0]?.title).toMatch(/^Oder/);
    server.answer(({ query }) => (query.has("list") ? found(5) : { status: 404 }));
    await expect(run("Oder")).rejects.toThrow("Wikipedia refused with status 404.");
    server.answer(({ query }) => (query.has("list") ? found(9) : gone));
    await expect(run("Oder")).rejects.toThrow('The articles of Wikipedia on "Oder" hold no text.');
  });

  it("tries again when the site is busy in its own way of saying so", async () => {
    const busy = { body: { error: { code: "ratelimited", info: "You've exceeded your rate limit." }, docref: "See" } };
    server.answer((request) => (request.count === 0 ? busy : wiki(7)(request)));
    expect(await run("Oder")).not.toHaveLength(0);
    server.answer(() => busy);
    await expect(run("Oder")).rejects.toThrow("Wikipedia refused: You've exceeded your rate limit.");
    expect(server.requests).toHaveLength(3);
    server.answer(() => ({ body: { error: { code: "missingparam" } } }));
    await expect(run("Oder")).rejects.toThrow("Wikipedia refused: missingparam");
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    [{ status: 403, body: "Please set a user-agent" }, "Wikipedia refused with status 403."],
    [{ status: 429 }, "Wikipedia says that there were too many requests."],
    [{ body: "<!DOCTYPE html>" }, "Wikipedia answered with something that is no JSON."],
    [{ body: { query: { search: [{ title: "x" }] } } }, "Wikipedia answered in an unknown form (query.search.0.pageid"],
  ])("fails in words: %j", async (answer, message) => {
    server.answer(() => answer);
    await expect(run("Oder")).rejects.toThrow(message);
  });

  it("stops when it is aborted between two articles, and does nothing while the network is off", async () => {
    const reason = new Error("stopped");
    const controller = new AbortController();
    server.answer((request) => {
      if (request.query.get("pageids") === "7") controller.abort(reason);
      return wiki(7, 8)(request);
    });
    await expect(run("Oder", toolOf(), controller.signal)).rejects.toBe(reason);
    expect(server.requests).toHaveLength(2);
    server.answer(wiki(7));
    const settings = hasty();
    settings.network.forbid();
    await expect(run("Oder", toolOf(settings))).rejects.toThrow("The use of the network is switched off.");
    expect(server.requests).toHaveLength(0);
  });

  it("says what it sends and to whom, and what it costs", () => {
    const tool = wikipediaTool({ ...hasty(), countTokens, maxTokens: 30, language: "de" });
    expect(tool.network?.hosts).toEqual(["de.wikipedia.org"]);
    expect(tool.network?.notice).toContain("are sent to Wikipedia (de.wikipedia.org), which sees your IP address.");
    expect(tool.cost).toEqual({ requests: 4, limitMs: 20_000 });
  });

  it("refuses impossible settings", () => {
    expect(() => toolOf({ language: "evil.example/" })).toThrow('language must be like "en" or "zh-yue"');
    expect(() => toolOf({ articles: 0 })).toThrow("articles must be a positive integer; got 0");
    expect(() => toolOf({ results: 1.5 })).toThrow("results must be a positive integer; got 1.5");
    expect(() => toolOf({ maxTokens: 3 })).toThrow("passages must have at least 16 tokens; got 3");
  });
});
