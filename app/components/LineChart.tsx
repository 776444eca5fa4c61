/**
 * Lines over steps: at most 1,000 points, no animation, the legend inside the picture so that an exported file has it.
 * The numbers are also there as a table and as CSV.
 */
import { useMemo, useRef } from "react";
import {
  CartesianGrid,
  Line,
  LineChart as RechartsLineChart,
  ReferenceArea,
  ReferenceLine,
  Tooltip,
  useChartWidth,
  XAxis,
  YAxis,
} from "recharts";
import { strings } from "../strings";
import { ExportMenu } from "./ExportMenu";
import { standaloneSvg } from "./exportFormats";
import classes from "./LineChart.module.css";
import { type Table, TableTwin } from "./TableTwin";
import { thinOut } from "./thinOut";
import { useWidth } from "./useWidth";

export interface LineSeries {
  key: string;
  label: string;
  color: string;
  dashed?: boolean;
  /** Dots at the points, for few of them. */
  dots?: boolean;
  /** Joined where other series have points between. Default: unless they are dots. */
  joined?: boolean;
}

/** A point: x, and the values of the series that have one there. */
export type LinePoint = { x: number } & Record<string, number | undefined>;

interface LineChartProps {
  title: string;
  /** Of the files that are saved. */
  name: string;
  xLabel: string;
  /** Of the values, with a space before where one belongs. */
  unit?: string;
  series: readonly LineSeries[];
  points: readonly LinePoint[];
  /** Logarithmic values; those that are not positive are left out. */
  log?: boolean;
  /** Starts at zero, unless the scale is logarithmic. */
  fromZero?: boolean;
  /** Fixed ends of the x axis, for runs whose length is known. Default: those of the points. */
  xStart?: number | undefined;
  xEnd?: number | undefined;
  line?: { y: number; label: string } | undefined;
  band?: { low: number; high: number; label: string } | undefined;
  /** Marks a point. */
  selected?: number | undefined;
  onSelect?: (x: number) => void;
  formatX?: (x: number) => string;
  height?: number;
}

const LIMIT = 1000;
/** The legend has room for the rows that it needs on a narrow chart. */
const NARROW_PX = 340;

export function LineChart(props: LineChartProps) {
  const { title, name, xLabel, unit = "", series, points, log, height = 190, formatX = String } = props;
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const [first] = series;
  const shown = useMemo(() => {
    const thin = thinOut(points, (point) => (first ? (point[first.key] ?? 0) : 0), LIMIT);
    return log ? thin.map((point) => positive(point, series)) : [...thin];
  }, [points, first, log, series]);
  const table = (): Table => ({
    head: [xLabel, ...series.map(({ label }) => label)],
    rows: points.map((point) => [formatX(point.x), ...series.map(({ key }) => format(point[key]))]),
  });
  const svg = () => {
    const element = box.current?.querySelector<SVGSVGElement>("svg.recharts-surface");
    return element ? standaloneSvg(element) : undefined;
  };
  const label = strings.chart.label(title, points.length);
  return (
    <figure className={classes.figure}>
      <figcaption className={classes.caption}>
        <span className={classes.title}>{title}</span>
        <ExportMenu name={name} title={title} table={table} svg={svg} />
      </figcaption>
      <div className={classes.box} ref={box} style={{ height }}>
        {points.length === 0 ? (
          <p className={classes.empty}>{strings.chart.empty}</p>
        ) : (
          width > 0 && <Chart {...props} shown={shown} label={label} width={width} height={height} />
        )}
      </div>
      <TableTwin caption={`${title}${unit}`} table={table} />
    </figure>
  );
}

interface ChartProps extends LineChartProps {
  shown: LinePoint[];
  label: string;
  width: number;
  height: number;
}

