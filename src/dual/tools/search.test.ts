import { describe, expect, it } from "vitest";
import { prepareSearch, SEARCH_FUNCTION, searchDocuments, searchTool } from "./search";

const corpus = [
  { id: "river", title: "Oder", text: "The Oder is a river. It passes Zürich in no map." },
  { id: "city", title: "Zürich", text: "A city by a lake." },
  { id: "long", title: "Lake", text: `A lake near Zürich. ${Array.from({ length: 60 }, (_, i) => `w${i}`).join(" ")}` },
  { id: "twin a", title: "Twin", text: "one twin tower" },
  { id: "twin b", title: "Twin", text: "one twin tower" },
];

describe("searchDocuments", () => {
  it("ranks a word in the title above the same word in the text, and a short document above a long one", () => {
    expect(searchDocuments(corpus, "Zürich", 5).map((d) => d.id)).toEqual(["city", "river", "long"]);
  });

  it("ignores case and accents", () => {
    expect(searchDocuments(corpus, "ZURICH", 1)[0]?.id).toBe("city");
  });

  it("keeps the order of the corpus among equal scores and cuts at the limit", () => {
    const [first, second] = searchDocuments(corpus, "twin tower", 5);
    expect([first?.id, second?.id]).toEqual(["twin a", "twin b"]);
    expect(first?.score).toBe(second?.score);
    expect(searchDocuments(corpus, "twin tower", 1).map((d) => d.id)).toEqual(["twin a"]);
  });

  it("returns whole documents with a positive score, and nothing for unknown words", () => {
    const [hit] = searchDocuments(corpus, "river", 5);
    expect(hit).toMatchObject(corpus[0] as object);
    expect(hit?.score).toBeGreaterThan(0);
    expect(searchDocuments(corpus, "zeppelin", 5)).toEqual([]);
    expect(searchDocuments([], "river", 5)).toEqual([]);
  });

  it("accepts a corpus that repeats an id", () => {
    const repeated = [corpus[0], corpus[0]].map((document) => ({ ...(document as (typeof corpus)[0]) }));
    expect(searchDocuments(repeated, "river", 5)).toHaveLength(2);
  });

  it("finds words of scripts without blanks", () => {
    const asian = [
      { id: "ja", title: "東京", text: "東京は日本の首都です。" },
      { id: "zh", title: "河流", text: "奥得河是一条河流。" },
      { id: "th", title: "แม่น้ำ", text: "แม่น้ำสายนี้ยาวมาก" },
    ];
    const found = (query: string) => searchDocuments(asian, query, 5).map((document) => document.id);
    expect([found("日本の首都"), found("河流"), found("ยาวมาก")]).toEqual([["ja"], ["zh"], ["th"]]);
  });

  it("hands on where a document comes from", () => {
    const source = { kind: "file", file: "a.txt", start: 3, end: 9, line: 1 } as const;
    expect(searchDocuments([{ id: "a", title: "a", text: "river", source }], "river", 1)[0]?.source).toEqual(source);
  });

  it("refuses an impossible limit", () => {
    expect(() => searchDocuments(corpus, "river", 0)).toThrow("limit must be a positive integer; got 0");
  });
});

describe("prepareSearch", () => {
  const large = () =>
    Array.from({ length: 5_000 }, (_, i) => ({ id: `d${i}`, title: `Title ${i}`, text: `word${i % 7} text` }));

  it("finds the same as without it, and lets other work come between", async () => {
    const [prepared, plain] = [large(), large()];
    let ticks = 0;
    const timer = setInterval(() => ticks++, 0);
    await Promise.all([prepareSearch(prepared), prepareSearch(prepared)]);
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(0);
    await prepareSearch(prepared);
    for (const query of ["word3", "title 4321", "text"]) {
      expect(searchDocuments(prepared, query, 20)).toEqual(searchDocuments(plain, query, 20));
    }
  });

  it("is done by the tool", async () => {
    const [first, second] = await Promise.all([1, 2].map(() => searchTool(large(), 1).run({ query: "4321" })));
    expect([first?.[0]?.id, second?.[0]?.id]).toEqual(["d4321", "d4321"]);
  });
});

describe("searchTool", () => {
  it("returns at most the number of results that it was made for", async () => {
    expect(await searchTool(corpus, 2).run({ query: "Zürich" })).toHaveLength(2);
    expect(() => searchTool(corpus, 1.5)).toThrow("results must be a positive integer");
  });

  it("says what found nothing", async () => {
    await expect(searchTool(corpus).run({ query: "zeppelin" })).rejects.toThrow('No document matches "zeppelin"');
  });

  it("asks for a purpose", () => {
    expect(SEARCH_FUNCTION.parameters.required).toEqual(["query", "purpose"]);
  });
});
