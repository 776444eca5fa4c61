/** Real documents for the presets that need them: the articles of a world, or what the last run packed. */
import { useCallback, useEffect, useMemo, useState } from "react";
import type { RunView } from "../../engine/runView";
import { useRun } from "../../stores/runStore";
import type { DocumentPool } from "./documents";
import type { RoomSearch } from "./search";

export interface PoolState {
  pool?: DocumentPool;
  loading: boolean;
  /** Why there are no articles. */
  failure?: string;
  retry: () => void;
}

export function usePool({ preset, world }: Pick<RoomSearch, "preset" | "world">): PoolState {
  const [counted, setCounted] = useState<{ world: number; pool?: DocumentPool; failure?: string }>();
  const [attempt, setAttempt] = useState(0);
  const retry = useCallback(() => setAttempt((before) => before + 1), []);
  const lastRun = useLastRun();
  const wanted = preset === "articles";
  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt asks again.
  useEffect(() => {
    if (!wanted) return;
    const controller = new AbortController();
    setCounted((before) => (before?.world === world && before.pool ? before : undefined));
    import("./articles")
      .then(({ articlesOf }) => articlesOf(world, controller.signal))
      .then((pool) => setCounted({ world, pool }))
      .catch((error: unknown) => {
        if (!controller.signal.aborted) setCounted({ world, failure: String(error) });
      });
    return () => controller.abort();
  }, [wanted, world, attempt]);
  if (preset === "run") return { pool: lastRun, loading: false, retry };
  if (!wanted) return { loading: false, retry };
  const current = counted?.world === world ? counted : undefined;
  return { pool: current?.pool, failure: current?.failure, loading: current === undefined, retry };
}

/** The documents of the last run's largest packing. */
export function useLastRun(): DocumentPool | undefined {
  const view = useRun((state) => state.view);
  return useMemo(() => view && largestPacking(view), [view]);
}

export function largestPacking({ turns }: Pick<RunView, "turns">): DocumentPool | undefined {
  let largest: DocumentPool | undefined;
  for (const { documents, packed } of turns) {
    if (!documents || !packed || documents.length <= (largest?.documents.length ?? 0)) continue;
    largest = { documents: documents.map(({ tokens, title }) => ({ tokens, title })), capacity: packed.capacity };
  }
  return largest;
}
