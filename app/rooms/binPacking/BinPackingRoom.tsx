/** Why First Fit Decreasing: one list of documents, packed by five algorithms side by side, step by step, and by hand. */
import { Loader, VisuallyHidden } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { getRouteApi } from "@tanstack/react-router";
import { useCallback, useEffect, useMemo, useState } from "react";
import { bestPacking, martelloTothLowerBound, type StudyOptions } from "../../../src/index";
import { ErrorCard } from "../../components/ErrorCard";
import { LabOnly } from "../../components/LabOnly";
import { LaneMark } from "../../components/LaneMark";
import { usePlayback } from "../../components/playback";
import { RoomFrame } from "../../components/RoomFrame";
import { useStepInLink } from "../../components/stepInLink";
import { Transport } from "../../components/Transport";
import { useKeys } from "../../keys";
import { wantModels } from "../../stores/engineStore";
import { strings } from "../../strings";
import classes from "./BinPackingRoom.module.css";
import { Bounds } from "./Bounds";
import { ControlPanel } from "./ControlPanel";
import { type DocumentPool, drawDocuments, ownCapacity, type PackedDocument } from "./documents";
import { Figures, nameOf } from "./Figures";
import { HandBoard } from "./HandBoard";
import { binsOfHand, type Hand, readHand, resultOf, writeHand } from "./hand";
import { MeasurePanel } from "./MeasurePanel";
import { CutNotice, SidePicture } from "./SidePicture";
import { StudyPanel } from "./StudyPanel";
import { System1Cost } from "./System1Cost";
import { DEFAULTS, freshSeed, type RoomSearch, readAlgorithms, seedOf } from "./search";
import { momentsOf, roundEnds, stateAt, trackOf } from "./timeline";
import { useCapacity } from "./useCapacity";
import { usePool } from "./usePool";
import { stepWords } from "./words";

const route = getRouteApi("/bin-packing");
const text = strings.binPacking;
const SEEDS = 1_000;
/** Milliseconds of rest before a moment is read out. */
const ANNOUNCE_MS = 500;

export function BinPackingRoom() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  useEffect(() => wantModels([]), []);
  const update = useCallback(
    (change: Partial<RoomSearch>) =>
      void navigate({ search: (previous) => ({ ...previous, ...change }), replace: true, resetScroll: false }),
    [navigate],
  );
  const { pool, loading, failure, retry } = usePool(search);
  const own = ownCapacity(search, pool);
  const [capacity, setCapacity] = useCapacity(search.capacity, own, update);
  const documents = useDocuments(search, pool);
  const newSeed = () => update({ seed: freshSeed(seedOf(search)), step: undefined, hand: undefined });
  const [resets, setResets] = useState(0);
  const reset = () => {
    setCapacity(own);
    update({ capacity: undefined, algorithms: DEFAULTS.algorithms, grain: DEFAULTS.grain, step: 0 });
    setResets((before) => before + 1);
  };
  useKeys({ fresh: newSeed, reset });
  return (
    <RoomFrame
      title={strings.rooms.binPacking.title}
      lead={<Lead />}
      panel={
        <ControlPanel
          search={search}
          update={update}
          capacity={capacity}
          own={own}
          setCapacity={setCapacity}
          onNewSeed={newSeed}
          onReset={reset}
        />
      }
    >
      <div className={classes.parts}>
        {loading && (
          <p className={classes.note}>
            <Loader size={14} color="var(--text-dim)" /> {text.status.loading}
          </p>
        )}
        {failure && <ErrorCard problem={{ kind: "modelFilesMissing", detail: failure }} onRetry={retry} />}
        {!loading && !failure && documents.length === 0 && <p className={classes.note}>{text.status.noList}</p>}
        {documents.length > 0 && (
          <Packed
            documents={documents}
            capacity={capacity}
            search={search}
            pool={pool}
            update={update}
            resets={resets}
          />
        )}
      </div>
    </RoomFrame>
  );
}

/** The documents of the link; the same array while nothing that draws them changes. */
function useDocuments(search: RoomSearch, pool: DocumentPool | undefined): PackedDocument[] {
  const { preset, seed, count, shortest, longest, items } = search;
  // biome-ignore lint/correctness/useExhaustiveDependencies: what else the link says draws no documents.
  return useMemo(
    () => drawDocuments(search, seedOf(search), pool),
    [preset, seed, count, shortest, longest, items, pool],
  );
}

interface PackedProps {
  documents: readonly PackedDocument[];
  capacity: number;
  search: RoomSearch;
  pool: DocumentPool | undefined;
  update: (change: Partial<RoomSearch>) => void;
  /** How often the visitor has gone back to the start. */
  resets: number;
}

