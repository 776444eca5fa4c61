/** The first room: a question is researched by two systems, drawn as it happens. */
import { getRouteApi } from "@tanstack/react-router";
import { useEffect } from "react";
import { BusyElsewhere } from "../../components/BusyElsewhere";
import { LaneMark } from "../../components/LaneMark";
import { RoomFrame } from "../../components/RoomFrame";
import { useKeys } from "../../keys";
import { RESEARCH_AGENT } from "../../models";
import { useDocuments } from "../../stores/documentsStore";
import { isHopeless, useEngine, wantModels } from "../../stores/engineStore";
import { useJob } from "../../stores/jobStore";
import { ask, isBusy, stop, useRun } from "../../stores/runStore";
import { clearSelection } from "../../stores/selectionStore";
import { openWorld, useWorld } from "../../stores/worldStore";
import { strings } from "../../strings";
import { Announcer } from "./Announcer";
import { AskPanel } from "./AskPanel";
import classes from "./DualSystemRoom.module.css";
import { Inspector } from "./Inspector";
import { RunPanel } from "./RunPanel";
import { freshQuestion, questionOf, type RoomSearch, runSearch, shippedCorpus, toRequest } from "./search";
import { useRecordedRun } from "./useRecordedRun";

const route = getRouteApi("/dual-system");

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

  const update = (change: Partial<RoomSearch>) =>
    void navigate({ search: (previous) => ({ ...previous, ...change }), replace: true });
  const question = world && questionOf(search, world.questions);
  const askNow = () => {
    if (!question) return;
    clearSelection();
    void ask(toRequest(search, question, openAlexKey), runSearch(search));
    // In one column the run stands below the question.
    document.getElementById("main")?.scrollIntoView({ block: "nearest" });
  };

  const canAsk = question && !hopeless && !taken && !reading ? askNow : undefined;
  useKeys({
    stop: busy ? stop : clearSelection,
    fresh: busy || !shippedCorpus(search) ? undefined : () => update(freshQuestion()),
    reset: busy ? undefined : canAsk,
  });

  return (
    <>
      <RoomFrame
        title={strings.rooms.dualSystem.title}
        lead={<Lead />}
        panel={<AskPanel search={search} update={update} question={question} busy={busy} onAsk={canAsk} />}
        inspector={<Inspector />}
      >
        <BusyElsewhere own="research" />
        <RunPanel question={question?.text} onAsk={canAsk} />
      </RoomFrame>
      <Announcer />
    </>
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
