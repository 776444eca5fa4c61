/** A document on the board: as high as it is long, with its number and tokens. */
import { documentColor } from "../../components/documentColor";
import { formatCount } from "../../format";
import { strings } from "../../strings";
import classes from "./HandBlock.module.css";

/** Pixels of a full bin. */
export const BIN = 128;
/** Pixels of a block that still carries its words at their full size. */
const LEAST = 14;

interface HandBlockProps {
  item: number;
  length: number;
  capacity: number;
  held: boolean;
  /** How far it was dragged, in pixels. */
  dragged: { dx: number; dy: number } | undefined;
  /** The one that Tab reaches; the arrow keys reach the others. */
  reachable: boolean;
  onPointerDown: (event: React.PointerEvent) => void;
  onClick: () => void;
}

export function HandBlock({
  item,
  length,
  capacity,
  held,
  dragged,
  reachable,
  onPointerDown,
  onClick,
}: HandBlockProps) {
  const height = (Math.min(length, capacity) / capacity) * BIN;
  return (
    <button
      type="button"
      className={classes.block}
      data-item={item}
      data-held={held}
      data-dragged={dragged !== undefined}
      data-cut={length > capacity}
      data-low={height < LEAST}
      tabIndex={reachable || held ? 0 : -1}
      aria-pressed={held}
      aria-label={strings.binPacking.hand.document(item + 1, formatCount(length))}
      style={{
        height: Math.max(3, height),
        background: documentColor(item),
        ...(dragged && { transform: `translate(${dragged.dx}px, ${dragged.dy}px)` }),
      }}
      onPointerDown={onPointerDown}
      onClick={(event) => {
        // The bin below would take it as its own click.
        event.stopPropagation();
        onClick();
      }}
    >
      <b>{item + 1}</b>
      <span>{formatCount(length)}</span>
    </button>
  );
}
