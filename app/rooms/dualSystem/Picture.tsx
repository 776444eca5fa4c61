/**
 * The main picture: System 2's lane above, the tools' below it, System 1's at the bottom; one column a turn. What
 * System 1 returns climbs through the gutter into System 2's next turn.
 */
import { Fragment, useEffect, useRef } from "react";
import { type RunView, rawTokensOf, type TurnView } from "../../engine/runView";
import { strings } from "../../strings";
import { LaneLabel } from "./LaneLabel";
import classes from "./Picture.module.css";
import { TurnColumn } from "./TurnColumn";

const COLUMN = "minmax(300px, 400px)";
const GUTTER = "38px";
/** Within this distance of the end, the picture follows the run. */
const FOLLOW_PX = 80;

/** @param active the run goes on, and its end is what is drawn */
export function Picture({ view, active }: { view: RunView; active: boolean }) {
  const { turns, finished, settings } = view;
  const last = turns.at(-1);
  // What was returned is shown where it goes, even before (or without) the turn that reads it.
  const columns: (TurnView | undefined)[] = last?.refined ? [...turns, undefined] : [...turns];
  const contexts = contextsOf(turns);
  const scale = Math.max(1, ...contexts.map(({ without }) => without));
  const longest = Math.max(1, ...turns.flatMap(({ documents = [] }) => documents.map(({ tokens }) => tokens)));
  const scroller = useFollow(columns.length, finished === undefined);
  const track = [COLUMN, ...columns.slice(1).flatMap(() => [GUTTER, COLUMN])].join(" ");
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard.
    <section className={classes.scroller} ref={scroller} tabIndex={0} aria-label={strings.dualSystem.run.picture}>
      <div className={classes.picture} style={{ gridTemplateColumns: `34px ${track} minmax(0, 1fr)` }}>
        <LaneLabel lane="system2" />
        <LaneLabel lane="tools" />
        <LaneLabel lane="system1" />
        {columns.map((turn, i) => (
          <Fragment key={i}>
            {i > 0 && (
              <div
                className={classes.gutter}
                style={{ gridColumn: 2 * i + 1 }}
                data-from={gutterFrom(turns[i - 1], settings.useSystem1)}
              >
                <span className={classes.leave} />
                <span className={classes.climb} />
                <span className={classes.enter} />
              </div>
            )}
            <TurnColumn
              column={2 * i + 2}
              turn={turn}
              number={i + 1}
              question={i === 0 ? view.question : undefined}
              gold={view.gold}
              incoming={turns[i - 1]}
              useSystem1={settings.useSystem1}
              packing={settings.packing ?? "ffd"}
              active={active && i === columns.length - 1}
              context={contexts[i]?.context}
              without={contexts[i]?.without}
              scale={scale}
              longest={longest}
            />
          </Fragment>
        ))}
      </div>
    </section>
  );
}

/** Where the path into the next turn starts. */
function gutterFrom(turn: TurnView | undefined, useSystem1: boolean): "system1" | "tools" | "error" {
  if (turn?.toolError !== undefined) return "error";
  return useSystem1 ? "system1" : "tools";
}

/** System 2's context after each turn's own words, and what it would hold without System 1. */
function contextsOf(turns: readonly TurnView[]): { context: number; without: number }[] {
  let saved = 0;
  return turns.map((turn) => {
    const context = turn.promptTokens + (turn.message?.outputTokens ?? 0);
    const without = context + saved;
    if (turn.refined) saved += rawTokensOf(turn) - turn.refined.tokens;
    return { context, without };
  });
}

/**
 * Scrolls to a new column, unless the visitor has scrolled back to look at an earlier one. A run that is over when it
 * comes onto the screen is read from its start.
 */
function useFollow(columns: number, live: boolean) {
  const scroller = useRef<HTMLElement>(null);
  const following = useRef(live);
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const onScroll = () => {
      following.current = element.scrollLeft + element.clientWidth > element.scrollWidth - FOLLOW_PX;
    };
    element.addEventListener("scrollend", onScroll);
    return () => element.removeEventListener("scrollend", onScroll);
  }, []);
  useEffect(() => {
    const element = scroller.current;
    if (element && columns > 1 && following.current) element.scrollTo({ left: element.scrollWidth });
  }, [columns]);
  return scroller;
}
