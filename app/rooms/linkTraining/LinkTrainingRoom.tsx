/** What a link learns, in this tab: inner links, then outer ones, on frozen agents. */
import { Button, VisuallyHidden } from "@mantine/core";
import { useDocumentVisibility } from "@mantine/hooks";
import { IconHistory } from "@tabler/icons-react";
import { getRouteApi } from "@tanstack/react-router";
import { useEffect } from "react";
import type { TrainingStage } from "../../../src/index";
import { BusyElsewhere } from "../../components/BusyElsewhere";
import { ErrorCard } from "../../components/ErrorCard";
import { LabOnly } from "../../components/LabOnly";
import { NeedsOurEngine } from "../../components/NeedsOurEngine";
import { Panel } from "../../components/Panel";
import { RoomFrame } from "../../components/RoomFrame";
import { useConfirm } from "../../components/useConfirm";
import { formatCount } from "../../format";
import { useKeys } from "../../keys";
import { RELAY_MODELS } from "../../models";
import { isHopeless, useEngine, wantModels } from "../../stores/engineStore";
import { useJob } from "../../stores/jobStore";
import { fetchShippedLinks, useLinks } from "../../stores/linksStore";
import { fitsRing, useLacksTape, useRingAgents } from "../../stores/ringStore";
import {
  continueTraining,
  followVisibility,
  isLive,
  isWorking,
  lookForSaved,
  pauseTraining,
  resumeSaved,
  startTraining,
  stepTraining,
  type TrainingState,
  useTraining,
} from "../../stores/trainingStore";
import { strings } from "../../strings";
import { Curves } from "./Curves";
import { Evaluation } from "./Evaluation";
import { Figures } from "./Figures";
import { Files } from "./Files";
import classes from "./LinkTrainingRoom.module.css";
import { NotFinite } from "./NotFinite";
import { Samples } from "./Samples";
import { SettingsForm, sourceOf } from "./SettingsForm";
import { type RoomSearch, settingsOf } from "./search";
import { Tracks } from "./Tracks";
import { useWakeLock } from "./useWakeLock";

const route = getRouteApi("/link-training");
const text = strings.linkTraining;

export function LinkTrainingRoom() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const state = useTraining();
  const { sets } = useLinks();
  const hopeless = useEngine(isHopeless);
  const lacks = useLacksTape();
  const ring = useRingAgents();
  const job = useJob((own) => own.job);
  const taken = job !== undefined && job !== "training";
  const [confirm, dialog] = useConfirm(text.control.replaceYes, text.control.replaceNo);
  const hidden = useDocumentVisibility() === "hidden";
  useEffect(() => {
    wantModels(RELAY_MODELS);
    void fetchShippedLinks();
    void lookForSaved();
  }, []);
  useEffect(() => {
    if (search.autoPause) followVisibility(hidden);
  }, [hidden, search.autoPause]);
  useWakeLock(isWorking(state));
  const update = (change: Partial<RoomSearch>) =>
    void navigate({ search: (previous) => ({ ...previous, ...change }), replace: true, resetScroll: false });
  useKeys({
    trainStep: state.phase === "paused" ? stepTraining : undefined,
    trainPause: isLive(state) ? () => (state.phase === "paused" ? continueTraining() : pauseTraining()) : undefined,
  });

  const start = async (stage: TrainingStage) => {
    const step = unfinishedStep(state);
    if (step !== undefined && !(await confirm(text.control.replaceTitle, text.control.replace(formatCount(step)))))
      return;
    const source = sourceOf({ ...search, stage, ...(stage !== search.stage && { from: undefined }) }, (id) =>
      fitsRing(sets[id], ring),
    );
    // Outer links that only began with the inner ones begin anew, as the settings say.
    const freshOuter = source !== "none" && sets[source]?.training.stage === "inner";
    update({ stage });
    void startTraining({
      settings: settingsOf(stage, search[stage]),
      saveEvery: search.saveEvery,
      ...(source !== "none" && { links: source }),
      ...(freshOuter && { freshOuter }),
    });
  };
  const stage = state.view?.current ?? search.stage;
  const shown = state.view?.stages[search.stage] ?? state.view?.stages[stage];
  const canStart = !hopeless && !taken && !lacks;
  return (
    <>
      <RoomFrame
        title={strings.rooms.linkTraining.title}
        lead={<Lead />}
        panel={
          <Panel label={strings.settings.title} more={text.settings.adds}>
            <SettingsForm search={search} update={update} disabled={isWorking(state) || lacks} />
          </Panel>
        }
      >
        <div className={classes.parts}>
          <NeedsOurEngine />
          <BusyElsewhere own={["training", "evaluation"]} />
          {state.problem && <ErrorCard problem={state.problem} />}
          <Notices state={state} canStart={canStart} saveEvery={search.saveEvery} />
          <Tracks
            onStart={canStart && !isWorking(state) ? (own) => void start(own) : undefined}
            hasInner={Object.keys(sets).some((id) => id !== "began" && fitsRing(sets[id], ring))}
          />
          {shown && (
            <>
              <section className={classes.tiles} aria-label={text.tiles.label}>
                <Figures view={shown} running={state.phase === "running"} />
              </section>
              <Curves
                stages={state.view?.stages ?? {}}
                stage={shown.started.stage}
                onStage={(own) => update({ stage: own })}
              />
              <Samples view={shown} />
            </>
          )}
          <Evaluation
            search={search}
            update={update}
            disabled={!canStart || isWorking(state)}
            latentSteps={settingsOf("outer", search.outer).latentSteps}
          />
          <LabOnly>
            <Files confirm={confirm} onOpened={() => update({ set: "opened" })} />
          </LabOnly>
        </div>
      </RoomFrame>
      {dialog}
      <Announcer state={state} />
    </>
  );
}

