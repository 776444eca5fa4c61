/** A part of a room's picture: its name, what it shows in one line, what can be chosen, and the picture. */
import type { ReactNode } from "react";
import classes from "./Frame.module.css";

interface FrameProps {
  title: string;
  /** One line on what is to be seen. */
  hint?: ReactNode;
  /** Choices and exports, at the right of the title. */
  tools?: ReactNode;
  className?: string | undefined;
  children: ReactNode;
}

export function Frame({ title, hint, tools, className, children }: FrameProps) {
  return (
    <section className={`${classes.frame} ${className ?? ""}`} aria-label={title}>
      <header className={classes.head}>
        <h2 className={classes.title}>{title}</h2>
        {tools && <div className={classes.tools}>{tools}</div>}
      </header>
      {hint && <p className={classes.hint}>{hint}</p>}
      {children}
    </section>
  );
}
