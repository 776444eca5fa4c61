import { describe, expect, it } from "vitest";
import { CONDITIONS, conditionOf, evenBatches, needsTraining } from "./evaluate";

describe("conditions of an evaluation", () => {
  it("are known by name", () => {
    for (const condition of CONDITIONS) expect(conditionOf(condition.name)).toBe(condition);
    expect(new Set(CONDITIONS.map(({ name }) => name)).size).toBe(CONDITIONS.length);
  });

  it("may name inner and outer links apart", () => {
    expect(conditionOf("identity+trained")).toMatchObject({ passing: "latent", inner: "identity", outer: "trained" });
    expect(conditionOf("trained+shuffled")).toMatchObject({ inner: "trained", outer: "shuffled" });
  });

  it.each(["nothing", "identity+", "+trained", "trained+text", "shuffled+trained", "a+b+c", ""])(
    'refuse "%s"',
    (name) => {
      expect(() => conditionOf(name)).toThrow(`links: "${name}" is none of trained, identity, ridge`);
    },
  );

  it("say whether they need trained links", () => {
    const names = CONDITIONS.filter(needsTraining).map(({ name }) => name);
    expect(names).toEqual(["trained", "shuffled", "swapped"]);
    expect(needsTraining(conditionOf("ridge+trained"))).toBe(true);
  });
});

describe("batches", () => {
  it("are as few and as even as can be, and none has one question alone", () => {
    const sizes = (count: number, size: number) =>
      evenBatches(Array.from({ length: count }), size).map((own) => own.length);
    expect(sizes(65, 64)).toEqual([33, 32]);
    expect(sizes(128, 64)).toEqual([64, 64]);
    expect(sizes(5, 2)).toEqual([3, 2]);
    expect(sizes(3, 2)).toEqual([3]);
    expect(sizes(1, 64)).toEqual([1]);
    expect(evenBatches([1, 2, 3, 4, 5], 3)).toEqual([
      [1, 2, 3],
      [4, 5],
    ]);
  });
});
