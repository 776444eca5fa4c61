/**
 * All algorithms on one clock. In round r each takes its r-th document; within a round they ask their bins one after
 * another, and place the document in the round's last moment, so that they stay side by side however much each asks.
 */
import {
  type Bin,
  type Packing,
  type PackingAlgorithm,
  type PackingFigures,
  type PackingStep,
  packingFigures,
  packingSteps,
} from "../../../src/index";
import type { Grain } from "./search";

export type Comparison = Extract<PackingStep, { type: "compare" }>;
export type Placement = Extract<PackingStep, { type: "place" }>;

interface Round {
  comparisons: Comparison[];
  placement: Placement;
  /** It opened the bin that it placed the document in. */
  opened: boolean;
}

/** One algorithm's work, round by round. */
export interface Track {
  algorithm: PackingAlgorithm;
  rounds: Round[];
  packing: Packing;
  figures: PackingFigures;
}

export interface Moment {
  round: number;
  /** Which comparison of the round is asked, from 0; undefined in the moment in which all place. */
  comparison?: number;
}

/** Where a track stands at a moment. */
export interface TrackState {
  bins: Bin[];
  /** Comparisons so far. */
  comparisons: number;
  /** The question that is asked now. */
  asking?: Comparison;
  /** What was placed in this round, when it is. */
  placed?: Placement & { opened: boolean };
  finished: boolean;
}

export function trackOf(lengths: readonly number[], capacity: number, algorithm: PackingAlgorithm): Track {
  const rounds: Round[] = [];
  let comparisons: Comparison[] = [];
  let opened = false;
  for (const step of packingSteps(lengths, capacity, algorithm)) {
    if (step.type === "compare") comparisons.push(step);
    else if (step.type === "open") opened = true;
    else if (step.type === "place") {
      rounds.push({ comparisons, placement: step, opened });
      comparisons = [];
      opened = false;
    }
  }
  const { packing, ...figures } = packingFigures(lengths, capacity, algorithm);
  return { algorithm, rounds, packing, figures };
}

/** The moments of all tracks together. Tracks are of the same documents. */
export function momentsOf(tracks: readonly Track[], grain: Grain): Moment[] {
  const rounds = tracks[0]?.rounds.length ?? 0;
  const moments: Moment[] = [];
  for (let round = 0; round < rounds; round++) {
    const asked = Math.max(...tracks.map((track) => track.rounds[round]?.comparisons.length ?? 0));
    if (grain === "comparison") {
      for (let comparison = 0; comparison < asked; comparison++) moments.push({ round, comparison });
    }
    moments.push({ round });
  }
  return moments;
}

/** Position after the last moment of every round. */
export function roundEnds(moments: readonly Moment[]): number[] {
  return moments.flatMap(({ comparison }, i) => (comparison === undefined ? [i + 1] : []));
}

/** What has happened up to and including a moment; undefined: nothing yet. */
export function stateAt({ rounds }: Track, moment: Moment | undefined): TrackState {
  const bins: Bin[] = [];
  if (!moment) return { bins, comparisons: 0, finished: rounds.length === 0 };
  let asked = 0;
  const put = ({ placement }: Round) => {
    bins[placement.bin] ??= { items: [], used: 0 };
    const bin = bins[placement.bin] as Bin;
    bin.items.push(placement.item);
    bin.used = placement.used;
  };
  for (const round of rounds.slice(0, moment.round)) {
    put(round);
    asked += round.comparisons.length;
  }
  const round = rounds[moment.round];
  if (!round) return { bins, comparisons: asked, finished: true };
  const asking = moment.comparison === undefined ? undefined : round.comparisons[moment.comparison];
  // Who has asked enough places at once and waits for the others.
  const places = moment.comparison === undefined || asking === undefined;
  if (!places) return { bins, comparisons: asked + (moment.comparison ?? 0) + 1, asking, finished: false };
  put(round);
  return {
    bins,
    comparisons: asked + round.comparisons.length,
    placed: { ...round.placement, opened: round.opened },
    finished: moment.comparison === undefined && moment.round === rounds.length - 1,
  };
}

/** The document that a track works on at a moment. */
export function documentAt({ rounds }: Track, moment: Moment | undefined): number | undefined {
  return moment && rounds[moment.round]?.placement.item;
}
