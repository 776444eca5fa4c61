/** One bin of the board: its column, and the button that puts what is held into it. */
import type { ReactNode } from "react";
import { formatCount } from "../../format";
import { strings } from "../../strings";
import { BIN } from "./HandBlock";
import classes from "./HandBoard.module.css";

const text = strings.binPacking.hand;

interface HandBinProps {
  /** Its place, from 0. */
  at: number;
  /** Tokens. */
  used: number;
  capacity: number;
  /** The one beside the others that is not in use yet. */
  isNew: boolean;
  /** A document is in hand. */
  holding: boolean;
  onPut: () => void;
  children: ReactNode;
}

export function HandBin({ at, used, capacity, isNew, holding, onPut, children }: HandBinProps) {
  const free = capacity - used;
  return (
    <li className={classes.bin} data-drop={at} data-excess={free < 0}>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: by keyboard the bin's own button does this. */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: as above. */}
      <div className={classes.column} data-new={isNew} style={{ height: BIN }} onClick={onPut}>
        {children}
      </div>
      <button
        type="button"
        className={classes.target}
        data-target={at}
        disabled={!holding}
        aria-label={isNew ? text.newBin : text.bin(at + 1, formatCount(used), formatCount(Math.max(0, free)))}
        onClick={onPut}
      >
        {isNew ? text.newBin : free < 0 ? text.over(formatCount(-free)) : text.free(formatCount(free))}
      </button>
    </li>
  );
}
