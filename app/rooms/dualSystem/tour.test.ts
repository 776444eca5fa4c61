/** The tour fits the recorded run: every chapter has words, a step that is there, and facts out of the run. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseDualTrace } from "../../engine/dualTrace";
import { stepsOf } from "../../engine/runSteps";
import { foldEvents } from "../../engine/runView";
import { strings } from "../../strings";
import { RECORDED_RUNS } from "./recorded";
import { TOUR_CHAPTERS } from "./search";
import { DUEL_CHAPTER, SCENES, stepOf, tourFacts } from "./tour";

const { events } = parseDualTrace(readFileSync(`public/${RECORDED_RUNS[0]!.file}`, "utf8"));
const steps = stepsOf(events);

test("as many scenes as chapters; the steps go forward and the last ones show everything", () => {
  expect(SCENES).toHaveLength(TOUR_CHAPTERS);
  expect(strings.tour.chapters).toHaveLength(TOUR_CHAPTERS);
  expect(DUEL_CHAPTER).toBe(TOUR_CHAPTERS);
  const shown = SCENES.slice(0, -2).map((scene) => stepOf(scene, steps)!);
  expect(shown).toEqual([...new Set(shown)].sort((a, b) => a - b));
  expect(shown.every((step) => step >= 1 && step < steps.length)).toBe(true);
});

test("what the chapters say stands in the run", () => {
  const view = foldEvents(undefined, events)!;
  const facts = tourFacts(view)!;
  const words = strings.tour.chapters.flatMap(({ text }) => text(facts)).join(" ");
  for (const part of [view.question, view.turns[0]!.call!.purpose, view.turns.at(-1)!.answer!.text]) {
    expect(words).toContain(part);
  }
  expect(words).toContain(view.ledger.system2ContextTokens.toLocaleString("en-US"));
  expect(words).not.toMatch(/undefined|NaN/);
});
