/**
 * Vectors of many numbers as dots on a plane: hue and shape are the agent, lightness the round; the dots of a turn are
 * joined in order, messages are outlines, tokens a grey ground. Axes come from outside and do not move while dots come.
 */
import { useCallback, useMemo, useState } from "react";
import { strings } from "../strings";
import { agentShape } from "./agentColor";
import { type CanvasSize, token, useCanvas } from "./canvas";
import { ExportMenu } from "./ExportMenu";
import classes from "./LatentMap.module.css";
import { type Table, TableTwin } from "./TableTwin";

export interface MapDot {
  key: string;
  x: number;
  y: number;
  agent: number;
  color: string;
  hollow: boolean;
  /** Dots that are joined in order: those of a turn. */
  path: string;
  label: string;
}

export interface MapGround {
  x: number;
  y: number;
  label: string;
}

interface LatentMapProps {
  title: string;
  dots: readonly MapDot[];
  ground: readonly MapGround[];
  /** Half the width of what is shown, and its middle: frozen with the axes. */
  extent: { x: number; y: number; radius: number };
  axes: readonly [string, string];
  selected: string | undefined;
  onSelect: (key: string) => void;
}

const PADDING = 18;
const REACH = 14;

export function LatentMap({ title, dots, ground, extent, axes, selected, onSelect }: LatentMapProps) {
  const [hovered, setHovered] = useState<{ x: number; y: number; label: string; key?: string }>();
  const place = useCallback(
    ({ x, y }: { x: number; y: number }, { width, height }: CanvasSize) => {
      const scale = (Math.min(width, height) / 2 - PADDING) / extent.radius;
      return { x: width / 2 + (x - extent.x) * scale, y: height / 2 - (y - extent.y) * scale };
    },
    [extent],
  );
  const draw = useCallback(
    (context: CanvasRenderingContext2D, size: CanvasSize) => {
      drawAxes(context, size);
      context.fillStyle = token("--line-strong");
      for (const item of ground) {
        const { x, y } = place(item, size);
        context.fillRect(x - 1, y - 1, 2, 2);
      }
      drawPaths(context, dots, (dot) => place(dot, size));
      for (const dot of dots) drawDot(context, dot, place(dot, size), dot.key === selected);
      const chosen = dots.find(({ key }) => key === selected);
      if (chosen) drawDot(context, chosen, place(chosen, size), true);
    },
    [dots, ground, place, selected],
  );
  const { box, canvas, width, height } = useCanvas(draw, (wide) => Math.min(420, Math.max(240, wide * 0.82)));

  const find = (event: React.PointerEvent<HTMLElement>) => {
    const bounds = event.currentTarget.getBoundingClientRect();
    const at = { x: event.clientX - bounds.left, y: event.clientY - bounds.top };
    const size = { width, height };
    const near = (items: readonly { x: number; y: number }[]) => {
      let best: { index: number; distance: number } | undefined;
      for (const [index, item] of items.entries()) {
        const { x, y } = place(item, size);
        const distance = Math.hypot(x - at.x, y - at.y);
        if (distance < (best?.distance ?? REACH)) best = { index, distance };
      }
      return best?.index;
    };
    const dot = near(dots);
    if (dot !== undefined) return { ...at, ...pick(dots[dot] as MapDot) };
    const item = near(ground);
    return item === undefined ? undefined : { ...at, label: (ground[item] as MapGround).label };
  };

  const table = useMemo(() => () => tableOf(dots, axes), [dots, axes]);
  return (
    <div>
      <div className={classes.box} ref={box}>
        <canvas
          ref={canvas}
          className={classes.canvas}
          role="img"
          aria-label={strings.map.label(title, dots.length, ground.length)}
          style={{ height }}
          data-pointing={hovered?.key !== undefined}
          onPointerMove={(event) => setHovered(find(event))}
          onPointerLeave={() => setHovered(undefined)}
          onClick={(event) => {
            const found = find(event as unknown as React.PointerEvent<HTMLElement>);
            if (found && "key" in found) onSelect(found.key);
          }}
        />
        {hovered && (
          <span className={classes.tip} data-left={hovered.x > width / 2} style={{ left: hovered.x, top: hovered.y }}>
            {hovered.label}
          </span>
        )}
      </div>
      <div className={classes.axes}>
        <span>→ {axes[0]}</span> <span>↑ {axes[1]}</span>
        <ExportMenu name="latent-map" title={title} table={table} canvas={() => canvas.current} />
      </div>
      <TableTwin caption={title} table={table} />
    </div>
  );
}

const pick = ({ key, label }: MapDot) => ({ key, label });

function drawAxes(context: CanvasRenderingContext2D, { width, height }: CanvasSize): void {
  context.strokeStyle = token("--line");
  context.beginPath();
  context.moveTo(width / 2, 6);
  context.lineTo(width / 2, height - 6);
  context.moveTo(6, height / 2);
  context.lineTo(width - 6, height / 2);
  context.stroke();
}

function drawPaths(
  context: CanvasRenderingContext2D,
  dots: readonly MapDot[],
  place: (dot: MapDot) => { x: number; y: number },
): void {
  context.lineWidth = 1.2;
  context.globalAlpha = 0.55;
  for (const [i, dot] of dots.entries()) {
    const before = dots[i - 1];
    if (!before || before.path !== dot.path) continue;
    const [from, to] = [place(before), place(dot)];
    context.strokeStyle = dot.color;
    context.setLineDash(dot.hollow ? [3, 3] : []);
    context.beginPath();
    context.moveTo(from.x, from.y);
    context.lineTo(to.x, to.y);
    context.stroke();
  }
  context.setLineDash([]);
  context.globalAlpha = 1;
}

function drawDot(
  context: CanvasRenderingContext2D,
  { agent, color, hollow }: MapDot,
  { x, y }: { x: number; y: number },
  selected: boolean,
): void {
  const radius = selected ? 7 : 5;
  const outline = new Path2D();
  outline.addPath(new Path2D(agentShape(agent)), new DOMMatrix([radius, 0, 0, radius, x, y]));
  if (selected) {
    context.strokeStyle = token("--text");
    context.lineWidth = 2;
    context.beginPath();
    context.arc(x, y, radius + 5, 0, 2 * Math.PI);
    context.stroke();
  }
  context.fillStyle = hollow ? token("--surface") : color;
  context.strokeStyle = hollow ? color : token("--surface");
  context.lineWidth = hollow ? 1.8 : 1;
  context.fill(outline);
  context.stroke(outline);
}

function tableOf(dots: readonly MapDot[], axes: readonly [string, string]): Table {
  return {
    head: [strings.map.vector, axes[0], axes[1]],
    rows: dots.map(({ label, x, y }) => [label, x.toPrecision(3), y.toPrecision(3)]),
  };
}
