import { describe, expect, it } from "vitest";
import { exactMatch, normalizeAnswer, tokenF1 } from "./grade";

describe("normalizeAnswer", () => {
  it.each([
    [" The  Kelvan Garden. ", "kelvan garden"],
    ["An  old-town", "old town"],
    ["1843", "1843"],
    ["Ｋelvan", "kelvan"],
    ["theory", "theory"],
  ])("%j -> %j", (answer, normalized) => expect(normalizeAnswer(answer)).toBe(normalized));
});

describe("exactMatch", () => {
  it("accepts any of the gold answers after normalisation and nothing else", () => {
    expect(exactMatch("the Kelvan garden", ["Kelvan Garden"])).toBe(true);
    expect(exactMatch("Kelvan", ["Kelvan Garden", "Kelvan."])).toBe(true);
    expect(exactMatch("Kelvan Garden of Tormel", ["Kelvan Garden"])).toBe(false);
    expect(exactMatch("", ["Kelvan"])).toBe(false);
  });
});

describe("tokenF1", () => {
  it("is the harmonic mean of precision and recall of tokens, counted with multiplicity", () => {
    expect(tokenF1("Ada Kelvan", ["Ada Kelvan"])).toBe(1);
    expect(tokenF1("Ada Kelvan of Tormel", ["Ada Kelvan"])).toBeCloseTo(2 / 3);
    expect(tokenF1("Ada Ada", ["Ada Kelvan"])).toBeCloseTo(0.5);
    expect(tokenF1("Bruno", ["Ada Kelvan"])).toBe(0);
    expect(tokenF1("", ["Ada"])).toBe(0);
    expect(tokenF1("Bruno", ["Ada", "Bruno Kelvan"])).toBeCloseTo(2 / 3);
  });
});