function Packed({ documents, capacity, search, pool, update, resets }: PackedProps) {
  const { algorithms: named, grain, hand: written } = search;
  const lengths = useMemo(() => documents.map(({ tokens }) => tokens), [documents]);
  const algorithms = useMemo(() => readAlgorithms(named), [named]);
  const tracks = useMemo(
    () => algorithms.map((algorithm) => trackOf(lengths, capacity, algorithm)),
    [algorithms, lengths, capacity],
  );
  const moments = useMemo(() => momentsOf(tracks, grain), [tracks, grain]);
  const bound = useMemo(() => martelloTothLowerBound(lengths, capacity), [lengths, capacity]);
  const best = useMemo(() => bestPacking(lengths, capacity), [lengths, capacity]);
  // Other bins or algorithms leave the step where it is: the picture is packed anew under the visitor's eyes.
  const run = useMemo(() => ({ documents, grain, resets }), [documents, grain, resets]);
  const playback = usePlayback(moments.length, run, search.step);
  const { position, playing } = playback;
  useStepInLink(search.step, playback, update);
  const moment = moments[position - 1];
  const [chosen, setChosen] = useState<number>();
  useKeys({ stop: chosen === undefined ? undefined : () => setChosen(undefined) });

  const hand = readHand(written, lengths.length);
  const handBins = binsOfHand(hand, lengths, capacity);
  const { open, overfull } = resultOf(hand, handBins);
  const setHand = (next: Hand) => update({ hand: writeHand(next) });
  const [first] = tracks;
  const now = momentWords(position, moments.length, moment?.round, lengths.length);
  const study = useStudyOptions(search, pool, capacity);
  const marks = useMemo(
    () =>
      roundEnds(moments).map((at, round) => ({
        at,
        label: text.words.now(round + 1, lengths.length),
        color: "var(--line-strong)",
      })),
    [moments, lengths.length],
  );
  const said =
    first &&
    text.words.announce(now, nameOf(first.algorithm), stepWords(first, stateAt(first, moment), lengths, capacity));
  return (
    <>
      <CutNotice lengths={lengths} capacity={capacity} />
      <SidePicture
        {...{ documents, lengths, capacity, best, tracks, moment }}
        chosen={chosen !== undefined && chosen < lengths.length ? chosen : undefined}
        onChoose={setChosen}
      />
      <Figures {...{ tracks, lengths, capacity, best }} hand={open === 0 && !overfull ? handBins : undefined} />
      {first && <HandBoard {...{ lengths, capacity, hand, setHand, best }} rival={first} />}
      <StudyPanel
        options={study}
        hint={text.study.hint[search.preset === "mixed" || search.preset === "articles" ? search.preset : "order"]}
        onOpenSeed={(seed) => {
          update({ seed, step: undefined, hand: undefined });
          document.getElementById("main")?.scrollIntoView({ block: "start" });
        }}
      />
      <LabOnly>
        <Bounds {...{ lengths, capacity, bound, best, tracks }} />
        <System1Cost tracks={tracks} capacity={capacity} />
        <MeasurePanel lengths={lengths} capacity={capacity} algorithms={algorithms} />
      </LabOnly>
      <div className={classes.transport}>
        <Transport playback={playback} marks={marks} now={now} />
      </div>
      <Announcer words={playing ? undefined : said} />
    </>
  );
}

function momentWords(position: number, length: number, round: number | undefined, documents: number): string {
  if (round === undefined) return text.words.start;
  return position === length ? text.words.end : text.words.now(round + 1, documents);
}

/** Draws as the room draws, only with other seeds. */
function useStudyOptions(search: RoomSearch, pool: DocumentPool | undefined, capacity: number): StudyOptions {
  const { preset, count, shortest, longest, items, algorithms } = search;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the seed, the step and the hand make no other study.
  return useMemo(
    () => ({
      draw: (seed) => drawDocuments(search, seed, pool).map(({ tokens }) => tokens),
      capacity,
      algorithms: readAlgorithms(algorithms),
      seeds: SEEDS,
    }),
    [preset, count, shortest, longest, items, algorithms, pool, capacity],
  );
}

/** Reads the moment out when the picture rests. */
function Announcer({ words }: { words: string | undefined }) {
  const [rested] = useDebouncedValue(words, ANNOUNCE_MS);
  return (
    <VisuallyHidden role="status" aria-live="polite">
      {rested}
    </VisuallyHidden>
  );
}

function Lead() {
  const { start, system1, rest } = text.lead;
  return (
    <>
      {start}{" "}
      <span className={classes.name}>
        <LaneMark lane="system1" size={18} /> <b>{system1}</b>
      </span>{" "}
      {rest}
    </>
  );
}
