/** The first room: a question is researched by two systems, drawn as it happens. */
import { useDocumentTitle, useHotkeys } from "@mantine/hooks";
import { getRouteApi } from "@tanstack/react-router";
import { useEffect } from "react";
import { LaneMark } from "../../components/LaneMark";
import { isHopeless, useEngine } from "../../stores/engineStore";
import { ask, isBusy, stop, useRun } from "../../stores/runStore";
import { clearSelection } from "../../stores/selectionStore";
import { openWorld, useWorld } from "../../stores/worldStore";
import { strings } from "../../strings";
import { Announcer } from "./Announcer";
import { AskPanel } from "./AskPanel";
import classes from "./DualSystemRoom.module.css";
import { Inspector } from "./Inspector";
import { RunPanel } from "./RunPanel";
import { freshQuestion, questionOf, type RoomSearch, toRequest } from "./search";

const route = getRouteApi("/dual-system");

export function DualSystemRoom() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const world = useWorld((state) => (state.world?.seed === search.world ? state.world : undefined));
  const busy = useRun(isBusy);
  const hopeless = useEngine(isHopeless);
  useDocumentTitle(`${strings.room.title} · ${strings.product}`);
  useEffect(() => void openWorld(search.world), [search.world]);

  const update = (change: Partial<RoomSearch>) =>
    void navigate({ search: (previous) => ({ ...previous, ...change }), replace: true });
  // Esc works from within fields, where N is a letter.
  useHotkeys([["Escape", () => (busy ? stop() : clearSelection())]], []);
  useHotkeys([["N", () => !busy && update(freshQuestion())]]);
  const question = world && questionOf(search, world.questions);
  const askNow = () => {
    if (!question) return;
    clearSelection();
    void ask(toRequest(search, question));
    // In one column the run stands below the question.
    document.getElementById("main")?.scrollIntoView({ block: "nearest" });
  };

  const canAsk = question && !hopeless ? askNow : undefined;

  return (
    <>
      <Intro />
      <div className={classes.room}>
        <AskPanel search={search} update={update} question={question} busy={busy} onAsk={canAsk} />
        <main id="main" className={classes.main} tabIndex={-1}>
          <RunPanel question={question?.text} onAsk={canAsk} />
        </main>
        <Inspector />
      </div>
      <Announcer />
    </>
  );
}

function Intro() {
  const { intro, title } = strings.room;
  return (
    <section className={classes.intro} aria-label={title}>
      <h1 className={classes.title}>{title}</h1>
      <p className={classes.lead}>
        <span className={classes.name}>
          <LaneMark lane="system2" size={18} /> <b>{intro.system2}</b>
        </span>{" "}
        {intro.plans}{" "}
        <span className={classes.name}>
          <LaneMark lane="system1" size={18} /> <b>{intro.system1}</b>
        </span>{" "}
        {intro.reads}
      </p>
    </section>
  );
}
