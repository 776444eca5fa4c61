/** The run itself: how it stands, what it costs, and the picture; or, before the first one, what there is to see. */
import { Button, Loader } from "@mantine/core";
import { IconArrowsDiff, IconPlayerPlayFilled, IconPlayerStopFilled } from "@tabler/icons-react";
import { useLayoutEffect, useMemo } from "react";
import { ErrorCard } from "../../components/ErrorCard";
import { ExportMenu } from "../../components/ExportMenu";
import { markFirstPicture } from "../../components/firstPicture";
import { Transport } from "../../components/Transport";
import type { RunView } from "../../engine/runView";
import { formatDuration } from "../../format";
import { type RunState, stop, useRun, writeRun } from "../../stores/runStore";
import { strings } from "../../strings";
import { Comparison } from "./Comparison";
import { EmptyPicture } from "./EmptyPicture";
import { LedgerStrip } from "./LedgerStrip";
import { Picture } from "./Picture";
import { pagePen } from "./pagePen";
import { RunList } from "./RunList";
import classes from "./RunPanel.module.css";
import { drawRun } from "./runDrawing";
import { runTable } from "./runTable";
import { stepMarks, stepWords } from "./stepWords";
import type { ShownRun } from "./useRunPlayback";

const text = strings.dualSystem.run;

interface RunPanelProps {
  run: ShownRun | undefined;
  /** Undefined while nothing can be started. */
  onOther: (() => void) | undefined;
  question: string | undefined;
  /** Undefined while nothing can be asked. */
  onAsk: (() => void) | undefined;
}

export function RunPanel({ run, question, onAsk, onOther }: RunPanelProps) {
  const { phase, problem, origin, device } = useRun();
  const isDrawn = run !== undefined;
  const marks = useMemo(() => stepMarks(run?.steps ?? []), [run?.steps]);
  useLayoutEffect(() => {
    if (isDrawn) markFirstPicture();
  }, [isDrawn]);
  return (
    <section className={classes.panel} aria-label={text.label}>
      {problem && <ErrorCard problem={problem} />}
      {run ? (
        <>
          <LedgerStrip
            ledger={run.view.ledger}
            useSystem1={run.view.settings.useSystem1}
            over={run.view.finished !== undefined}
          />
          <div className={classes.frame}>
            <div className={classes.status}>
              <Status phase={phase} view={run.whole} origin={origin} device={device} />
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
                <ExportMenu
                  name="dual-system-run"
                  title={text.exported}
                  table={() => runTable(run.whole)}
                  svg={() => drawRun(run.whole, pagePen())}
                  json={writeRun}
                />
              )}
              {phase === "over" && run.whole.finished && (
                <Button
                  variant="subtle"
                  size="compact-sm"
                  disabled={!onOther}
                  leftSection={<IconArrowsDiff size={15} />}
                  onClick={onOther}
                >
                  {run.whole.settings.useSystem1
                    ? strings.dualSystem.runs.againWithout
                    : strings.dualSystem.runs.againWith}
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
            <Picture view={run.view} active={!run.whole.finished && run.playback.following} />
          </div>
          <div className={classes.transport}>
            <Transport
              playback={run.playback}
              marks={marks}
              now={stepWords(run.steps[run.playback.position - 1]?.event)}
            />
          </div>
        </>
      ) : (
        <EmptyPicture question={question} waiting={phase === "waiting"} onAsk={onAsk} />
      )}
      <RunList />
      <Comparison />
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
            <span>{text.origin[origin]}</span>
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
