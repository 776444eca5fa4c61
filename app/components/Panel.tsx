/** The controls of a room, part under part; in Learn the last part says what Lab adds. */
import type { ReactNode } from "react";
import { strings } from "../strings";
import { useDepth } from "./depth";
import classes from "./Panel.module.css";

interface PanelProps {
  label: string;
  /** What Lab adds to this room, in words. */
  more?: string;
  children: ReactNode;
}

export function Panel({ label, more, children }: PanelProps) {
  const { depth, setDepth } = useDepth();
  return (
    <section className={classes.panel} aria-label={label}>
      {children}
      {more && depth === "learn" && (
        <div className={classes.more}>
          {strings.depth.adds(more)}{" "}
          <button type="button" onClick={() => setDepth("lab")}>
            {strings.depth.toLab}
          </button>
        </div>
      )}
    </section>
  );
}
