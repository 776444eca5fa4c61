/** Axes of a space's map and the places of its vectors and tokens on it; axes are fitted once and then stay. */
import { useEffect, useMemo } from "react";
import { distinctTokens, type LatentVector, spacesOf, vectorsOf } from "../../engine/latents";
import { extentOf, fitAxes, type MapAxes, project } from "../../engine/mapAxes";
import { foldRecursion } from "../../engine/recursionView";
import { keepAxes, useLatents } from "../../stores/latentStore";
import { type RecursionRun, useRecursion } from "../../stores/recursionStore";
import type { RoomSearch } from "./search";

interface Place {
  x: number;
  y: number;
}

export interface SpaceMap {
  axes: MapAxes;
  /** Of the vectors, in their order. */
  places: Place[];
  /** Tokens. */
  ground: (Place & { label: string })[];
  extent: { x: number; y: number; radius: number };
}

/** Undefined as long as there is too little to fit axes on. */
export function useMap(model: string, fit: RoomSearch["fit"], vectors: readonly LatentVector[]): SpaceMap | undefined {
  const vocabulary = useLatents(({ vocabularies }) => vocabularies[model]);
  const kept = useLatents(({ axes }) => axes);
  const runs = useRecursion((state) => state.runs);
  const tokens = useMemo(() => {
    if (!vocabulary) return [];
    const { hiddenSize, vectors: all, texts } = vocabulary;
    return distinctTokens(
      texts.map((label, i) => ({ label, vector: all.subarray(i * hiddenSize, (i + 1) * hiddenSize) })),
    );
  }, [vocabulary]);

  // Without the models there are no tokens; while the first run grows its thoughts are not all there.
  const isOver = runs.length > 0 && runs.every((run) => run.isOver);
  const isFitted = kept[`${model}:${fit}`] !== undefined;
  const usable = tokens.length === 0 ? "thoughts" : isOver || isFitted ? fit : "tokens";
  const key = `${model}:${usable}`;
  const axes = kept[key];
  useEffect(() => {
    if (axes) return;
    const rows = [
      ...(usable === "thoughts" ? [] : tokens.map(({ vector }) => vector)),
      ...(usable === "tokens" ? [] : thoughtsIn(runs, model)),
    ];
    const fitted = fitAxes(rows);
    if (fitted) keepAxes(key, fitted);
  }, [axes, usable, key, tokens, runs, model]);

  return useMemo(() => {
    if (!axes) return undefined;
    const places = vectors.map(({ vector }) => project(axes, vector));
    const ground = tokens.map(({ label, vector }) => ({ label, ...project(axes, vector) }));
    return { axes, places, ground, extent: extentOf(usable === "thoughts" ? places : [...ground, ...places]) };
  }, [axes, vectors, tokens, usable]);
}

/** The vectors of all runs that are read in a model's space. */
function thoughtsIn(runs: readonly RecursionRun[], model: string): (readonly number[])[] {
  return runs.flatMap(({ events, isOver }) => {
    const view = isOver ? foldRecursion(events) : undefined;
    const space = view && spacesOf(view.started).find((own) => own.model === model);
    return view && space ? vectorsOf(view, space).map(({ vector }) => vector) : [];
  });
}
