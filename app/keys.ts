/**
 * Every key of the page in one table: what listens reads it, and so does the sheet that explains it. A component offers
 * an action with `useKeys`; keys of actions that nobody offers do nothing and are not listed.
 */
import { useEffect, useRef } from "react";
import { create } from "zustand";

interface KeyRow {
  group: "page" | "room" | "run" | "tour";
  /** As `KeyboardEvent.key` has them, letters small; "mod" is Control, or Command on a Mac. */
  keys: readonly string[];
  /**
   * Where the focus may be: "page" not on a control, which takes the key itself; "controls" not in a field that takes
   * letters; "choices" not in a field for text, which takes back what was written there; "anywhere".
   */
  focus: "page" | "controls" | "choices" | "anywhere";
}

/** Of two rows with the same key the upper one wins while it is offered. */
export const KEY_TABLE = {
  tourNext: { group: "tour", keys: ["ArrowRight"], focus: "controls" },
  tourBack: { group: "tour", keys: ["ArrowLeft"], focus: "controls" },
  tourLeave: { group: "tour", keys: ["Escape"], focus: "anywhere" },
  room: { group: "page", keys: ["1", "2", "3", "4", "5", "6", "7", "8", "9"], focus: "controls" },
  sheet: { group: "page", keys: ["?"], focus: "controls" },
  depth: { group: "page", keys: ["l"], focus: "controls" },
  tour: { group: "room", keys: ["t"], focus: "controls" },
  why: { group: "room", keys: ["w"], focus: "controls" },
  fresh: { group: "room", keys: ["n"], focus: "controls" },
  reset: { group: "room", keys: ["r"], focus: "controls" },
  trainStep: { group: "room", keys: ["s"], focus: "controls" },
  trainPause: { group: "room", keys: ["p"], focus: "controls" },
  undo: { group: "room", keys: ["mod+z"], focus: "choices" },
  undoSettings: { group: "room", keys: ["mod+z"], focus: "choices" },
  redoSettings: { group: "room", keys: ["mod+Shift+z", "mod+y"], focus: "choices" },
  stop: { group: "room", keys: ["Escape"], focus: "anywhere" },
  play: { group: "run", keys: [" "], focus: "page" },
  back: { group: "run", keys: ["ArrowLeft"], focus: "page" },
  forward: { group: "run", keys: ["ArrowRight"], focus: "page" },
  markBack: { group: "run", keys: ["Shift+ArrowLeft"], focus: "page" },
  markForward: { group: "run", keys: ["Shift+ArrowRight"], focus: "page" },
  start: { group: "run", keys: ["Home"], focus: "page" },
  end: { group: "run", keys: ["End"], focus: "page" },
} as const satisfies Record<string, KeyRow>;

export type KeyAction = keyof typeof KEY_TABLE;
export const KEY_ACTIONS = Object.keys(KEY_TABLE) as KeyAction[];
/** Gets the key that was pressed, as the table writes it. */
export type KeyHandler = (key: string) => void;

interface Offer {
  action: KeyAction;
  handler: () => KeyHandler | undefined;
}

/** What is offered now, oldest first. */
export const useOfferedKeys = create<{ offers: readonly Offer[] }>(() => ({ offers: [] }));

/** The actions that can be taken now, in the table's order: without those whose keys go to one further up. */
export function availableActions(offers: readonly Offer[]): KeyAction[] {
  const taken = new Set<string>();
  return KEY_ACTIONS.filter((action) => {
    const { keys }: KeyRow = KEY_TABLE[action];
    if (!offers.some((offer) => offer.action === action) || keys.every((key) => taken.has(key))) return false;
    for (const key of keys) taken.add(key);
    return true;
  });
}

/** Offers actions while the component is on the screen; an action whose handler is undefined is not offered now. */
export function useKeys(handlers: { [A in KeyAction]?: KeyHandler | undefined }): void {
  const latest = useRef(handlers);
  useEffect(() => {
    latest.current = handlers;
  });
  const offered = KEY_ACTIONS.filter((action) => handlers[action] !== undefined).join();
  useEffect(() => {
    const own = offered
      .split(",")
      .filter((action) => action !== "")
      .map((action): Offer => ({ action: action as KeyAction, handler: () => latest.current[action as KeyAction] }));
    useOfferedKeys.setState(({ offers }) => ({ offers: [...offers, ...own] }));
    return () => useOfferedKeys.setState(({ offers }) => ({ offers: offers.filter((offer) => !own.includes(offer)) }));
  }, [offered]);
}

/** What takes keys itself, what is written in, and what takes letters. */
const CONTROLS = "button, a, summary, input, select, [role='radio'], [role='slider'], [role='menu'], [role='option']";
const TEXT = "textarea, [contenteditable], input:not([type='radio'], [type='checkbox'], [type='button'])";
const FIELDS = `${TEXT}, select`;
const TAKEN = { page: `${CONTROLS}, ${FIELDS}`, controls: FIELDS, choices: TEXT } as const;

/** A key press in the table's words; undefined for combinations that belong to the browser. */
export function keyOf({ key, altKey, ctrlKey, metaKey, shiftKey }: KeyboardEvent): string | undefined {
  if (altKey) return undefined;
  const named = key.length > 1;
  const mod = ctrlKey || metaKey;
  // Without Control, Shift is part of the character.
  return `${mod ? "mod+" : ""}${shiftKey && (named || mod) ? "Shift+" : ""}${named ? key : key.toLowerCase()}`;
}

function isAllowed(focus: KeyRow["focus"], target: EventTarget | null): boolean {
  if (focus === "anywhere" || !(target instanceof Element)) return true;
  return !target.closest(TAKEN[focus]);
}

function onKeyDown(event: KeyboardEvent): void {
  // What lies over the page has the keys for itself; an input method composes with them.
  if (event.defaultPrevented || event.isComposing || document.querySelector("[aria-modal='true']")) return;
  const key = keyOf(event);
  if (key === undefined) return;
  const { offers } = useOfferedKeys.getState();
  for (const action of KEY_ACTIONS) {
    const { keys, focus }: KeyRow = KEY_TABLE[action];
    if (!keys.includes(key) || !isAllowed(focus, event.target)) continue;
    const handler = offers.findLast((offer) => offer.action === action)?.handler();
    if (!handler) continue;
    event.preventDefault();
    handler(key);
    return;
  }
}

/** Starts to listen; called once, by the frame of the page. Returns what ends it. */
export function listenForKeys(): () => void {
  document.addEventListener("keydown", onKeyDown);
  return () => document.removeEventListener("keydown", onKeyDown);
}
