/** A run of the ring as it stands at the position of the playback. */
import { Loader, VisuallyHidden } from "@mantine/core";
import { useMemo } from "react";
import type { RelayQuestion } from "../../../src/index";
import { useInLab } from "../../components/depth";
import { Frame } from "../../components/Frame";
import { usePlayback } from "../../components/playback";
import { Transport } from "../../components/Transport";
import { foldRecursion, type Moment, momentsOf, type RecursionView } from "../../engine/recursionView";
import { formatDuration } from "../../format";
import { isBusy, type RecursionRun, useRecursion } from "../../stores/recursionStore";
import { strings } from "../../strings";
import { Hands } from "./Hands";
import { Inspector } from "./Inspector";
import { Laps } from "./Laps";
import { Meter } from "./Meter";
import { momentWords } from "./momentWords";
import { Ring } from "./Ring";
import classes from "./RunView.module.css";
import { SpacePictures } from "./SpacePictures";
import type { RoomSearch } from "./search";

const text = strings.latentRecursion;

interface RunViewProps {
  run: RecursionRun;
  question: RelayQuestion | undefined;
  /** The settings of the panel would run something else. */
  changed: boolean;
  fit: RoomSearch["fit"];
  onFit: (fit: RoomSearch["fit"]) => void;
}

/** The middle of the room, and the inspector beside it. */
export function useRunView({ run, question, changed, fit, onFit }: RunViewProps) {
  const inLab = useInLab();
  const running = useRecursion((state) => isBusy(state) && !run.isOver);
  const moments = useMemo(() => momentsOf(run.events), [run.events]);
  const playback = usePlayback(moments.length, run.id);
  const { position, following } = playback;
  const whole = useMemo(() => foldRecursion(run.events), [run.events]);
  const view = useMemo(
    () => (following ? whole : foldRecursion(run.events.slice(0, moments[position - 1]?.events ?? 1))),
    [following, whole, run.events, moments, position],
  );
  if (!view || !whole) return undefined;
  const { agents, edges, passing, settings } = whole.started;
  const roles = agents.map(({ role }) => role);
  const moment = moments[position - 1];
  const turn = view.turns.at(-1);
  const isLatent = passing === "latent";
  const marks = moments.flatMap(({ event }, i) =>
    event.type === "agentStarted"
      ? [{ at: i + 1, label: momentWords(event, roles), color: "var(--line-strong)" }]
      : event.type === "answerPeek" || event.type === "recursionAnswer"
        ? [{ at: i + 1, label: momentWords(event, roles), color: event.correct ? "var(--good)" : "var(--bad)" }]
        : [],
  );
  const main = (
    <div className={classes.run}>
      <Status run={run} view={view} running={running} changed={changed} />
      <Frame title={text.ring.title} hint={text.ring.hint}>
        <div className={classes.ring}>
          <Ring
            agents={agents}
            edges={edges}
            round={turn?.round ?? 1}
            rounds={settings.rounds}
            active={view.finished ? undefined : turn?.agent}
            sending={sendingOf(moment)}
            idleLinks={!isLatent}
          />
          {question && <Hands question={question} roles={roles} />}
        </div>
      </Frame>
      <Frame title={text.laps.title} {...(isLatent && { hint: text.laps.hint })}>
        <Laps view={view} running={running && following} />
      </Frame>
      {isLatent && (
        <SpacePictures view={view} whole={whole} fit={fit} onFit={onFit} beside={!inLab && <Meter run={run} />} />
      )}
      {(inLab || !isLatent) && <Meter run={run} />}
      <div className={classes.transport}>
        <Transport
          playback={playback}
          marks={marks}
          now={moment ? momentWords(moment.event, roles) : text.moments.start}
        />
      </div>
      <VisuallyHidden role="status" aria-live="polite">
        {run.origin === "live" && run.isOver && announce(whole)}
      </VisuallyHidden>
    </div>
  );
  return { main, inspector: <Inspector view={view} /> };
}

function sendingOf(moment: Moment | undefined): { from: number; to: number } | undefined {
  if (moment?.event.type === "latentMessage") return { from: moment.event.from, to: moment.event.to };
  if (moment?.event.type === "textMessage") return { from: moment.event.from, to: moment.event.to[0] ?? 0 };
  return undefined;
}

interface StatusProps {
  run: RecursionRun;
  view: RecursionView;
  running: boolean;
  changed: boolean;
}

function Status({ run, view, running, changed }: StatusProps) {
  const stopping = useRecursion(({ phase }) => phase === "stopping");
  const { finished, at, answer } = view;
  const words = running
    ? stopping
      ? text.status.stopping
      : text.status.running
    : run.origin === "live"
      ? finished?.reason === "stopped"
        ? text.status.stopped
        : finished?.reason === "error"
          ? text.status.error
          : text.status.answered
      : run.origin === "recorded"
        ? text.status.recorded
        : text.status.file;
  return (
    <p className={classes.status} data-origin={run.origin}>
      {running && <Loader size={14} color="var(--text-dim)" />}
      <b>{words}</b>
      <span className="tabular">{formatDuration(finished?.ledger.ms ?? at)}</span>
      {answer && (
        <span data-correct={answer.correct}>
          {answer.answer ?? text.laps.noAnswer}, {answer.correct ? text.laps.correct : text.laps.wrong}
        </span>
      )}
      {run.origin === "recorded" && <span>{text.status.recordedHint}</span>}
      {run.origin === "live" && !running && changed && <span>{text.status.changed}</span>}
    </p>
  );
}

function announce({ answer, finished }: RecursionView): string {
  if (!answer) return finished ? text.status[finished.reason === "stopped" ? "stopped" : "error"] : "";
  const grade = answer.correct ? text.laps.correct : text.laps.wrong;
  return text.status.announce(answer.answer ?? text.laps.noAnswer, grade);
}
