/** The URL's part of the room: defaults, changes of settings, damaged links. */
import { expect, test } from "vitest";
import { changedSettings, DEFAULTS, searchSchema, settingsOf, withSetting } from "./search";

test("an empty address has the page's settings", () => {
  expect(searchSchema.parse({})).toEqual(DEFAULTS);
  expect(settingsOf("inner")).toMatchObject({ stage: "inner", steps: 200 });
  expect(settingsOf("outer")).toMatchObject({ stage: "outer", roundsMix: [1, 2, 3], feedback: "rollout" });
});

test("only what differs is kept, stage by stage", () => {
  let search = searchSchema.parse({});
  search = { ...search, ...withSetting(search, "inner", "batch", 2) };
  search = { ...search, ...withSetting(search, "outer", "roundsMix", [1, 2]) };
  expect(search.inner).toEqual({ batch: 2 });
  expect(search.outer).toEqual({ roundsMix: [1, 2] });
  expect(changedSettings(search, "inner")).toBe(1);
  expect(searchSchema.parse(JSON.parse(JSON.stringify(search)))).toEqual(search);
  expect(withSetting(search, "inner", "batch", settingsOf("inner").batch)).toEqual({ inner: undefined });
});

test("what is out of range or unknown is left out, the rest stays", () => {
  const damaged = { inner: { steps: 12, batch: -1, nonsense: 3 }, outer: 5, stage: "third", n: 1e9, from: "x" };
  expect(searchSchema.parse(damaged)).toEqual({ ...DEFAULTS, inner: { steps: 12 } });
});
