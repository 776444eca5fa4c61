/** The controls of a room, part under part. */
import type { ReactNode } from "react";
import classes from "./Panel.module.css";

export function Panel({ label, children }: { label: string; children: ReactNode }) {
  return (
    <section className={classes.panel} aria-label={label}>
      {children}
    </section>
  );
}
