/**
 * Where things stand in every room: its name and purpose, controls left, the picture in the middle, the inspector right.
 * Inside another page (`embed=1`) the picture and the inspector remain.
 */
import { VisuallyHidden } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import type { ReactNode } from "react";
import { strings } from "../strings";
import { useFrameSearch } from "./depth";
import classes from "./RoomFrame.module.css";

interface RoomFrameProps {
  title: string;
  lead: ReactNode;
  /** Presets and controls. */
  panel: ReactNode;
  /** Stands in the place of the controls, inside another page too. */
  guide?: ReactNode;
  /** Of what is selected. */
  inspector?: ReactNode;
  children: ReactNode;
}

export function RoomFrame({ title, lead, panel, guide, inspector, children }: RoomFrameProps) {
  useDocumentTitle(`${title} · ${strings.product}`);
  const { embed } = useFrameSearch();
  return (
    <>
      {embed ? (
        <VisuallyHidden>
          <h1>{title}</h1>
        </VisuallyHidden>
      ) : (
        <section className={classes.intro} aria-label={title}>
          <h1 className={classes.title}>{title}</h1>
          <p className={classes.lead}>{lead}</p>
        </section>
      )}
      <div className={classes.room} data-embed={guide ? undefined : embed}>
        {guide ? <div className={classes.guide}>{guide}</div> : !embed && panel}
        <main id="main" className={classes.main} tabIndex={-1}>
          {children}
        </main>
        {inspector}
      </div>
    </>
  );
}
