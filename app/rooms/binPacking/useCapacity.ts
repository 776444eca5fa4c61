/** The capacity while it is dragged: it moves faster than a link should. */
import { useEffect, useState } from "react";
import type { RoomSearch } from "./search";

/** Milliseconds of rest before the link follows: browsers refuse to be told of every pixel. */
const REST_MS = 250;

/** The capacity at once, and in the link after a moment. @param own what stands for an absent one */
export function useCapacity(
  linked: number | undefined,
  own: number,
  update: (change: Partial<RoomSearch>) => void,
): [number, (to: number) => void] {
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
