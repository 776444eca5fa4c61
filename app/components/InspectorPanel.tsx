/** What is selected, to the last detail: a panel beside the picture, or a sheet over it on small screens. */
import { CloseButton, Drawer } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import type { ReactNode } from "react";
import { strings } from "../strings";
import classes from "./InspectorPanel.module.css";

const WIDE = "(min-width: 75em)";

interface InspectorPanelProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
}

export function InspectorPanel({ title, onClose, children }: InspectorPanelProps) {
  const wide = useMediaQuery(WIDE);
  const head = (
    <div className={classes.head}>
      <h2 className={classes.title}>{title}</h2>
      <CloseButton aria-label={strings.inspector.close} onClick={onClose} />
    </div>
  );
  if (wide) {
    return (
      <aside className={classes.panel} aria-label={strings.inspector.label}>
        {head}
        <div className={classes.body}>{children}</div>
      </aside>
    );
  }
  return (
    <Drawer.Root opened position="bottom" size="72%" onClose={onClose}>
      <Drawer.Overlay />
      <Drawer.Content className={classes.sheet} aria-label={title}>
        {head}
        <Drawer.Body className={classes.body}>{children}</Drawer.Body>
      </Drawer.Content>
    </Drawer.Root>
  );
}
