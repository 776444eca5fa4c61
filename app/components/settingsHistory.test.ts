/** Taking settings back and putting them on again. */
import { expect, test } from "vitest";
import { changedKeys, record, redone, type SettingsHistory, settingsOf, undone, withSettings } from "./settingsHistory";

/** The history of addresses that follow one another after the given seconds. */
function historyOf(...moments: [seconds: number, search: Record<string, unknown>][]): SettingsHistory {
  let history: SettingsHistory | undefined;
  for (const [seconds, search] of moments) history = record(history, settingsOf(search), 1000 * seconds);
  return history!;
}

test("each change is taken back and put on again, in order", () => {
  let history = historyOf([0, {}], [5, { seed: 1 }], [10, { seed: 1, results: 3 }]);
  const seen: unknown[] = [];
  for (let next = undone(history); next; next = undone(history)) {
    history = next;
    seen.push(history.now);
  }
  for (let next = redone(history); next; next = redone(history)) {
    history = next;
    seen.push(history.now);
  }
  expect(seen).toEqual([{ seed: 1 }, {}, { seed: 1 }, { seed: 1, results: 3 }]);
});

test("what is typed or dragged is one change, two settings are two", () => {
  expect(historyOf([0, {}], [5, { q: "W" }], [5.3, { q: "Wh" }], [6.2, { q: "Who" }]).past).toEqual([{}]);
  expect(historyOf([0, {}], [5, { q: "W" }], [7, { q: "Wh" }]).past).toEqual([{}, { q: "W" }]);
  expect(historyOf([0, {}], [5, { seed: 1 }], [5.1, { seed: 1, turns: 2 }]).past).toEqual([{}, { seed: 1 }]);
});

test("how the room is looked at is no setting, and stays as it is", () => {
  expect(historyOf([0, {}], [5, { step: 4, depth: "lab", tour: 2 }]).past).toEqual([]);
  expect(withSettings({ step: 4, seed: 1 }, { turns: 2 })).toEqual({ step: 4, turns: 2 });
});

test("the address that taking back leads to is no change, and another change ends what could be put on again", () => {
  const back = undone(historyOf([0, {}], [5, { seed: 1 }]))!;
  expect(record(back, {}, 6_000)).toBe(back);
  expect(record(back, { seed: 2 }, 6_100)).toMatchObject({ past: [{}], future: [] });
});

test("changed settings are named, lists by what they hold", () => {
  expect(changedKeys({ a: [1, 2], b: 1 }, { a: [1, 2], c: 2 })).toEqual(["b", "c"]);
});
