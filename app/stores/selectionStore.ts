/** What the visitor looks at in the picture: one selected part, and one document that a quote points to. */
import { create } from "zustand";

export type Selection =
  | { part: "system2"; turn: number }
  | { part: "refined"; turn: number }
  | { part: "document"; turn: number; document: number; quote?: string }
  | { part: "bins"; turn: number }
  | { part: "lane"; turn: number; bin: number };

export interface SelectionState {
  selected?: Selection;
  /** The document under a hovered or focused quote. */
  linked?: { turn: number; document: number };
}

export const useSelection = create<SelectionState>(() => ({}));

/** Selects a part; selecting it again lets it go. */
export function toggleSelection(selection: Selection): void {
  const { selected } = useSelection.getState();
  useSelection.setState({ selected: isSame(selected, selection) ? undefined : selection });
}

export function clearSelection(): void {
  useSelection.setState({ selected: undefined, linked: undefined });
}

export function isSame(a: Selection | undefined, b: Selection): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
