import { describe, expect, it } from "vitest";
import { makeRelay, noteText, relayCourse, roundsNeeded } from "../world/relay";
import { deliberationPattern, distillationPattern, mixturePattern, sequentialPattern } from "./pattern";
import { NO_MESSAGE, SLOT } from "./prompts";
import { relayEvaluationQuestions, relayFitQuestions } from "./relayEvaluation";
import { relayQuestion, relayStates } from "./relayTask";

const seeds = Array.from({ length: 40 }, (_, seed) => seed);

describe("relay in a ring", () => {
  it("has the course and the rounds that the world tells", () => {
    const pattern = sequentialPattern();
    for (const seed of seeds) {
      const { relay, ...question } = relayQuestion(seed, { pattern });
      expect(relay).toEqual(makeRelay(seed, { agents: 3 }));
      expect(relayStates(relay, pattern, 4)).toEqual(relayCourse(relay, 4));
      expect(question.roundsNeeded).toBe(relay.roundsNeeded);
      expect(question.hops).toBe(relay.verbs.length);
      const course = relayCourse(relay, question.roundsNeeded);
      const last = course[question.roundsNeeded - 1]?.[2];
      expect(question.target?.({ agent: 2, round: question.roundsNeeded, register: "note" })).toBe(noteText(last!));
    }
  });

  it("is asked with one slot at the end, the same before it in every round", () => {
    const question = relayQuestion(3, { pattern: sequentialPattern() });
    for (const agent of [0, 1, 2]) {
      const texts = [1, 2, 3].map((round) => question.messages({ agent, round, register: "note" })[0]?.content);
      expect(new Set(texts).size).toBe(1);
      expect(texts[0]?.endsWith(`Message:${SLOT}`)).toBe(true);
      expect(texts[0]).toContain(`You are the ${["planner", "critic", "solver"][agent]}.`);
    }
  });

  it("grades notes and sentences", () => {
    const { grade, gold } = relayQuestion(5, { pattern: sequentialPattern(), hops: 2 });
    expect(grade?.(` Ada loves ${gold}`)).toEqual({ answer: gold, correct: true });
    expect(grade?.(` Ada loves ${gold}. The answer is ${gold}.`)).toEqual({ answer: gold, correct: true });
    expect(grade?.(" Ada loves unknown")).toEqual({ correct: false });
    expect(grade?.("")).toEqual({ correct: false });
    expect(grade?.(NO_MESSAGE)).toEqual({ correct: false });
  });
});

describe("relay in other patterns", () => {
  it.each([distillationPattern(), deliberationPattern()])("$name: a ring of two", (pattern) => {
    for (const seed of seeds) {
      const { relay, roundsNeeded: rounds } = relayQuestion(seed, { pattern });
      expect(rounds).toBe(roundsNeeded(relay.holders, 2));
    }
  });

  it("mixture: the summarizer goes on from the specialist who got furthest, and a lap may bring two hops", () => {
    const pattern = mixturePattern();
    const options = { pattern, hops: 2 };
    for (const seed of seeds) {
      const question = relayQuestion(seed, { ...options, deal: "random" });
      const [first, second] = question.relay.holders as [number, number];
      // A specialist's hop and then the summarizer's are one lap; otherwise the second waits for the next.
      expect(question.roundsNeeded, `holders ${first} ${second}`).toBe(first !== 3 && second === 3 ? 1 : 2);
      expect(question.messages({ agent: 3, round: 1, register: "note" })[0]?.content.split(SLOT)).toHaveLength(4);
      expect(question.messages({ agent: 0, round: 1, register: "note" })[0]?.content.split(SLOT)).toHaveLength(2);
    }
  });

  it("asks agents by names that the shipped ones know", () => {
    const question = relayQuestion(1, { pattern: mixturePattern() });
    const names = [0, 1, 2, 3].map((agent) => {
      return /You are the (\w+)/.exec(question.messages({ agent, round: 1, register: "note" })[0]?.content ?? "")?.[1];
    });
    expect(names).toEqual(["planner", "critic", "critic", "solver"]);
  });
});

describe("questions of an evaluation", () => {
  it("are all different, the same for a seed, and none of training", () => {
    const options = { pattern: sequentialPattern(), deal: "against" as const };
    const questions = relayEvaluationQuestions(7, 300, options);
    const own = questions.map(({ relay }) => relay.seed);
    expect(new Set(own).size).toBe(300);
    expect(Math.max(...own)).toBeLessThan(900_000);
    expect(relayEvaluationQuestions(7, 20, options).map(({ relay }) => relay.seed)).toEqual(own.slice(0, 20));
    expect(relayEvaluationQuestions(8, 20, options).map(({ relay }) => relay.seed)).not.toEqual(own.slice(0, 20));
    expect(questions.every(({ relay }) => relay.deal === "against")).toBe(true);
    for (const { relay } of relayFitQuestions(7, 50, options)) expect(relay.seed).toBeGreaterThanOrEqual(1_000_000);
  });
});
