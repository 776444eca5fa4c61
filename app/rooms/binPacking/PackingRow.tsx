/** One algorithm: its bins as columns under the capacity line, what it asks just now, and its counters. */
import { memo, useId } from "react";
import { documentColor } from "../../components/documentColor";
import { formatCount, formatPlural } from "../../format";
import { strings } from "../../strings";
import classes from "./PackingRow.module.css";
import type { Track, TrackState } from "./timeline";
import { stepWords } from "./words";

const text = strings.binPacking;

/** Pixels: above the capacity line for what does not fit, the bin itself, and the figures below it. */
const ABOVE = 18;
const BIN = 68;
const BELOW = 14;
export const ROW_HEIGHT = ABOVE + BIN + BELOW;

export interface Scale {
  /** Pixels of the row. */
  width: number;
  /** Pixels from bin to bin, the same in every row. */
  slot: number;
}

interface PackingRowProps {
  track: Track;
  state: TrackState;
  lengths: readonly number[];
  capacity: number;
  /** No packing has fewer bins; whether some packing has no more. */
  bound: number;
  proven: boolean;
  scale: Scale;
  /** The bound is named in one row only. */
  first: boolean;
  pointed: number | undefined;
  onPoint: (item: number | undefined) => void;
  onChoose: (item: number) => void;
}

export const PackingRow = memo(function PackingRow(props: PackingRowProps) {
  const { track, state, lengths, capacity, bound, proven } = props;
  const { name, short, rule } = text.algorithms[track.algorithm];
  const bins = state.bins.length;
  const extra = bins - bound;
  const { picture } = text;
  return (
    <li className={classes.row} data-algorithm={track.algorithm}>
      <div className={classes.head}>
        <h3 className={classes.name}>
          {name} {track.algorithm !== "one" && <span className={classes.short}>{short}</span>}
        </h3>
        <p className={classes.words} data-fits={state.asking?.fits}>
          {state.asking || (state.placed && !state.finished) ? stepWords(track, state, lengths, capacity) : rule}
        </p>
        <p className={classes.count}>
          <b>{bins}</b> {picture.bins(bins)}
          <span className={classes.verdict} data-over={extra > 0}>
            {extra > 0
              ? (proven ? picture.over : picture.overBound)(extra)
              : state.finished && extra === 0 && picture.atBound}
          </span>
          <span className={classes.asked}>{formatPlural(state.comparisons, "comparison")}</span>
        </p>
      </div>
      <Bins {...props} />
    </li>
  );
});

