/** The run itself: how it stands, what it costs, and the picture; or, before the first one, what there is to see. */
import { Button, Loader } from "@mantine/core";
import { IconDownload, IconPlayerPlayFilled, IconPlayerStopFilled } from "@tabler/icons-react";
import { useEffect } from "react";
import { download } from "../../components/download";
import { ErrorCard } from "../../components/ErrorCard";
import { markFirstPicture } from "../../components/firstPicture";
import type { RunView } from "../../engine/runView";
import { formatDuration } from "../../format";
import { type RunState, stop, useRun, writeRun } from "../../stores/runStore";
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
  const { phase, view, problem, origin, device } = useRun();
  const isDrawn = view !== undefined;
  useEffect(() => {
    if (isDrawn) markFirstPicture();
  }, [isDrawn]);
  return (
    <section className={classes.panel} aria-label={text.label}>
      {problem && <ErrorCard problem={problem} />}
      {view ? (
        <>
          <LedgerStrip ledger={view.ledger} useSystem1={view.settings.useSystem1} over={phase === "over"} />
          <div className={classes.frame}>
            <div className={classes.status}>
              <Status phase={phase} view={view} origin={origin} device={device} />
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
              {origin === "recorded" && (
                <Button
                  size="compact-sm"
                  disabled={!onAsk}
                  leftSection={<IconPlayerPlayFilled size={12} />}
                  onClick={onAsk}
                >
                  {text.runLive}
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

interface StatusProps extends Pick<RunState, "phase" | "origin" | "device"> {
  view: RunView;
}

function Status({ phase, view, origin, device }: StatusProps) {
  const { finished, at } = view;
  if (finished) {
    return (
      <p className={classes.state} data-reason={finished.reason}>
        {origin && origin !== "live" && (
          <span className={classes.origin} title={text.originHint[origin]}>
            {text.origin[origin]}
            {device && <span className={classes.device}>{device}</span>}
          </span>
        )}
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

function downloadTrace(): void {
  download("twinloop-run.json", writeRun(), "application/json");
}
