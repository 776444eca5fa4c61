/** The two stages side by side: what learns, what is frozen, how far each is, and what can be done with it. */
import { Button, Loader, Progress } from "@mantine/core";
import {
  IconLock,
  IconPlayerPauseFilled,
  IconPlayerPlayFilled,
  IconPlayerStopFilled,
  IconPlayerTrackNextFilled,
} from "@tabler/icons-react";
import type { TrainingStage } from "../../../src/index";
import type { StageView } from "../../engine/trainingView";
import { formatCount, formatParameters } from "../../format";
import {
  continueTraining,
  isWorking,
  pauseTraining,
  stepTraining,
  stopTraining,
  type TrainingState,
  useTraining,
} from "../../stores/trainingStore";
import { strings } from "../../strings";
import classes from "./Tracks.module.css";

const text = strings.linkTraining;

interface TracksProps {
  /** Undefined while nothing can be started. */
  onStart: ((stage: TrainingStage) => void) | undefined;
  /** Outer links can begin: there are inner ones. */
  hasInner: boolean;
}

export function Tracks(props: TracksProps) {
  return (
    <div className={classes.tracks}>
      <Track stage="inner" {...props} />
      <Track stage="outer" {...props} />
    </div>
  );
}

function Track({ stage, onStart, hasInner }: TracksProps & { stage: TrainingStage }) {
  const state = useTraining();
  const view = state.view?.stages[stage];
  const live = state.phase !== "idle" && state.stage === stage;
  const status = statusOf(state, view, live);
  const words = text.stages[stage];
  const blocked = stage === "outer" && !hasInner;
  return (
    <section className={classes.track} aria-label={words.title} data-live={live}>
      <header className={classes.head}>
        <h2>{words.title}</h2>
        <span className={classes.state} data-state={status}>
          {live && isWorking(state) && <Loader size={11} color="currentColor" />}
          {status ? text.track.states[status] : text.track.none}
        </span>
      </header>
      <p className={classes.what}>{words.what}</p>
      <Sketch stage={stage} />
      {view && (
        <>
          <Progress
            size="sm"
            value={(100 * view.step) / view.started.steps}
            aria-label={text.track.progress(words.title)}
          />
          <p className={classes.progress}>
            <span className="tabular">{text.track.step(formatCount(view.step), formatCount(view.started.steps))}</span>
            <span>{text.track.parameters(formatParameters(view.started.parameters))}</span>
          </p>
          <Modules view={view} />
        </>
      )}
      <div className={classes.actions}>
        {live ? (
          <LiveButtons state={state} />
        ) : (
          <Button
            size="xs"
            variant={stage === "inner" && hasInner ? "default" : "filled"}
            disabled={!onStart || blocked || isWorking(state)}
            leftSection={<IconPlayerPlayFilled size={13} />}
            onClick={() => onStart?.(stage)}
          >
            {words.start}
          </Button>
        )}
      </div>
      {blocked && <p className={classes.note}>{text.track.needsInner}</p>}
    </section>
  );
}

function LiveButtons({ state }: { state: TrainingState }) {
  const { phase } = state;
  const halted = phase === "paused";
  return (
    <>
      {halted || phase === "stepping" ? (
        <Button
          size="xs"
          disabled={!halted}
          leftSection={<IconPlayerPlayFilled size={13} />}
          onClick={continueTraining}
        >
          {text.control.resume}
        </Button>
      ) : (
        <Button
          size="xs"
          variant="default"
          disabled={phase !== "running" && phase !== "starting"}
          leftSection={<IconPlayerPauseFilled size={13} />}
          onClick={pauseTraining}
        >
          {text.control.pause}
        </Button>
      )}
      <Button
        size="xs"
        variant="default"
        disabled={!halted}
        leftSection={<IconPlayerTrackNextFilled size={13} />}
        onClick={stepTraining}
      >
        {text.control.step}
      </Button>
      <Button
        size="xs"
        variant="default"
        disabled={phase === "stopping"}
        leftSection={<IconPlayerStopFilled size={13} />}
        onClick={stopTraining}
      >
        {text.control.stop}
      </Button>
    </>
  );
}

type Status = keyof typeof text.track.states;

function statusOf({ phase }: TrainingState, view: StageView | undefined, live: boolean): Status | undefined {
  if (live && phase !== "idle") return phase;
  if (!view) return undefined;
  return view.finished?.reason ?? "interrupted";
}

function Modules({ view }: { view: StageView }) {
  const { trained, frozen } = view.started;
  return (
    <dl className={classes.modules}>
      <div>
        <dt>{text.track.trained}</dt>
        <dd>
          {trained.map((name) => (
            <code key={name}>{name}</code>
          ))}
        </dd>
      </div>
      <div>
        <dt>
          <IconLock size={11} aria-hidden /> {text.track.frozen}
        </dt>
        <dd>
          {frozen.map((name) => (
            <code key={name} data-frozen>
              {name}
            </code>
          ))}
        </dd>
      </div>
    </dl>
  );
}

/** What the stage trains, drawn; the words say the same. */
function Sketch({ stage }: { stage: TrainingStage }) {
  const nodes = [60, 160, 260];
  return (
    <svg className={classes.sketch} viewBox="0 0 320 64" aria-hidden>
      {nodes.map((x) => (
        <g key={x}>
          <path
            className={stage === "inner" ? classes.learns : classes.still}
            d={`M${x - 10} 27A13 13 0 1 1 ${x + 10} 27`}
          />
          <circle className={classes.agent} cx={x} cy="42" r="16" />
          <path className={classes.lock} d={`M${x - 5} 41h10v8h-10z M${x - 3} 41v-3a3 3 0 0 1 6 0v3`} />
        </g>
      ))}
      {nodes.slice(0, -1).map((x) => (
        <path
          key={x}
          className={stage === "outer" ? classes.learns : classes.absent}
          d={`M${x + 20} 42h58m-6-5l6 5l-6 5`}
        />
      ))}
    </svg>
  );
}
