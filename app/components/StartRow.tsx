/** Settings of something that takes its time, the button that starts it or meanwhile stops it, and how far it has come. */
import { Button, Progress } from "@mantine/core";
import { IconPlayerStopFilled } from "@tabler/icons-react";
import type { ReactNode } from "react";
import classes from "./StartRow.module.css";

interface StartRowProps {
  /** Name of what is done, for the bar. */
  title: string;
  phase: "idle" | "waiting" | "running" | "stopping";
  start: string;
  startIcon?: ReactNode;
  /** Undefined while it cannot be started. */
  onStart: (() => void) | undefined;
  stop: string;
  onStop: () => void;
  /** Undefined before the first sign of life. */
  progress: { done: number; total: number } | undefined;
  /** The progress in words. */
  progressWords: string;
  /** The settings. */
  children: ReactNode;
  /** One line at the end of the row. */
  help?: string;
}

export function StartRow(props: StartRowProps) {
  const { title, phase, start, startIcon, onStart, stop, onStop, progress, progressWords, children, help } = props;
  const busy = phase !== "idle";
  return (
    <>
      <div className={classes.row}>
        {children}
        {busy ? (
          <Button
            size="xs"
            variant="default"
            disabled={phase === "stopping"}
            leftSection={<IconPlayerStopFilled size={12} />}
            onClick={onStop}
          >
            {stop}
          </Button>
        ) : (
          <Button size="xs" disabled={!onStart} leftSection={startIcon} onClick={onStart}>
            {start}
          </Button>
        )}
        {help && <span className={classes.help}>{help}</span>}
      </div>
      {busy && (
        <div className={classes.progress} role="status">
          <Progress size="sm" value={progress ? (100 * progress.done) / progress.total : 0} aria-label={title} />
          {progressWords}
        </div>
      )}
    </>
  );
}
