/** Where in a run the picture stands: at its end while it grows, or wherever the visitor went. */
import { useCallback, useEffect, useState } from "react";

/** Milliseconds between two moments at speed 1. */
const STEP_MS = 400;
export const SPEEDS = [0.5, 1, 2, 4] as const;
export type Speed = (typeof SPEEDS)[number];

export interface Playback {
  /** Moments that are shown, from 0 to `length`. */
  position: number;
  length: number;
  playing: boolean;
  speed: Speed;
  /** Whether the picture stays at the end. */
  following: boolean;
  go(position: number): void;
  toggle(): void;
  setSpeed(speed: Speed): void;
}

/**
 * @param run changes when another run is shown
 * @param start where a run is shown first. Default: whole
 */
export function usePlayback(length: number, run: unknown, start?: number): Playback {
  const [at, setAt] = useState(start);
  const [playing, setPlaying] = useState(false);
  const [speed, setSpeed] = useState<Speed>(1);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another run starts over.
  useEffect(() => {
    setAt(start);
    setPlaying(false);
  }, [run]);
  const position = Math.min(at ?? length, length);
  useEffect(() => {
    if (!playing) return;
    const timer = setTimeout(() => {
      if (position + 1 >= length) {
        setPlaying(false);
        setAt(undefined);
      } else setAt(position + 1);
    }, STEP_MS / speed);
    return () => clearTimeout(timer);
  }, [playing, position, length, speed]);
  const go = useCallback(
    (next: number) => {
      const within = Math.max(0, Math.min(length, next));
      setPlaying(false);
      setAt(within >= length ? undefined : within);
    },
    [length],
  );
  const toggle = useCallback(() => {
    setPlaying((now) => !now);
    // From the end, playing starts over.
    setAt((now) => (now === undefined && !playing ? 0 : now));
  }, [playing]);
  return { position, length, playing, speed, following: at === undefined, go, toggle, setSpeed };
}
