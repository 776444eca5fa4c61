/** A part of the picture that can be selected for the inspector, by pointer or keyboard. */
import type { ReactNode } from "react";
import { isSame, type Selection, toggleSelection, useSelection } from "../../stores/selectionStore";
import classes from "./Selectable.module.css";

interface SelectableProps {
  selection: Selection;
  /** What a screen reader calls the part. */
  label: string;
  className?: string | undefined;
  /** A quote points here. */
  linked?: boolean;
  children: ReactNode;
}

/** A button covers the part; controls inside it stay above the button. */
export function Selectable({ selection, label, className, linked, children }: SelectableProps) {
  const selected = useSelection((state) => isSame(state.selected, selection));
  return (
    <div className={`${classes.part} ${className ?? ""}`} data-selected={selected} data-linked={linked}>
      <button
        type="button"
        className={classes.cover}
        aria-label={label}
        aria-pressed={selected}
        onClick={() => toggleSelection(selection)}
      />
      {children}
    </div>
  );
}
