import { describe, expect, it } from "vitest";
import { ENCYCLOPEDIA, PAPERS } from "./schema";
import { makeDetailedWorld, makeWorld, TRAINING_SEEDS, type WorldOptions } from "./world";

const corpora: { corpus: NonNullable<WorldOptions["corpus"]>; kinds: number }[] = [
  { corpus: "encyclopedia", kinds: ENCYCLOPEDIA.kinds.length },
  { corpus: "papers", kinds: PAPERS.kinds.length },
];

describe.each(corpora)("the world of the $corpus", ({ corpus, kinds }) => {
  const world = makeDetailedWorld(11, { corpus, questions: 300 });
  const text = new Map(world.documents.map((document) => [document.id, document.text]));

  it("has one article per entity, with unique names and ids", () => {
    expect(world.documents).toHaveLength(kinds * 16);
    expect(new Set(world.documents.map((document) => document.title)).size).toBe(world.documents.length);
    expect(text.size).toBe(world.documents.length);
  });

  it("depends on the seed alone", () => {
    expect(makeWorld(11, { corpus, questions: 300 }).documents).toEqual(world.documents);
    expect(makeWorld(11, { corpus, questions: 20 }).questions).toEqual(world.questions.slice(0, 20));
    expect(makeWorld(12, { corpus }).documents).not.toEqual(world.documents);
  });

  it("has every kind and number of hops among its questions", () => {
    const seen = new Set(world.questions.map((question) => `${question.kind} ${question.hops}`));
    expect([...seen].sort()).toEqual(["arithmetic 1", "arithmetic 2", "lookup 1", "lookup 2", "lookup 3"]);
  });

  it("states every fact of a question's chain in the gold document, in one sentence with its subject", () => {
    for (const question of world.questions) {
      for (const fact of question.chain) {
        const owner = world.documents.find((document) => document.title === fact.subject);
        expect(question.goldDocuments).toContain(owner?.id);
        const sentences = (owner?.text ?? "").split(/(?<=\.) /);
        expect(sentences.some((sentence) => sentence.includes(fact.subject) && sentence.includes(fact.object))).toBe(
          true,
        );
      }
    }
  });

  it("chains facts: each object of a look-up is the next subject, and the last is the answer", () => {
    for (const { chain, gold } of world.questions.filter((question) => question.kind === "lookup")) {
      for (let i = 1; i < chain.length; i++) expect(chain[i]?.subject).toBe(chain[i - 1]?.object);
      expect(gold).toEqual([chain[chain.length - 1]?.object]);
    }
  });

  it("computes the answers of arithmetic questions", () => {
    for (const { text: asked, chain, gold } of world.questions.filter((question) => question.kind === "arithmetic")) {
      const years = chain.map((fact) => Number(fact.object));
      const added = /Which year is (\d+) years after/.exec(asked);
      const expected = added ? (years[0] ?? 0) + Number(added[1]) : Math.abs((years[0] ?? 0) - (years[1] ?? 0));
      expect(gold).toEqual([String(expected)]);
    }
  });

  it("mentions entities in articles of others, without the facts asked for", () => {
    const mentions = world.entities.filter((entity) =>
      world.documents.some((document) => document.id !== entity.id && document.text.includes(entity.name)),
    );
    expect(mentions.length).toBeGreaterThan(world.entities.length / 3);
  });

  it("has articles from one sentence to several hundred words", () => {
    const sentences = world.documents.map((document) => document.text.split(". ").length).sort((a, b) => a - b);
    expect(sentences[0]).toBeLessThanOrEqual(2);
    expect(sentences[sentences.length - 1]).toBeGreaterThanOrEqual(9);
  });
});

describe("world options", () => {
  it.each([
    [-1, {}, /seed/],
    [1.5, {}, /seed/],
    [1, { perKind: 1 }, /perKind/],
    [1, { questions: -2 }, /questions/],
  ])("refuses seed %s with %o", (seed, options, message) => {
    expect(() => makeWorld(seed, options)).toThrow(message);
  });

  it("shares hardly any name between worlds", () => {
    const names = (seed: number) =>
      new Set(makeWorld(seed, { questions: 0 }).documents.map((document) => document.title));
    const evaluation = names(3);
    const shared = [...names(TRAINING_SEEDS + 3)].filter((name) => evaluation.has(name));
    expect(shared.length).toBeLessThan(4);
  });
});