function Bins({ track, state, lengths, capacity, bound, scale, first, pointed, onPoint, onChoose }: PackingRowProps) {
  const hatch = useId();
  const { slot, width } = scale;
  const gap = Math.min(8, slot * 0.14);
  const wide = slot - gap;
  const { asking } = state;
  const high = (tokens: number) => (tokens / capacity) * BIN;
  const drawn = Math.max(state.bins.length, 1);
  const { name } = text.algorithms[track.algorithm];
  const label = text.picture.row(name, formatPlural(state.bins.length, "bin"), formatCount(bound));
  return (
    <svg
      className={classes.picture}
      width={width}
      height={ROW_HEIGHT}
      viewBox={`0 0 ${width} ${ROW_HEIGHT}`}
      role="img"
      aria-label={label}
      data-row={name}
      onPointerLeave={() => onPoint(undefined)}
    >
      <defs>
        <pattern id={hatch} width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect width="5" height="5" fill="var(--bad-tint)" />
          <line x1="0" y1="0" x2="0" y2="5" stroke="var(--bad)" strokeWidth="2" />
        </pattern>
      </defs>
      {state.bins.map((_, bin) => (
        <rect
          key={bin}
          x={bin * slot + gap / 2}
          y={ABOVE}
          width={wide}
          height={BIN}
          rx={Math.min(4, wide / 4)}
          fill={bin < bound ? "var(--surface-sunken)" : "var(--bad-tint)"}
          stroke={bin < bound ? "var(--system1-line)" : "var(--bad-line)"}
          data-asked={asking?.bin === bin}
        />
      ))}
      {state.bins.flatMap(({ items }, bin) => {
        let below = 0;
        return items.map((item) => {
          const length = lengths[item] as number;
          const cut = length > capacity;
          const height = high(Math.min(length, capacity));
          below += height;
          return (
            // biome-ignore lint/a11y/noStaticElementInteractions: the queue above does the same by keyboard.
            <g
              key={item}
              className={classes.block}
              data-pointed={pointed === item}
              data-dimmed={pointed !== undefined && pointed !== item}
              data-now={!state.finished && state.placed?.item === item}
              style={{ transform: `translate(${bin * slot + gap / 2}px, ${ABOVE + BIN - below}px)` }}
              onPointerEnter={() => onPoint(item)}
              onClick={() => onChoose(item)}
            >
              {cut && <CutMark width={wide} height={high(length - capacity)} fill={`url(#${hatch})`} />}
              <rect
                width={wide}
                height={Math.max(1, height - 1)}
                rx={Math.min(3, height / 4, wide / 4)}
                fill={documentColor(item)}
              />
              <BlockLabel number={item + 1} tokens={length} width={wide} height={height} />
            </g>
          );
        });
      })}
      {asking && <Candidate {...asking} capacity={capacity} x={asking.bin * slot + gap / 2} width={wide} high={high} />}
      <line x1={0} x2={drawn * slot} y1={ABOVE} y2={ABOVE} stroke="var(--system1-text)" strokeDasharray="5 4" />
      {bound > 0 && bound * slot <= width + 1 && (
        <g className={classes.bound}>
          <line
            x1={bound * slot}
            x2={bound * slot}
            y1={first ? 12 : 0}
            y2={ROW_HEIGHT}
            stroke="var(--text)"
            strokeWidth={1.5}
          />
          {first && (
            <text x={bound * slot} y={9} textAnchor={bound * slot > width - 40 ? "end" : "middle"} fontSize={11}>
              {text.picture.atLeast(bound)}
            </text>
          )}
        </g>
      )}
      {slot >= 30 &&
        state.bins.map(({ used }, bin) => (
          <text
            key={bin}
            className={classes.used}
            x={bin * slot + slot / 2}
            y={ROW_HEIGHT - 3}
            textAnchor="middle"
            fontSize={10.5}
          >
            {formatCount(used)}
          </text>
        ))}
    </svg>
  );
}

/** The document in question on top of the bin that is asked, so that it shows how much sticks out. */
function Candidate({
  item,
  length,
  free,
  fits,
  capacity,
  x,
  width,
  high,
}: {
  item: number;
  length: number;
  free: number;
  fits: boolean;
  capacity: number;
  x: number;
  width: number;
  high: (tokens: number) => number;
}) {
  const bottom = ABOVE + BIN - high(capacity - free);
  const top = Math.max(2, bottom - high(length));
  return (
    <g className={classes.candidate}>
      <rect
        x={x + 1}
        y={top}
        width={Math.max(1, width - 2)}
        height={Math.max(2, bottom - top)}
        rx={2}
        fill={documentColor(item)}
        fillOpacity={0.28}
        stroke={fits ? "var(--good)" : "var(--bad)"}
        strokeWidth={2}
        strokeDasharray={fits ? undefined : "4 3"}
      />
      {width >= 12 && (
        <text
          x={x + width / 2}
          y={Math.max(top + 12, 13)}
          textAnchor="middle"
          fontSize={12}
          fontWeight={700}
          fill={fits ? "var(--good)" : "var(--bad)"}
        >
          {fits ? "✓" : "✗"}
        </text>
      )}
    </g>
  );
}

function CutMark({ width, height, fill }: { width: number; height: number; fill: string }) {
  const shown = Math.max(6, Math.min(ABOVE - 4, height));
  return <rect y={-shown} width={width} height={shown} fill={fill} data-cut />;
}

function BlockLabel({
  number,
  tokens,
  width,
  height,
}: {
  number: number;
  tokens: number;
  width: number;
  height: number;
}) {
  if (height < 13 || width < 15) return null;
  const two = height >= 29 && width >= 26;
  const row = !two && width >= 54;
  return (
    <text x={width / 2} textAnchor="middle" fill="#fff" fontSize={11} y={height / 2 + (two ? -2 : 3.5)}>
      <tspan fontWeight={700}>{number}</tspan>
      {(two || row) && (
        <tspan {...(two ? { x: width / 2, dy: 12 } : { dx: 5 })} fontSize={10}>
          {formatCount(tokens)}
        </tspan>
      )}
    </text>
  );
}
