/** Lines find the document that they were taken from, word for word or by its number, or are plain text. */
import { expect, test } from "vitest";
import { locateQuote, splitQuotes } from "./quotes";

const documents = [
  { title: "Arvel", text: "Arvel was born in Dun. Arvel wrote letters." },
  { title: "Dun", text: "Dun lies in Morr. Some say that Arvel was born in Dun. Arvel wrote letters." },
];

test("lines after a dash find their document, first of all the one about their subject", () => {
  expect(splitQuotes("- Dun lies in Morr.\n- Arvel wrote letters.\n", documents)).toEqual([
    { text: "Dun lies in Morr.", document: 1 },
    { text: "Arvel wrote letters.", document: 0 },
  ]);
});

test("a line that is still being written finds its document as soon as it is long enough", () => {
  expect(splitQuotes("- Dun", documents)).toEqual([{ text: "Dun" }]);
  expect(splitQuotes("- Dun lies", documents)).toEqual([{ text: "Dun lies", document: 1 }]);
});

test("what no document says is plain text", () => {
  expect(splitQuotes("- Arvel was born in Morr.", documents)).toEqual([{ text: "Arvel was born in Morr." }]);
  expect(splitQuotes("  ", documents)).toEqual([]);
});

test("lines that deny are marked", () => {
  const [segment] = splitQuotes("- Lun: nothing relevant", documents);
  expect(segment).toEqual({ text: "Lun: nothing relevant", nothing: true });
  expect(splitQuotes("Nothing relevant", documents)).toEqual([{ text: "Nothing relevant", nothing: true }]);
});

test("several numbered quotes, with words before the first", () => {
  expect(splitQuotes("Found:\n[2] Dun is in Morr. [1] Arvel came from Dun.", documents)).toEqual([
    { text: "Found:" },
    { text: "Dun is in Morr.", document: 1 },
    { text: "Arvel came from Dun.", document: 0 },
  ]);
});

test("a number that no document has is plain text", () => {
  expect(splitQuotes("[7] no such page", documents)).toEqual([{ text: "[7] no such page" }]);
  expect(splitQuotes("[0] no such page", documents)).toEqual([{ text: "[0] no such page" }]);
});

test("quotes are located word for word", () => {
  const document = { text: "Dun is a city. It lies in Morr." };
  expect(locateQuote(document, "It lies in Morr.")).toEqual([15, 31]);
  expect(locateQuote(document, "It lies in Norr.")).toBeUndefined();
  expect(locateQuote(document, "")).toBeUndefined();
});