function Chart(props: ChartProps) {
  const {
    shown,
    label,
    width,
    height,
    series,
    log,
    fromZero,
    xStart,
    xEnd,
    line,
    band,
    selected,
    onSelect,
    xLabel,
    unit = "",
  } = props;
  const { formatX = String } = props;
  const rows = Math.max(0, ...legendPlaces(series, NARROW_PX).map(({ row }) => row));
  const low = log ? "auto" : fromZero ? 0 : "auto";
  return (
    <RechartsLineChart
      width={width}
      height={height}
      data={shown}
      margin={{ top: 20 + LEGEND_ROW_PX * rows, right: 12, bottom: 4, left: 0 }}
      accessibilityLayer
      title={label}
      onClick={({ activeLabel }) => {
        if (onSelect && activeLabel !== undefined) onSelect(Number(activeLabel));
      }}
    >
      <CartesianGrid stroke="var(--line)" vertical={false} />
      <XAxis
        dataKey="x"
        type="number"
        domain={[xStart ?? "dataMin", xEnd ?? "dataMax"]}
        allowDecimals={false}
        tickFormatter={formatX}
        tick={{ fontSize: 11, fill: "var(--text-dim)" }}
        stroke="var(--line-strong)"
        height={22}
        minTickGap={28}
      />
      <YAxis
        width={46}
        scale={log ? "log" : "linear"}
        domain={[low, "auto"]}
        allowDataOverflow={false}
        tickFormatter={format}
        tick={{ fontSize: 11, fill: "var(--text-dim)" }}
        stroke="var(--line-strong)"
      />
      {band && (
        <ReferenceArea y1={band.low} y2={band.high} fill="var(--line)" fillOpacity={0.6} ifOverflow="extendDomain" />
      )}
      {line && (
        <ReferenceLine
          y={line.y}
          stroke="var(--text-dim)"
          strokeDasharray="4 3"
          ifOverflow="extendDomain"
          label={{ value: line.label, position: "insideTopRight", fontSize: 11, fill: "var(--text-dim)" }}
        />
      )}
      {selected !== undefined && <ReferenceLine x={selected} stroke="var(--text)" strokeWidth={1.5} />}
      <Tooltip
        isAnimationActive={false}
        content={({ active, payload, label: x }) =>
          active && payload ? (
            <div className={classes.tip}>
              <b>
                {xLabel} {formatX(Number(x))}
              </b>
              {payload.map(({ dataKey, name: of, value, stroke }) => (
                <span key={String(dataKey)}>
                  <i style={{ background: stroke }} /> {of} {format(Number(value))}
                  {unit}
                </span>
              ))}
            </div>
          ) : null
        }
      />
      {series.map(({ key, label: of, color, dashed, dots, joined }) => (
        <Line
          key={key}
          dataKey={key}
          name={of}
          stroke={color}
          strokeWidth={1.6}
          strokeDasharray={dashed ? "5 4" : undefined}
          dot={dots ? { r: 2.5, fill: color, strokeWidth: 0 } : false}
          activeDot={{ r: 4 }}
          isAnimationActive={false}
          connectNulls={joined ?? !dots}
          type="linear"
        />
      ))}
      <Legend series={series} />
    </RechartsLineChart>
  );
}

/** Width of a letter, about: the legend is laid out without measuring. */
const LETTER_PX = 6.2;
const LEGEND_ROW_PX = 15;
const LEGEND_LEFT_PX = 52;

const entryWidth = ({ label }: LineSeries) => 28 + LETTER_PX * label.length;

/** Rows of a legend that is so wide, and the place of each entry. */
function legendPlaces(series: readonly LineSeries[], width: number): { x: number; row: number }[] {
  let [x, row] = [LEGEND_LEFT_PX, 0];
  return series.map((entry) => {
    if (x > LEGEND_LEFT_PX && x + entryWidth(entry) > width) [x, row] = [LEGEND_LEFT_PX, row + 1];
    const place = { x, row };
    x += entryWidth(entry);
    return place;
  });
}

function Legend({ series }: { series: readonly LineSeries[] }) {
  const places = legendPlaces(series, useChartWidth() ?? NARROW_PX);
  return (
    <g fontSize={11} fontFamily="inherit">
      {series.map(({ key, label, color, dashed }, i) => {
        const { x, row } = places[i] as { x: number; row: number };
        return (
          <g key={key} transform={`translate(${x} ${9 + LEGEND_ROW_PX * row})`}>
            <line x2={14} stroke={color} strokeWidth={2} strokeDasharray={dashed ? "4 3" : undefined} />
            <text x={18} y={4} fill="var(--text-dim)">
              {label}
            </text>
          </g>
        );
      })}
    </g>
  );
}

/** Three significant digits, powers of ten where numbers are very small or large. */
function format(value: number | undefined): string {
  if (value === undefined || Number.isNaN(value)) return "";
  const size = Math.abs(value);
  if (size !== 0 && (size < 0.001 || size >= 1e6)) return value.toExponential(1);
  return Number(value.toPrecision(3)).toString();
}

function positive(point: LinePoint, series: readonly LineSeries[]): LinePoint {
  const kept: LinePoint = { x: point.x };
  for (const { key } of series) {
    const value = point[key];
    if (value !== undefined && value > 0) kept[key] = value;
  }
  return kept;
}
