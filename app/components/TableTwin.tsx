/** The numbers of a picture as a table, for those who cannot or do not want to read the picture. */
import { useState } from "react";
import { strings } from "../strings";
import classes from "./TableTwin.module.css";

export interface Table {
  head: readonly string[];
  /** Cells of a row, the first being its name. */
  rows: readonly (readonly (string | number)[])[];
}

interface TableTwinProps {
  /** What the table shows. */
  caption: string;
  /** What opens it. Default: that it is a table. */
  summary?: string;
  /** Called only while the table is open. */
  table: () => Table;
}

export function TableTwin({ caption, summary = strings.table.show, table }: TableTwinProps) {
  const [open, setOpen] = useState(false);
  return (
    <details className={classes.twin} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{summary}</summary>
      {open && <Rows caption={caption} {...table()} />}
    </details>
  );
}

function Rows({ caption, head, rows }: Table & { caption: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard.
    <section className={classes.scroller} tabIndex={0} aria-label={caption}>
      <table className={classes.table}>
        <caption>{caption}</caption>
        <thead>
          <tr>
            {head.map((cell, i) => (
              <th key={i} scope="col">
                {cell}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, ...cells], i) => (
            <tr key={i}>
              <th scope="row">{name}</th>
              {cells.map((cell, column) => (
                <td key={column}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
