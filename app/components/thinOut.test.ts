/** A chart of many steps stays within its limit and keeps its ends and its spikes. */
import { expect, test } from "vitest";
import { thinOut } from "./thinOut";

const steps = Array.from({ length: 10_000 }, (_, i) => ({ step: i, loss: i === 4321 ? 99 : 1 / (1 + i) }));

test("few points are left alone", () => {
  expect(thinOut(steps.slice(0, 1000), ({ loss }) => loss)).toHaveLength(1000);
});

test("many points are cut to the limit, in order, with both ends and the spike", () => {
  const kept = thinOut(steps, ({ loss }) => loss, 200);
  expect(kept.length).toBeLessThanOrEqual(200);
  expect(kept.length).toBeGreaterThan(150);
  expect(kept[0]).toBe(steps[0]);
  expect(kept.at(-1)).toBe(steps.at(-1));
  expect(kept).toContain(steps[4321]);
  for (let i = 1; i < kept.length; i++) expect(kept[i]!.step).toBeGreaterThan(kept[i - 1]!.step);
});

test("equal values give no point twice", () => {
  const kept = thinOut(
    Array.from({ length: 500 }, (_, i) => i),
    () => 1,
    50,
  );
  expect(new Set(kept).size).toBe(kept.length);
});
