/** Documents for a reader's bins: what fits stays, what does not is cut between sentences and nothing is lost. */
import { expect, test } from "vitest";
import { fitDocuments } from "./passages";

/** A token is a word; the title counts. */
const countTokens = ({ title, text }: { title: string; text: string }) => `${title} ${text}`.split(/\s+/).length;
const sentence = (i: number) => `Sentence ${i} says something short.`;
const long = Array.from({ length: 12 }, (_, i) => sentence(i)).join(" ");

test("documents that fit are the same objects, longer ones are passages of whole sentences", () => {
  const short = { id: "a", title: "Short", text: sentence(0), kept: true };
  const documents = [short, { id: "b", title: "Long", text: long, kept: true }];
  const [first, ...passages] = fitDocuments(documents, { maxTokens: 20, countTokens });
  expect(first).toBe(short);
  expect(passages.length).toBeGreaterThan(3);
  expect(passages.map(({ id }) => id)).toEqual(passages.map((_, i) => `b.${i + 1}`));
  expect(passages.map(({ text }) => text).join(" ")).toBe(long);
  for (const passage of passages) {
    expect(passage).toMatchObject({ title: "Long", kept: true });
    expect(countTokens(passage)).toBeLessThanOrEqual(20);
    expect(passage.text).toMatch(/^Sentence .*short\.$/);
  }
});

test("a passage of fewer than 16 tokens is refused", () => {
  const documents = [{ id: "b", title: "Long", text: long }];
  expect(() => fitDocuments(documents, { maxTokens: 15, countTokens })).toThrow("16");
});
