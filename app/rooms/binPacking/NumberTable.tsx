/** A table of figures that is always in sight: a name, then numbers or words. */
import type { ReactNode } from "react";
import classes from "./NumberTable.module.css";

export interface NumberRow {
  key: string;
  cells: readonly ReactNode[];
  /** Apart from the others, such as the visitor's own row. */
  own?: boolean;
}

interface NumberTableProps {
  caption: string;
  head: readonly string[];
  rows: readonly NumberRow[];
  /** Columns from this one on are words. */
  wordsFrom?: number;
}

export function NumberTable({ caption, head, rows, wordsFrom = head.length }: NumberTableProps) {
  const side = (column: number) => (column === 0 || column >= wordsFrom ? "words" : "number");
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard.
    <section className={classes.scroller} tabIndex={0} aria-label={caption}>
      <table className={classes.table}>
        <thead>
          <tr>
            {head.map((cell, column) => (
              <th key={cell} scope="col" data-side={side(column)}>
                {cell}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, cells: [name, ...cells], own }) => (
            <tr key={key} data-own={own}>
              <th scope="row">{name}</th>
              {cells.map((cell, i) => (
                <td key={head[i + 1]} data-side={side(i + 1)}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
