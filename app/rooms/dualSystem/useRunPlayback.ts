/** The run on the screen as it stands at the position of the playback. */
import { useMemo, useRef } from "react";
import { type Playback, usePlayback } from "../../components/playback";
import { useStepInLink } from "../../components/stepInLink";
import { type RunStep, stepsOf } from "../../engine/runSteps";
import { foldEvents, type RunView } from "../../engine/runView";
import { recordedEvents, useRun } from "../../stores/runStore";
import type { RoomSearch } from "./search";

export interface ShownRun {
  /** At the position. */
  view: RunView;
  /** Of the whole run, as far as it has come. */
  whole: RunView;
  steps: readonly RunStep[];
  playback: Playback;
}

/** Undefined while there is no run. */
export function useRunPlayback(
  linked: RoomSearch["step"],
  update: (change: Partial<RoomSearch>) => void,
): ShownRun | undefined {
  const whole = useRun((state) => state.view);
  const shown = useRun((state) => state.shown);
  // The recorder's events belong to the view that was published with them.
  const events = useMemo(() => (whole ? recordedEvents() : []), [whole]);
  const steps = useMemo(() => stepsOf(events), [events]);
  // The link speaks of the run that the page opened with; any other one is shown whole.
  const start = useRef(linked);
  const before = useRef(shown);
  if (shown !== before.current) {
    if (before.current !== undefined) start.current = undefined;
    before.current = shown;
  }
  const playback = usePlayback(steps.length, shown, start.current);
  const { position, following } = playback;
  useStepInLink(linked, playback, update);
  const count = position === 0 ? 1 : (steps[position - 1]?.events ?? events.length);
  const past = useMemo(
    () => (following ? undefined : foldEvents(undefined, events.slice(0, count))),
    [following, events, count],
  );
  if (!whole) return undefined;
  return { view: past ?? whole, whole, steps, playback };
}
