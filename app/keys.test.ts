/** The key table: what a press is called, and that no key means two things at once. */
import { expect, test } from "vitest";
import { KEY_ACTIONS, KEY_TABLE, keyOf } from "./keys";

const press = (key: string, held: Partial<KeyboardEvent> = {}) => keyOf({ key, ...held } as KeyboardEvent);

test("a press in the table's words", () => {
  expect(press("n")).toBe("n");
  expect(press("N", { shiftKey: true })).toBe("n");
  expect(press("?", { shiftKey: true })).toBe("?");
  expect(press("ArrowLeft", { shiftKey: true })).toBe("Shift+ArrowLeft");
  expect(press("z", { ctrlKey: true })).toBe("mod+z");
  expect(press("z", { metaKey: true })).toBe("mod+z");
  // Combinations with Alt write letters on many keyboards, and steer browsers.
  expect(press("ArrowLeft", { altKey: true })).toBeUndefined();
});

test("only the tour takes keys that mean something else without it", () => {
  const owner = new Map<string, string>();
  for (const action of KEY_ACTIONS) {
    if (KEY_TABLE[action].group === "tour") continue;
    for (const key of KEY_TABLE[action].keys) {
      expect(owner.get(key), key).toBeUndefined();
      owner.set(key, action);
    }
  }
});
