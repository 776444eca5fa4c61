/** What passes between agents when no words do: a ring of agents, its thoughts and its messages, drawn as they come. */
import { getRouteApi } from "@tanstack/react-router";
import { useEffect, useMemo } from "react";
import { BusyElsewhere } from "../../components/BusyElsewhere";
import { ErrorCard } from "../../components/ErrorCard";
import { Frame } from "../../components/Frame";
import { RoomFrame } from "../../components/RoomFrame";
import { useKeys } from "../../keys";
import { RELAY_MODELS } from "../../models";
import { isHopeless, useEngine, wantModels } from "../../stores/engineStore";
import { useJob } from "../../stores/jobStore";
import { clearLatentSelection } from "../../stores/latentStore";
import { fetchShippedLinks, useLinks } from "../../stores/linksStore";
import {
  isBusy,
  openRecorded,
  type RecursionRun,
  runRecursions,
  stopRecursion,
  useRecursion,
} from "../../stores/recursionStore";
import { misfitOf, type RingAgent, ringAgents, useRingAgents } from "../../stores/ringStore";
import { strings } from "../../strings";
import { ControlPanel } from "./ControlPanel";
import { EmptySteps } from "./EmptySteps";
import { Hands } from "./Hands";
import classes from "./LatentRecursionRoom.module.css";
import { freshSeed } from "./QuestionForm";
import { Ring } from "./Ring";
import { useRunView } from "./RunView";
import { needsSet, questionOf, type RoomSearch, relaySpec, searchSchema, toRequest } from "./search";

const route = getRouteApi("/latent-recursion");
const text = strings.latentRecursion;

/** What the recorded run was asked. */
const RECORDED_REQUEST = toRequest(searchSchema.parse({}));

export function LatentRecursionRoom() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const busy = useRecursion(isBusy);
  const { problem, runs, shown } = useRecursion();
  const hopeless = useEngine(isHopeless);
  const taken = useJob(({ job }) => job !== undefined && job !== "recursion");
  const links = useLinks();
  useEffect(() => {
    wantModels(RELAY_MODELS);
    void fetchShippedLinks();
  }, []);
  const update = (change: Partial<RoomSearch>) =>
    void navigate({ search: (previous) => ({ ...previous, ...change }), replace: true, resetScroll: false });

  const found = useMemo(() => questionOf(relaySpec(search)), [search]);
  // A link to other settings opens on them, not on a run that has nothing to do with them.
  const isDefault = JSON.stringify(toRequest(search)) === JSON.stringify(RECORDED_REQUEST);
  useEffect(() => {
    if (isDefault) void openRecorded(RECORDED_REQUEST);
  }, [isDefault]);
  const missing = needsSet(search) && !links.sets[search.links] ? links.problems[search.links] : undefined;
  // A file that could not be opened is never selected, and must be told of nevertheless.
  const linksProblem = missing ?? links.problems.opened;
  const ring = useRingAgents();
  const set = links.sets[search.links];
  const hasLinks = !needsSet(search) || (set && !misfitOf(set, ring));
  const canRun = "question" in found && !hopeless && !taken && hasLinks;
  const onRun = (compare: boolean) => {
    clearLatentSelection();
    const passings = compare ? (["latent", "text"] as const) : [search.passing];
    void runRecursions(passings.map((passing) => toRequest(search, { agents: ringAgents(), passing })));
    document.getElementById("main")?.scrollIntoView({ block: "nearest" });
  };
  useKeys({
    stop: busy ? stopRecursion : clearLatentSelection,
    fresh: busy ? undefined : () => update({ seed: freshSeed(), chain: undefined, holders: undefined }),
    reset: busy || !canRun ? undefined : () => onRun(false),
  });
  const run = runs.find(({ id }) => id === shown);
  const shared = {
    title: strings.rooms.latentRecursion.title,
    lead: <Lead />,
    panel: <ControlPanel search={search} update={update} busy={busy} onRun={canRun ? onRun : undefined} />,
  };
  const notices = (
    <>
      <BusyElsewhere own="recursion" />
      {problem && <ErrorCard problem={problem} />}
      {linksProblem && (
        <ErrorCard problem={linksProblem} {...(missing && { onRetry: () => void fetchShippedLinks() })} />
      )}
    </>
  );
  if (run && run.events.length > 0) {
    return <WithRun key={run.id} run={run} search={search} update={update} notices={notices} {...shared} />;
  }
  return (
    <RoomFrame {...shared}>
      <div className={classes.parts}>
        {notices}
        {"question" in found && (
          <Frame title={text.ring.title} hint={text.ring.hint}>
            <EmptyRing rounds={search.rounds} question={found.question} ring={ring} />
          </Frame>
        )}
        <EmptySteps waiting={busy} />
      </div>
    </RoomFrame>
  );
}

interface WithRunProps {
  run: RecursionRun;
  search: RoomSearch;
  update: (change: Partial<RoomSearch>) => void;
  notices: React.ReactNode;
  title: string;
  lead: React.ReactNode;
  panel: React.ReactNode;
}

function WithRun({ run, search, update, notices, ...frame }: WithRunProps) {
  const found = useMemo(() => questionOf(run.relay), [run.relay]);
  const agents = useRingAgents().map(({ id, role, model }) => ({ id, role, model }));
  const view = useRunView({
    run,
    question: "question" in found ? found.question : undefined,
    changed:
      run.request !== undefined &&
      JSON.stringify(run.request) !== JSON.stringify(toRequest(search, { agents, passing: run.request.passing })),
    fit: search.fit,
    onFit: (fit) => update({ fit }),
  });
  return (
    <RoomFrame {...frame} inspector={view?.inspector}>
      <div className={classes.parts}>
        {notices}
        {view?.main}
      </div>
    </RoomFrame>
  );
}

interface EmptyRingProps {
  rounds: number;
  question: React.ComponentProps<typeof Hands>["question"];
  ring: readonly RingAgent[];
}

function EmptyRing({ rounds, question, ring }: EmptyRingProps) {
  const agents = ring.map(({ role, info }) => ({ role, hiddenSize: info?.hiddenSize }));
  const edges = agents.map((_, from) => ({ from, to: (from + 1) % agents.length }));
  return (
    <div className={classes.ring}>
      <Ring
        agents={agents}
        edges={edges}
        round={1}
        rounds={rounds}
        active={undefined}
        sending={undefined}
        idleLinks={false}
      />
      <Hands question={question} roles={agents.map(({ role }) => role)} />
    </div>
  );
}

function Lead() {
  const { start, thoughts, end } = text.lead;
  return (
    <>
      {start} <b>{thoughts}</b> {end}
    </>
  );
}
