/**
 * Where things stand in every room: its name and purpose, controls left, the picture in the middle, the inspector right.
 * Inside another page the picture remains, and what that page does not leave out.
 */
import { VisuallyHidden } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import type { ReactNode } from "react";
import { strings } from "../strings";
import { useHiddenParts } from "./embed";
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
  const hidden = useHiddenParts();
  const left = guide ? <div className={classes.guide}>{guide}</div> : !hidden.has("controls") && panel;
  return (
    <>
      {hidden.has("intro") ? (
        <VisuallyHidden>
          <h1>{title}</h1>
        </VisuallyHidden>
      ) : (
        <section className={classes.intro} aria-label={title}>
          <h1 className={classes.title}>{title}</h1>
          <p className={classes.lead}>{lead}</p>
        </section>
      )}
      <div className={classes.room} data-alone={left ? undefined : true}>
        {left}
        <main id="main" className={classes.main} tabIndex={-1}>
          {children}
        </main>
        {!hidden.has("inspector") && inspector}
      </div>
    </>
  );
}
