/** Quotes are split at known document numbers only, and found word for word or not at all. */
import { expect, test } from "vitest";
import { locateQuote, splitQuotes } from "./quotes";

test("several quotes, with words before the first", () => {
  expect(splitQuotes("Found:\n[2] Arvel was born in Dun. [1] Dun lies in Morr.\n", 3)).toEqual([
    { text: "Found:" },
    { text: "Arvel was born in Dun.", document: 1 },
    { text: "Dun lies in Morr.", document: 0 },
  ]);
});

test("a quote ends with its line", () => {
  expect(splitQuotes("nothing relevant\n[1] Dun lies in Morr.\nnothing relevant", 1)).toEqual([
    { text: "nothing relevant" },
    { text: "Dun lies in Morr.", document: 0 },
    { text: "nothing relevant" },
  ]);
});

test("a number that no document has is plain text", () => {
  expect(splitQuotes("[7] nothing here", 3)).toEqual([{ text: "[7] nothing here" }]);
  expect(splitQuotes("[0] nothing here", 3)).toEqual([{ text: "[0] nothing here" }]);
  expect(splitQuotes("nothing relevant", 3)).toEqual([{ text: "nothing relevant" }]);
  expect(splitQuotes("  ", 3)).toEqual([]);
});

test("a quote that has only just begun keeps its document", () => {
  expect(splitQuotes("[2]", 2)).toEqual([{ text: "", document: 1 }]);
});

test("quotes are located word for word", () => {
  const document = { text: "Dun is a city. It lies in Morr." };
  expect(locateQuote(document, "It lies in Morr.")).toEqual([15, 31]);
  expect(locateQuote(document, "It lies in Norr.")).toBeUndefined();
  expect(locateQuote(document, "")).toBeUndefined();
});
