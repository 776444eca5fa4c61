/** The view of a recursion at its end and at every step before; the vectors of each space. */
import { describe, expect, it, test } from "vitest";
import { recursionEventSchema } from "../../src/index";
import { MADE_UP_ROUNDS, MADE_UP_STEPS, madeUpRecursion } from "../../tests/fixtures/recursionRun";
import { cosinesOf, distinctTokens, normOf, spacesOf, vectorsOf } from "./latents";
import { foldRecursion, momentsOf } from "./recursionView";

const events = madeUpRecursion();

test("the made-up run is one that the schema allows", () => {
  for (const event of events) expect(recursionEventSchema.parse(event)).toEqual(event);
});

describe("foldRecursion", () => {
  it("has every turn with its thoughts and messages, and an answer a round", () => {
    const view = foldRecursion(events)!;
    expect(view.turns).toHaveLength(3 * MADE_UP_ROUNDS);
    const [first] = view.turns;
    expect(first!.thoughts).toHaveLength(MADE_UP_STEPS);
    expect(first!.messages[0]!.vectors).toHaveLength(MADE_UP_STEPS);
    expect(view.turns.at(-1)!.thoughts).toEqual([]);
    expect([...view.answers].map(([round, { correct }]) => [round, correct])).toEqual([
      [1, false],
      [2, true],
    ]);
    expect(view.finished?.reason).toBe("answer");
    expect(view.streamed).toBe(view.answer?.text);
  });

  it("grows from moment to moment, and never by the words of an answer alone", () => {
    const moments = momentsOf(events);
    expect(moments.some(({ event }) => event.type === "answerToken")).toBe(false);
    let thoughts = 0;
    for (const { events: count, event } of moments) {
      const view = foldRecursion(events.slice(0, count))!;
      const now = view.turns.flatMap((turn) => turn.thoughts).length;
      expect(now - thoughts).toBe(event.type === "latentThought" ? 1 : 0);
      thoughts = now;
    }
    expect(moments.at(-1)!.events).toBe(events.length);
  });

  it("is empty before a start", () => {
    expect(foldRecursion(events.slice(1))).toBeUndefined();
    expect(foldRecursion([])).toBeUndefined();
  });
});

describe("spaces", () => {
  const view = foldRecursion(events)!;
  const spaces = spacesOf(view.started);

  it("are the models of the agents", () => {
    expect(spaces.map(({ model, hiddenSize, agents }) => [model, hiddenSize, agents])).toEqual([
      ["narrow", 6, [0, 2]],
      ["wide", 8, [1]],
    ]);
  });

  it("hold what is read in them, and every vector once", () => {
    const all = vectorsOf(view);
    const parts = spaces.map((space) => vectorsOf(view, space));
    expect(
      parts
        .flat()
        .map(({ key }) => key)
        .sort(),
    ).toEqual(all.map(({ key }) => key).sort());
    expect(new Set(all.map(({ key }) => key)).size).toBe(all.length);
    for (const [i, part] of parts.entries()) {
      expect(part.every(({ vector }) => vector.length === spaces[i]!.hiddenSize)).toBe(true);
    }
    // Messages to the critic stand in its space, whoever sent them.
    expect(
      parts[1]!.filter(({ kind }) => kind === "message").every(({ agent, reader }) => agent === 0 && reader === 1),
    ).toBe(true);
  });
});

test("cosines are those of the definition; what is not shown is not known", () => {
  const vectors = [
    [1, 0],
    [3, 4],
    [-2, 0],
    [0, 0],
  ];
  const cosines = cosinesOf(vectors, 3);
  expect(Array.from(cosines).map((value) => (Number.isNaN(value) ? null : Number(value.toFixed(6))))).toEqual([
    ...[1, 0.6, -1, null],
    ...[0.6, 1, -0.6, null],
    ...[-1, -0.6, 1, null],
    ...[null, null, null, null],
  ]);
  expect(Array.from(cosinesOf(vectors)).at(-1)).toBeNaN();
  expect(normOf([3, 4])).toBe(5);
});

test("of tokens with the same embedding one stays", () => {
  const tokens = [
    [1, 0, 0],
    [0.99, 0.01, 0],
    [0, 2, 0],
    [0, 1.9, 0.1],
    [0, 0, -1],
  ].map((vector, id) => ({ id, vector }));
  expect(distinctTokens(tokens).map(({ id }) => id)).toEqual([0, 2, 4]);
});
