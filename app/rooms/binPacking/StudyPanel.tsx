/** Many seeds: how far each algorithm is from the lower bound, as one small histogram under the other. */
import { Button, Progress } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { IconPlayerPlayFilled, IconPlayerStopFilled } from "@tabler/icons-react";
import { useRef } from "react";
import type { StudyOptions, StudyRow } from "../../../src/index";
import { ExportMenu } from "../../components/ExportMenu";
import { Frame } from "../../components/Frame";
import { type Table, TableTwin } from "../../components/TableTwin";
import { formatCount, formatPercent } from "../../format";
import { strings } from "../../strings";
import { nameOf } from "./Figures";
import { Histogram, HistogramAxis } from "./Histogram";
import { rowsAsSvg } from "./rowsAsSvg";
import classes from "./StudyPanel.module.css";
import { useStudy } from "./useStudy";

const text = strings.binPacking.study;

interface StudyPanelProps {
  /** What to run; another object is another study. */
  options: StudyOptions;
  hint: string;
  onOpenSeed: (seed: number) => void;
}

export function StudyPanel({ options, hint, onOpenSeed }: StudyPanelProps) {
  const { state, start, stop } = useStudy(options);
  const list = useRef<HTMLUListElement>(null);
  const { ref: box, width } = useElementSize<HTMLDivElement>();
  const running = state?.phase === "running";
  const rows = state && state.done > 0 ? state.rows : [];
  const table = () => studyTable(rows, state?.done ?? 0);
  const last = Math.max(1, ...rows.map(({ counts }) => counts.length - 1));
  const tallest = Math.max(...rows.flatMap(({ counts }) => counts), 1);
  return (
    <Frame
      title={text.title}
      hint={hint}
      tools={
        <>
          {running ? (
            <Button size="compact-xs" variant="default" leftSection={<IconPlayerStopFilled size={12} />} onClick={stop}>
              {text.cancel}
            </Button>
          ) : (
            <Button size="compact-xs" leftSection={<IconPlayerPlayFilled size={12} />} onClick={start}>
              {state ? text.again : text.run}
            </Button>
          )}
          {rows.length > 0 && (
            <ExportMenu name="packing-study" title={text.title} table={table} svg={() => rowsAsSvg(list.current)} />
          )}
        </>
      }
    >
      <div className={classes.progress} role="status">
        {running && (
          <Progress
            className={classes.bar}
            size="sm"
            value={(100 * state.done) / options.seeds}
            aria-label={text.title}
          />
        )}
        {state?.phase === "stopped" && text.cancelled(formatCount(state.done))}
        {(running || state?.phase === "done") && text.progress(formatCount(state.done), formatCount(options.seeds))}
      </div>
      <div ref={box}>
        {rows.length === 0 ? (
          <p className={classes.empty}>{text.empty}</p>
        ) : (
          <>
            <ul ref={list} className={classes.rows}>
              {rows.map((row) => (
                <StudyLine key={row.algorithm} {...{ row, width, last, tallest, onOpenSeed }} done={state!.done} />
              ))}
            </ul>
            <HistogramAxis start={isWide(width) ? NAME_PX + GAP_PX : 0} width={plotWidth(width)} last={last} />
            <p className={classes.note}>{text.note}</p>
            <TableTwin caption={text.table} table={table} />
          </>
        )}
      </div>
    </Frame>
  );
}

/** Beside the histogram stand the name and the numbers, where there is room. As in the style sheet. */
const NAME_PX = 128;
const NUMBERS_PX = 188;
const GAP_PX = 12;
const isWide = (width: number) => width > 620;
const plotWidth = (width: number) => Math.max(160, isWide(width) ? width - NAME_PX - NUMBERS_PX - 2 * GAP_PX : width);

interface StudyLineProps {
  row: StudyRow;
  done: number;
  width: number;
  last: number;
  tallest: number;
  onOpenSeed: (seed: number) => void;
}

function StudyLine({ row, done, width, last, tallest, onOpenSeed }: StudyLineProps) {
  const { algorithm, counts, firstSeed, extra } = row;
  const worst = firstSeed.at(-1);
  return (
    <li className={classes.row}>
      <span className={classes.name}>{nameOf(algorithm)}</span>
      <Histogram
        name={nameOf(algorithm)}
        counts={counts}
        done={done}
        width={plotWidth(width)}
        last={last}
        tallest={tallest}
        onOpen={(distance) => firstSeed[distance] !== undefined && onOpenSeed(firstSeed[distance])}
      />
      <span className={classes.numbers}>
        <b>{text.mean((extra / done).toFixed(2))}</b>
        <span>{text.atBound(formatPercent((counts[0] ?? 0) / done))}</span>
        {worst !== undefined && (
          <Button size="compact-xs" variant="subtle" onClick={() => onOpenSeed(worst)}>
            {`${text.extra(counts.length - 1)}: ${text.open(worst)}`}
          </Button>
        )}
      </span>
    </li>
  );
}

function studyTable(rows: readonly StudyRow[], done: number): Table {
  const last = Math.max(0, ...rows.map(({ counts }) => counts.length - 1));
  const distances = Array.from({ length: last + 1 }, (_, distance) => distance);
  return {
    head: [text.algorithm, text.meanBins, text.meanExtra, text.meanComparisons, ...distances.map(text.extra)],
    rows: rows.map(({ algorithm, bins, extra, comparisons, counts }) => [
      nameOf(algorithm),
      ...[bins, extra, comparisons].map((sum) => (sum / done).toFixed(2)),
      ...distances.map((distance) => counts[distance] ?? 0),
    ]),
  };
}
