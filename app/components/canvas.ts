/** A canvas that is as sharp as the screen and drawn again when its size, its data or the colour scheme change. */
import { useComputedColorScheme } from "@mantine/core";
import { useEffect, useRef } from "react";
import { useWidth } from "./useWidth";

export interface CanvasSize {
  width: number;
  height: number;
}

/**
 * @param draw in CSS pixels; changes its identity only when something is to be drawn anew
 * @returns refs for the box that gives the width and for the canvas, and the size in CSS pixels
 */
export function useCanvas(
  draw: (context: CanvasRenderingContext2D, size: CanvasSize) => void,
  heightOf: (width: number) => number,
) {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const canvas = useRef<HTMLCanvasElement>(null);
  const scheme = useComputedColorScheme("light");
  const height = Math.round(heightOf(width));
  // biome-ignore lint/correctness/useExhaustiveDependencies: colours come from style sheets, which follow the scheme.
  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext("2d");
    if (!element || !context || width === 0) return;
    const scale = window.devicePixelRatio || 1;
    element.width = Math.round(width * scale);
    element.height = Math.round(height * scale);
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    draw(context, { width, height });
  }, [draw, width, height, scheme]);
  return { box, canvas, width, height };
}

/** A colour of tokens.css, as the canvas wants it. */
export function token(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
