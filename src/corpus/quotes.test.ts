import { describe, expect, it } from "vitest";
import { findQuote, quoteSource } from "./quotes";
import { read } from "./testing";

describe("findQuote", () => {
  it("finds words whatever white space is between them", () => {
    const text = "It is\n  long (741 km). It is long.";
    expect(findQuote(text, "is long (741 km).")).toEqual([3, 22]);
    expect(findQuote(text, " It is long. ", 10)).toEqual([23, 34]);
    expect(findQuote(text, "It is long.", 0, 10)).toBeUndefined();
    expect(findQuote(text, "it is long.")).toBeUndefined();
    expect(findQuote(text, "  ")).toBeUndefined();
  });
});

describe("quoteSource", () => {
  it("leads from a passage to the line of its file, among equal sentences to its own", async () => {
    const { documents, files } = await read({ "t.md": "# A\n\nIt is\nlong.\n\n# B\n\nNo.\nIt is long.\n" });
    const file = files[0]!;
    const places = documents.map(({ source }) => quoteSource(file, source, "It is long."));
    expect(places).toEqual([
      { kind: "file", file: "t.md", start: 5, end: 16, line: 3 },
      { kind: "file", file: "t.md", start: 27, end: 38, line: 9 },
    ]);
    expect(quoteSource(file, documents[0]!.source, "No.")).toBeUndefined();
  });
});
