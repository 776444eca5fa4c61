/** What moves faster than a link should: the capacity while it is dragged, the step while it is played. */
import { useEffect, useRef, useState } from "react";
import type { Playback } from "../../components/playback";
import type { RoomSearch } from "./search";

/** Milliseconds of rest before the link follows: browsers refuse to be told of every pixel. */
const REST_MS = 250;

type Update = (change: Partial<RoomSearch>) => void;

/** The capacity at once, and in the link after a moment. @param own what stands for an absent one */
export function useCapacity(linked: number | undefined, own: number, update: Update): [number, (to: number) => void] {
  const wanted = linked ?? own;
  const [draft, setDraft] = useState<number>();
  // The link has caught up, or another one was opened.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above.
  useEffect(() => setDraft(undefined), [wanted]);
  useEffect(() => {
    if (draft === undefined || draft === wanted) return;
    const timer = setTimeout(() => update({ capacity: draft === own ? undefined : draft }), REST_MS);
    return () => clearTimeout(timer);
  }, [draft, wanted, own, update]);
  return [draft ?? wanted, setDraft];
}

/**
 * The playback's position in the link, while nothing plays; absent at the end. A link that is opened moves the playback.
 */
export function useStepInLink(
  linked: number | undefined,
  { position, following, playing, length, go }: Playback,
  update: Update,
): void {
  const step = following ? undefined : position;
  /** What the link said when it was last read or written here. */
  const known = useRef(linked);
  useEffect(() => {
    if (known.current === linked) return;
    known.current = linked;
    go(linked ?? length);
  }, [linked, length, go]);
  useEffect(() => {
    if (playing || known.current === step) return;
    const timer = setTimeout(() => {
      known.current = step;
      update({ step });
    }, REST_MS);
    return () => clearTimeout(timer);
  }, [step, playing, update]);
}