/** The step of a run that would be lost. */
function unfinishedStep({ saved, ...state }: TrainingState): number | undefined {
  const live = state.view?.current && state.view.stages[state.view.current];
  if (isLive(state) && live && live.step > 0) return live.step;
  return saved && saved.step > 0 && saved.step < saved.steps ? saved.step : undefined;
}

function Lead() {
  const { start, links, end } = text.lead;
  return (
    <>
      {start} <b>{links}</b> {end}
    </>
  );
}

interface NoticesProps {
  state: TrainingState;
  canStart: boolean;
  saveEvery: number;
}

function Notices({ state, canStart, saveEvery }: NoticesProps) {
  const { saved, phase, notSaved, hidden, view } = state;
  const finished = view?.current && view.stages[view.current]?.finished;
  const resumable = saved && saved.step < saved.steps && phase === "idle";
  return (
    <>
      {finished?.reason === "notFinite" && <NotFinite detail={finished.message ?? ""} />}
      {resumable && (
        <div className={classes.notice}>
          <span>
            {text.control.saved(
              text.settings.stages[saved.stage],
              formatCount(saved.step),
              formatCount(saved.steps),
              new Date(saved.savedAt).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" }),
            )}
          </span>
          <Button
            size="xs"
            disabled={!canStart}
            leftSection={<IconHistory size={14} />}
            onClick={() => void resumeSaved({ saveEvery })}
          >
            {text.control.resumeSaved}
          </Button>
        </div>
      )}
      {notSaved && (
        <p className={classes.notice} role="alert">
          {text.notices.notSaved} {notSaved}
        </p>
      )}
      {hidden && phase === "paused" && <p className={classes.notice}>{text.notices.hidden}</p>}
      {phase === "starting" && (
        <p className={classes.notice} role="status">
          {text.notices.firstStep}
        </p>
      )}
    </>
  );
}

/** Tells screen readers how a run ended or where it halted. */
function Announcer({ state }: { state: TrainingState }) {
  const { phase, view } = state;
  const stage = view?.current && view.stages[view.current];
  const step = formatCount(stage?.step ?? 0);
  const words = text.announce;
  const reason = phase === "idle" ? stage?.finished?.reason : undefined;
  return (
    <VisuallyHidden role="status" aria-live="polite">
      {phase === "paused" && words.paused(step)}
      {reason === "done" && words.done}
      {reason === "stopped" && words.stopped(step)}
      {reason === "notFinite" && words.notFinite(step)}
    </VisuallyHidden>
  );
}
