/** The run itself: how it stands, what it costs, and the picture; or, before the first one, what there is to see. */
import { Button, Loader } from "@mantine/core";
import { IconDownload, IconPlayerStopFilled } from "@tabler/icons-react";
import { download } from "../../components/download";
import { ErrorCard } from "../../components/ErrorCard";
import { formatDuration } from "../../format";
import { type RunState, recordedEvents, stop, useRun } from "../../stores/runStore";
import { strings } from "../../strings";
import { EmptyPicture } from "./EmptyPicture";
import { LedgerStrip } from "./LedgerStrip";
import { Picture } from "./Picture";
import classes from "./RunPanel.module.css";

const text = strings.dualSystem.run;

interface RunPanelProps {
  question: string | undefined;
  /** Undefined while nothing can be asked. */
  onAsk: (() => void) | undefined;
}

export function RunPanel({ question, onAsk }: RunPanelProps) {
  const { phase, view, problem } = useRun();
  return (
    <section className={classes.panel} aria-label={text.label}>
      {problem && <ErrorCard problem={problem} />}
      {view ? (
        <>
          <LedgerStrip ledger={view.ledger} useSystem1={view.settings.useSystem1} over={phase === "over"} />
          <div className={classes.frame}>
            <div className={classes.status}>
              <Status phase={phase} view={view} />
              {phase === "running" && (
                <Button
                  className={classes.stop}
                  variant="default"
                  size="compact-sm"
                  leftSection={<IconPlayerStopFilled size={13} />}
                  onClick={stop}
                >
                  {strings.dualSystem.ask.stop}
                </Button>
              )}
              {phase === "over" && (
                <Button
                  variant="subtle"
                  size="compact-sm"
                  leftSection={<IconDownload size={15} />}
                  onClick={downloadTrace}
                >
                  {text.download}
                </Button>
              )}
            </div>
            <Picture view={view} />
          </div>
        </>
      ) : (
        <EmptyPicture question={question} waiting={phase === "waiting"} onAsk={onAsk} />
      )}
    </section>
  );
}

function Status({ phase, view }: Required<Pick<RunState, "phase" | "view">>) {
  const { finished, at } = view;
  if (finished) {
    return (
      <p className={classes.state} data-reason={finished.reason}>
        <b>{text.reasons[finished.reason]}</b> <span className="tabular">{formatDuration(finished.ms)}</span>
      </p>
    );
  }
  return (
    <p className={classes.state}>
      {phase !== "over" && <Loader size={14} color="var(--text-dim)" />}
      <b>{phase === "stopping" ? text.stopping : text.running}</b> <span className="tabular">{formatDuration(at)}</span>
    </p>
  );
}

/** Saves the run's events as JSON, one array: what a recorded run consists of. */
function downloadTrace(): void {
  download("twinloop-run.json", JSON.stringify(recordedEvents(), null, 1), "application/json");
}
