/** The key table: what a press is called, and that no key means two things at once. */
import { expect, test } from "vitest";
import { availableActions, KEY_ACTIONS, KEY_TABLE, type KeyAction, keyOf } from "./keys";

const press = (key: string, held: Partial<KeyboardEvent> = {}) => keyOf({ key, ...held } as KeyboardEvent);

test("a press in the table's words", () => {
  expect(press("n")).toBe("n");
  expect(press("N", { shiftKey: true })).toBe("n");
  expect(press("?", { shiftKey: true })).toBe("?");
  expect(press("ArrowLeft", { shiftKey: true })).toBe("Shift+ArrowLeft");
  expect(press("z", { ctrlKey: true })).toBe("mod+z");
  expect(press("z", { metaKey: true })).toBe("mod+z");
  expect(press("Z", { ctrlKey: true, shiftKey: true })).toBe("mod+Shift+z");
  // Combinations with Alt write letters on many keyboards, and steer browsers.
  expect(press("ArrowLeft", { altKey: true })).toBeUndefined();
});

test("only the tour, and moves by hand, take keys that mean something else without them", () => {
  const owner = new Map<string, string>();
  for (const action of KEY_ACTIONS) {
    if (KEY_TABLE[action].group === "tour" || action === "undo") continue;
    for (const key of KEY_TABLE[action].keys) {
      expect(owner.get(key), key).toBeUndefined();
      owner.set(key, action);
    }
  }
});

test("a key is listed once, with what it does now", () => {
  const offer = (action: KeyAction) => ({ action, handler: () => undefined });
  expect(availableActions([offer("undoSettings"), offer("undo")])).toEqual(["undo"]);
  expect(availableActions([offer("redoSettings"), offer("undoSettings")])).toEqual(["undoSettings", "redoSettings"]);
  expect(availableActions([offer("forward"), offer("markForward"), offer("tourNext")])).toEqual([
    "tourNext",
    "markForward",
  ]);
});
