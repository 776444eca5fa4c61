/** Dragging by mouse, pen or finger: a press that moves. What lies under the pointer at its end is told. */
import { useCallback, useEffect, useRef, useState } from "react";

/** Pixels before a press becomes a drag. */
const SLACK = 5;

export interface Drag {
  /** What is being dragged, and how far. */
  item: number | undefined;
  dx: number;
  dy: number;
  start: (item: number, event: React.PointerEvent) => void;
  /** Whether the click that follows belongs to a drag that has just ended. */
  justDropped: () => boolean;
}

export function useDrag(onDrop: (item: number, place: Element | null) => void): Drag {
  const [moved, setMoved] = useState<{ item: number; dx: number; dy: number }>();
  const press = useRef<{ item: number; x: number; y: number; pointer: number; moving: boolean }>(undefined);
  const dropped = useRef(false);
  const drop = useRef(onDrop);
  useEffect(() => {
    drop.current = onDrop;
  });
  useEffect(() => {
    const onMove = (event: PointerEvent) => {
      const { current } = press;
      if (current?.pointer !== event.pointerId) return;
      const dx = event.clientX - current.x;
      const dy = event.clientY - current.y;
      current.moving ||= Math.hypot(dx, dy) > SLACK;
      if (current.moving) setMoved({ item: current.item, dx, dy });
    };
    const onEnd = (event: PointerEvent) => {
      const { current } = press;
      if (current?.pointer !== event.pointerId) return;
      press.current = undefined;
      setMoved(undefined);
      if (!current.moving) return;
      // The browser may send a click after this.
      dropped.current = true;
      setTimeout(() => {
        dropped.current = false;
      });
      if (event.type === "pointerup") {
        drop.current(current.item, document.elementFromPoint(event.clientX, event.clientY));
      }
    };
    window.addEventListener("pointermove", onMove);
    window.addEventListener("pointerup", onEnd);
    window.addEventListener("pointercancel", onEnd);
    return () => {
      window.removeEventListener("pointermove", onMove);
      window.removeEventListener("pointerup", onEnd);
      window.removeEventListener("pointercancel", onEnd);
    };
  }, []);
  const start = useCallback((item: number, event: React.PointerEvent) => {
    if (event.button !== 0) return;
    press.current = { item, x: event.clientX, y: event.clientY, pointer: event.pointerId, moving: false };
  }, []);
  const justDropped = useCallback(() => dropped.current, []);
  return { item: moved?.item, dx: moved?.dx ?? 0, dy: moved?.dy ?? 0, start, justDropped };
}
