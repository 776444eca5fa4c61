/** A square of signed numbers between -1 and 1, purple below zero, green above; rows and columns are the same things. */
import { useCallback, useMemo, useState } from "react";
import { strings } from "../strings";
import { type CanvasSize, token, useCanvas } from "./canvas";
import { ExportMenu } from "./ExportMenu";
import classes from "./Heatmap.module.css";
import { type Table, TableTwin } from "./TableTwin";

export interface HeatmapItem {
  key: string;
  label: string;
  /** Colour of its mark at the edges. */
  color: string;
  /** Items of one group stand together; a line parts the groups. */
  group: string;
}

interface HeatmapProps {
  title: string;
  /** What a number is: "cosine". */
  unit: string;
  items: readonly HeatmapItem[];
  /** Row by row, [items.length ** 2]; NaN is not known yet. */
  values: Float32Array;
  selected: string | undefined;
  onSelect: (key: string) => void;
}

const EDGE = 10;

export function Heatmap({ title, unit, items, values, selected, onSelect }: HeatmapProps) {
  const [hovered, setHovered] = useState<{ x: number; y: number; row: number; column: number }>();
  const count = items.length;
  const draw = useCallback(
    (context: CanvasRenderingContext2D, size: CanvasSize) => {
      const cell = cellOf(size, items.length);
      drawCells(context, values, items.length, cell);
      drawEdges(context, items, cell);
      const chosen = items.findIndex(({ key }) => key === selected);
      if (chosen >= 0) drawCross(context, chosen, items.length, cell);
    },
    [items, values, selected],
  );
  const { box, canvas, width, height } = useCanvas(draw, (wide) => Math.min(420, wide));

  const find = (event: React.MouseEvent<HTMLElement>) => {
    const bounds = event.currentTarget.getBoundingClientRect();
    const cell = cellOf({ width, height }, count);
    const [x, y] = [event.clientX - bounds.left, event.clientY - bounds.top];
    const [column, row] = [Math.floor((x - EDGE) / cell), Math.floor((y - EDGE) / cell)];
    const inside = column >= 0 && row >= 0 && column < count && row < count;
    return inside ? { x, y, row, column } : undefined;
  };
  const table = useMemo(() => () => tableOf(items, values), [items, values]);
  const value = hovered && values[hovered.row * count + hovered.column];
  return (
    <div>
      <div className={classes.box} ref={box}>
        <canvas
          ref={canvas}
          className={classes.canvas}
          role="img"
          aria-label={strings.heatmap.label(title, count)}
          style={{ height }}
          onPointerMove={(event) => setHovered(find(event))}
          onPointerLeave={() => setHovered(undefined)}
          onClick={(event) => {
            const found = find(event);
            if (found) onSelect((items[found.row] as HeatmapItem).key);
          }}
        />
        {hovered && value !== undefined && !Number.isNaN(value) && (
          <span className={classes.tip} data-left={hovered.x > width / 2} style={{ left: hovered.x, top: hovered.y }}>
            {items[hovered.row]?.label} × {items[hovered.column]?.label}: {unit} {value.toFixed(2)}
          </span>
        )}
      </div>
      <div className={classes.scale}>
        <span>{unit}</span> <span>−1</span>
        <span className={classes.ramp} aria-hidden />
        <span>1</span>
        <span className={classes.export}>
          <ExportMenu name="cosines" title={title} table={table} canvas={() => canvas.current} />
        </span>
      </div>
      <TableTwin caption={title} table={table} />
    </div>
  );
}

const cellOf = ({ width, height }: CanvasSize, count: number) =>
  Math.max(2, (Math.min(width, height) - EDGE - 1) / Math.max(1, count));

/** Red, green and blue between two colours. */
function mixed(from: readonly number[], to: readonly number[], share: number): string {
  return `rgb(${from.map((channel, i) => Math.round(channel + share * ((to[i] as number) - channel))).join(" ")})`;
}

function drawCells(context: CanvasRenderingContext2D, values: Float32Array, count: number, cell: number): void {
  const [ground, low, high] = ["--surface-sunken", "--signed-low", "--signed-high"].map((name) =>
    channelsOf(token(name)),
  ) as [number[], number[], number[]];
  for (let row = 0; row < count; row++) {
    for (let column = 0; column < count; column++) {
      const value = values[row * count + column] as number;
      if (Number.isNaN(value)) continue;
      context.fillStyle = mixed(ground, value < 0 ? low : high, Math.min(1, Math.abs(value)));
      // Whole pixels, so that no seams show.
      const [x, y] = [Math.floor(EDGE + column * cell), Math.floor(EDGE + row * cell)];
      const [right, bottom] = [Math.floor(EDGE + (column + 1) * cell), Math.floor(EDGE + (row + 1) * cell)];
      context.fillRect(x, y, right - x, bottom - y);
    }
  }
}

function drawEdges(context: CanvasRenderingContext2D, items: readonly HeatmapItem[], cell: number): void {
  const end = EDGE + items.length * cell;
  for (const [i, { color, group }] of items.entries()) {
    const at = EDGE + i * cell;
    context.fillStyle = color;
    context.fillRect(at, 0, cell, EDGE - 3);
    context.fillRect(0, at, EDGE - 3, cell);
    if (i > 0 && items[i - 1]?.group !== group) {
      context.fillStyle = token("--surface");
      context.fillRect(at - 0.5, 0, 1, end);
      context.fillRect(0, at - 0.5, end, 1);
    }
  }
}

function drawCross(context: CanvasRenderingContext2D, chosen: number, count: number, cell: number): void {
  const at = EDGE + chosen * cell;
  context.strokeStyle = token("--text");
  context.lineWidth = 1.5;
  context.strokeRect(EDGE, at, count * cell, cell);
  context.strokeRect(at, EDGE, cell, count * cell);
}

/** Red, green and blue of a colour such as #11161b. */
function channelsOf(hex: string): number[] {
  return [1, 3, 5].map((start) => Number.parseInt(hex.slice(start, start + 2), 16));
}

function tableOf(items: readonly HeatmapItem[], values: Float32Array): Table {
  return {
    head: ["", ...items.map(({ label }) => label)],
    rows: items.map(({ label }, row) => [
      label,
      ...items.map((_, column) => {
        const value = values[row * items.length + column] as number;
        return Number.isNaN(value) ? "" : value.toFixed(2);
      }),
    ]),
  };
}
