/** The first room: a question is researched by two systems, drawn as it happens. */
import { getRouteApi } from "@tanstack/react-router";
import { lazy, Suspense, useCallback, useEffect } from "react";
import type { Branch } from "../../../src/index";
import { BusyElsewhere } from "../../components/BusyElsewhere";
import { useInLab } from "../../components/depth";
import { LaneMark } from "../../components/LaneMark";
import { RoomFrame } from "../../components/RoomFrame";
import { useKeys } from "../../keys";
import { RESEARCH_AGENT } from "../../models";
import { useDocuments } from "../../stores/documentsStore";
import { isHopeless, useEngine, wantModels } from "../../stores/engineStore";
import { useJob } from "../../stores/jobStore";
import { ask, askToCompare, isBusy, recordedEvents, stop, useRun } from "../../stores/runStore";
import { clearSelection } from "../../stores/selectionStore";
import { openWorld, useWorld } from "../../stores/worldStore";
import { strings } from "../../strings";
import { Announcer } from "./Announcer";
import { AskPanel } from "./AskPanel";
import classes from "./DualSystemRoom.module.css";
import { Duel } from "./Duel";
import { Inspector } from "./Inspector";
import { RunPanel } from "./RunPanel";
import {
  freshQuestion,
  questionOf,
  type RoomSearch,
  runSearch,
  searchSchema,
  shippedCorpus,
  toRequest,
} from "./search";
import { Tour } from "./Tour";
import { DUEL_CHAPTER } from "./tour";
import { BranchContext, type StartBranch } from "./useBranch";
import { useRecordedRun } from "./useRecordedRun";
import { useRunPlayback } from "./useRunPlayback";

/** For the router, which asks for it with the room's code. */
export { showRecorded } from "./useRecordedRun";

const route = getRouteApi("/dual-system");

/** Its charts are large, and nothing of it belongs to the first picture. */
const BatchPanel = lazy(async () => ({ default: (await import("./BatchPanel")).BatchPanel }));

/** What a batch replaces by its own. */
const NO_QUESTION = { text: "", hops: 0, kind: "lookup" as const, gold: [] };

export function DualSystemRoom() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  // Where no shipped corpus is searched, the encyclopedia still shows in which words can be asked.
  const corpus = shippedCorpus(search) ?? "encyclopedia";
  const world = useWorld(({ world: made }) =>
    made?.seed === search.world && made.corpus === corpus ? made : undefined,
  );
  const openAlexKey = useDocuments((state) => state.openAlexKey);
  const reading = useDocuments(({ phase }) => phase !== "idle");
  const busy = useRun(isBusy);
  const hopeless = useEngine(isHopeless);
  const taken = useJob(({ job }) => job !== undefined && job !== "research");
  const isReady = useRecordedRun(search);
  useEffect(() => {
    if (isReady) wantModels([RESEARCH_AGENT]);
  }, [isReady]);
  useEffect(() => {
    if (isReady) void openWorld(search.world, corpus);
  }, [isReady, search.world, corpus]);

  const update = useCallback(
    (change: Partial<RoomSearch>) =>
      void navigate({ search: (previous) => ({ ...previous, ...change }), replace: true, resetScroll: false }),
    [navigate],
  );
  const question = world && questionOf(search, world.questions);
  const askNow = () => {
    if (!question) return;
    clearSelection();
    update({ step: undefined });
    void ask(toRequest(search, question, openAlexKey), runSearch(search));
    // In one column the run stands below the question.
    document.getElementById("main")?.scrollIntoView({ block: "nearest" });
  };

  const shown = useRunPlayback(search.step, update);
  const runSettings = useRun((state) => state.search);
  /** The run on the screen once more, with something changed, and both compared. */
  const again = (change: Partial<RoomSearch>, branch?: Branch) => {
    if (!shown || hopeless || taken || busy || reading) return undefined;
    return () => {
      clearSelection();
      const settings = { ...searchSchema.parse(runSettings ?? {}), ...change, step: undefined };
      const { question: text, gold = [] } = shown.whole;
      const asked = { text, hops: 0, kind: "lookup" as const, gold: [...gold] };
      const request = { ...toRequest(settings, asked, openAlexKey), ...(branch && { branch }) };
      askToCompare(request, runSearch(settings));
    };
  };
  const other = again({ system1: !shown?.whole.settings.useSystem1 });
  const startBranch: StartBranch =
    shown?.whole.finished && again({})
      ? (turn, purpose) => again({}, { events: [...recordedEvents()], turn, purpose })?.()
      : undefined;
  const inLab = useInLab();
  const canBatch = !hopeless && !taken && !busy && !reading;
  const batchSettings = canBatch ? toRequest(search, NO_QUESTION, openAlexKey) : undefined;
  const canAsk = question && !hopeless && !taken && !reading ? askNow : undefined;
  useKeys({
    stop: busy ? stop : clearSelection,
    fresh: busy || !shippedCorpus(search) ? undefined : () => update(freshQuestion()),
    reset: busy ? undefined : canAsk,
    tour: busy ? undefined : () => update({ tour: 1 }),
    why: busy ? undefined : () => update({ tour: DUEL_CHAPTER }),
  });

  return (
    <BranchContext value={startBranch}>
      <RoomFrame
        title={strings.rooms.dualSystem.title}
        lead={<Lead />}
        panel={<AskPanel search={search} update={update} question={question} busy={busy} onAsk={canAsk} />}
        guide={search.tour !== undefined && <Tour chapter={search.tour} update={update} />}
        inspector={<Inspector view={shown?.view} />}
      >
        <div className={classes.parts}>
          <BusyElsewhere own={["research", "batch"]} />
          {search.tour === DUEL_CHAPTER ? (
            <Duel />
          ) : (
            <RunPanel run={shown} question={question?.text} onAsk={canAsk} onOther={other} />
          )}
          {isReady && inLab && search.tour === undefined && (
            <Suspense>
              <BatchPanel search={search} settings={batchSettings} />
            </Suspense>
          )}
        </div>
      </RoomFrame>
      <Announcer />
    </BranchContext>
  );
}

function Lead() {
  const text = strings.dualSystem.intro;
  return (
    <>
      <span className={classes.name}>
        <LaneMark lane="system2" size={18} /> <b>{text.system2}</b>
      </span>{" "}
      {text.plans}{" "}
      <span className={classes.name}>
        <LaneMark lane="system1" size={18} /> <b>{text.system1}</b>
      </span>{" "}
      {text.reads}
    </>
  );
}
