import { describe, expect, it } from "vitest";
import { CONDITIONS, conditionOf, needsTraining } from "./evaluate";

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
