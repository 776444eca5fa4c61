/**
 * What a room's settings were before, and what they were before that was taken back. Settings are the parameters of the
 * room's address; those that say how it is looked at are none.
 */

/** In no room a setting: parts of the frame, the place in a run, the chapter of the tour. */
const VIEW: ReadonlySet<string> = new Set(["depth", "engine", "embed", "hide", "step", "tour"]);
/** Changes of the same settings that follow one another this fast are one: typing, dragging a slider. */
const ONE_CHANGE_MS = 1_000;
const KEPT = 100;

export type Settings = Readonly<Record<string, unknown>>;

/** Of one room. */
export interface SettingsHistory {
  now: Settings;
  /** Oldest first. */
  past: readonly Settings[];
  /** What comes next first. */
  future: readonly Settings[];
  /** The change that led to `now`. */
  last?: { keys: string; at: number } | undefined;
}

/** The settings among the parameters of an address. */
export function settingsOf(search: Settings): Settings {
  return Object.fromEntries(Object.entries(search).filter(([key, value]) => !VIEW.has(key) && value !== undefined));
}

/** Names of the settings that differ. */
export function changedKeys(a: Settings, b: Settings): string[] {
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].filter((key) => JSON.stringify(a[key]) !== JSON.stringify(b[key])).sort();
}

/** Takes note of the settings that the room has now. @param at milliseconds, of any clock */
export function record(history: SettingsHistory | undefined, settings: Settings, at: number): SettingsHistory {
  if (!history) return { now: settings, past: [], future: [] };
  const keys = changedKeys(history.now, settings).join();
  if (keys === "") return history;
  const { last } = history;
  const goesOn = last?.keys === keys && at - last.at < ONE_CHANGE_MS;
  return {
    now: settings,
    past: goesOn ? history.past : [...history.past, history.now].slice(-KEPT),
    future: [],
    last: { keys, at },
  };
}

/** The settings before the last change; undefined when there was none. */
export function undone({ now, past, future }: SettingsHistory): SettingsHistory | undefined {
  const before = past.at(-1);
  return before && { now: before, past: past.slice(0, -1), future: [now, ...future] };
}

/** The settings that were taken back last; undefined when there are none. */
export function redone({ now, past, future }: SettingsHistory): SettingsHistory | undefined {
  const [next, ...later] = future;
  return next && { now: next, past: [...past, now], future: later };
}

/** The address with other settings, looked at as it is now. */
export function withSettings(search: Settings, settings: Settings): Settings {
  return { ...Object.fromEntries(Object.entries(search).filter(([key]) => VIEW.has(key))), ...settings };
}
