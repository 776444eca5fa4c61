/** Bars: how many seeds ended so many bins over the lower bound. A bar opens the first of its seeds. */
import { formatPercent } from "../../format";
import { strings } from "../../strings";
import classes from "./Histogram.module.css";

const text = strings.binPacking.study;
const HEIGHT = 46;
const LABEL = 13;
/** Pixels between the ends of the plot and its first and last bars. */
const SIDE = 4;

interface Plot {
  width: number;
  /** Largest distance from the bound in any row. */
  last: number;
}

interface HistogramProps extends Plot {
  name: string;
  counts: readonly number[];
  done: number;
  /** The highest bar of all rows: all are drawn to one scale. */
  tallest: number;
  onOpen: (distance: number) => void;
}

const slotOf = ({ width, last }: Plot) => (width - 2 * SIDE) / (last + 1);

export function Histogram({ name, counts, done, tallest, onOpen, ...plot }: HistogramProps) {
  const slot = slotOf(plot);
  return (
    <svg
      className={classes.plot}
      width={plot.width}
      height={HEIGHT}
      viewBox={`0 0 ${plot.width} ${HEIGHT}`}
      role="img"
      aria-label={text.chart(name)}
      data-row={name}
    >
      <line x1={0} x2={plot.width} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} stroke="var(--line-strong)" />
      {counts.map((count, distance) => {
        if (count === 0) return null;
        const height = Math.max(1.5, (count / tallest) * (HEIGHT - LABEL - 1));
        const x = SIDE + distance * slot;
        const share = formatPercent(count / done);
        return (
          // biome-ignore lint/a11y/noStaticElementInteractions: the worst seed has a button; the rest is in the table.
          <g key={distance} className={classes.bar} onClick={() => onOpen(distance)}>
            <title>{text.bar(name, text.extra(distance), share)}</title>
            <rect x={x} y={0} width={slot} height={HEIGHT} fill="transparent" />
            <rect
              x={x + slot * 0.12}
              y={HEIGHT - 1 - height}
              width={slot * 0.76}
              height={height}
              rx={Math.min(2, height / 2)}
              fill={distance === 0 ? "var(--good)" : "var(--text-dim)"}
            />
            {slot >= 26 && (
              <text x={x + slot / 2} y={HEIGHT - 4 - height} textAnchor="middle" fontSize={10} fill="var(--text-dim)">
                {count / done < 0.005 ? "<1%" : share}
              </text>
            )}
          </g>
        );
      })}
    </svg>
  );
}

/** The scale that all rows share. @param start pixels at which the plots begin */
export function HistogramAxis({ start, ...plot }: Plot & { start: number }) {
  const slot = slotOf(plot);
  const every = Math.max(1, Math.ceil(26 / slot));
  const ticks = Array.from({ length: plot.last + 1 }, (_, distance) => distance).filter((at) => at % every === 0);
  return (
    <svg className={classes.axis} style={{ marginLeft: start }} width={plot.width} height={32} aria-hidden>
      {ticks.map((distance) => (
        <text key={distance} x={SIDE + (distance + 0.5) * slot} y={12} textAnchor="middle" fontSize={11}>
          {distance === 0 ? "0" : `+${distance}`}
        </text>
      ))}
      <text x={plot.width} y={28} textAnchor="end" fontSize={11}>
        {text.axis}
      </text>
    </svg>
  );
}
