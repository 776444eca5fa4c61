/** The URL's part of the room: defaults, changes of settings, damaged links. */
import { expect, test } from "vitest";
import { changedSettings, DEFAULTS, recipeOf, searchSchema, settingsOf, withRecipe, withSetting } from "./search";

test("an empty address has the page's settings", () => {
  expect(searchSchema.parse({})).toEqual(DEFAULTS);
  expect(settingsOf("inner")).toMatchObject({ stage: "inner", learningRate: 0.003 });
  expect(settingsOf("outer")).toMatchObject({ stage: "outer", messageWeight: 1, feedback: "rollout" });
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

test("a recipe sets both stages, keeps what is no part of it, and is recognised", () => {
  let search = searchSchema.parse({ inner: { seed: 5 } });
  expect(recipeOf(search, "outer")).toBe("shipped");
  search = { ...search, ...withRecipe(search, "paper") };
  expect(settingsOf("outer", search.outer)).toMatchObject({ messageWeight: 0, answerWeight: 1, roundsMix: [1, 2, 3] });
  expect(settingsOf("inner", search.inner)).toMatchObject({ seed: 5, innerExpansion: 1 });
  expect(recipeOf(search, "inner")).toBe("paper");
  search = { ...search, ...withSetting(search, "outer", "messageWeight", 0.5) };
  expect(recipeOf(search, "outer")).toBeUndefined();
  search = { ...search, ...withRecipe(search, "shipped") };
  expect(search).toMatchObject({ inner: { seed: 5 }, outer: undefined });
});
