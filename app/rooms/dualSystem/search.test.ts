/** The URL's part of the room: defaults, damaged links, presets. */
import { expect, test } from "vitest";
import { makeWorld } from "../../../src/index";
import type { QuestionSummary } from "../../../src/worker/protocol";
import { RESEARCH_AGENT } from "../../models";
import {
  changedSettings,
  changedTools,
  DEFAULTS,
  freshQuestion,
  HOME_ITEM,
  listedQuestions,
  pickPresets,
  questionOf,
  searchSchema,
  sitesOf,
  toRequest,
} from "./search";

const questions: QuestionSummary[] = makeWorld(DEFAULTS.world).questions;

test("an empty address is the home question in the home world", () => {
  const search = searchSchema.parse({});
  expect(search).toEqual(DEFAULTS);
  expect(changedSettings(search)).toBe(0);
  const question = questionOf(search, questions)!;
  expect(question).toBe(questions[HOME_ITEM - 1]);
  expect(toRequest(search, question)).toEqual({
    model: RESEARCH_AGENT,
    world: DEFAULTS.world,
    question: question.text,
    gold: question.gold,
    useSystem1: true,
    searchResults: DEFAULTS.results,
    maxTurns: DEFAULTS.turns,
    temperature: 0,
    seed: 0,
  });
});

test("damaged values fall back one by one, good ones stay", () => {
  const damaged = {
    world: -1,
    item: "x",
    q: " ",
    system1: 3,
    capacity: 7,
    results: 99,
    turns: 2,
    temperature: "hot",
    seed: 5,
  };
  expect(searchSchema.parse(damaged)).toEqual({ ...DEFAULTS, turns: 2, seed: 5 });
});

test("own words have no gold, unless they are a question of the world", () => {
  const own = searchSchema.parse({ q: "Who am I?" });
  expect(toRequest(own, questionOf(own, questions)!)).not.toHaveProperty("gold");
  const known = searchSchema.parse({ q: questions[3]!.text });
  expect(questionOf(known, questions)).toBe(questions[3]);
});

test("presets show every shape of question once before any twice", () => {
  const shapes = pickPresets(questions).map((index) => `${questions[index]!.kind} ${questions[index]!.hops}`);
  expect(shapes.slice(0, 3)).toEqual(["lookup 1", "lookup 2", "lookup 3"]);
  expect(new Set(shapes).size).toBe(5);
  expect(pickPresets(questions.slice(0, 2))).toHaveLength(2);
  expect(pickPresets([])).toEqual([]);
});

test("a question that is linked to stands first in the list, a preset where it is", () => {
  const presets = pickPresets(questions);
  const other = questions.findIndex((_, index) => !presets.includes(index));
  expect(listedQuestions(searchSchema.parse({ item: other + 1 }), questions)).toEqual([other, ...presets.slice(0, -1)]);
  expect(listedQuestions(searchSchema.parse({ item: presets[2]! + 1 }), questions)).toEqual(presets);
  expect(listedQuestions(searchSchema.parse({ q: "Who am I?" }), questions)).toEqual(presets);
});

test("fresh questions lie outside the first world and always exist", () => {
  for (const value of [0, 0.5, 0.999999]) {
    const fresh = searchSchema.parse({ ...freshQuestion(() => value) });
    expect(fresh.world).toBeGreaterThan(DEFAULTS.world);
    expect(questionOf(fresh, questions)).toBeDefined();
  }
});

test("corpora and tools that were chosen are asked for, and sites are named", () => {
  const search = searchSchema.parse({ corpus: "papers", scholar: "openalex", parallel: 2, packing: "nf", patience: 3 });
  const question = { text: "Who?", hops: 0, kind: "lookup" as const, gold: [] };
  expect(toRequest(search, question, "key")).toMatchObject({
    corpus: "papers",
    tools: { search: true, python: true, scholar: "openalex", wikipedia: false },
    network: { timeoutMs: 3000, openAlexKey: "key" },
    packing: "nf",
    parallel: 2,
  });
  expect(sitesOf(search)).toEqual(["openalex"]);
  expect(sitesOf(searchSchema.parse({ corpus: "wikipedia", search: false }))).toEqual([]);
  expect(changedTools(search)).toBe(2);
  expect(changedSettings(search)).toBe(2);
});

test("a damaged corpus, language or tool in a link is the default", () => {
  const damaged = { corpus: "everything", language: "evil.example/", scholar: "google", patience: 0, packing: "x" };
  expect(searchSchema.parse(damaged)).toEqual(DEFAULTS);
});

test("a corpus without questions of its own has none until one is written", () => {
  expect(questionOf(searchSchema.parse({ corpus: "own", item: 3 }), questions)).toBeUndefined();
  expect(questionOf(searchSchema.parse({ corpus: "own", q: "Who?" }), questions)).toMatchObject({
    text: "Who?",
    gold: [],
  });
});
