/** The playback's position in the address, which moves more slowly than the playback. */
import { useEffect, useRef } from "react";
import type { Playback } from "./playback";

/** Milliseconds of rest before the link follows: browsers refuse to be told of every pixel. */
const REST_MS = 250;

/**
 * The playback's position in the link, while nothing plays; absent at the end. A link that is opened moves the playback.
 */
export function useStepInLink(
  linked: number | undefined,
  { position, following, playing, length, go }: Playback,
  update: (change: { step: number | undefined }) => void,
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
