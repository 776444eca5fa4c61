/** One turn of the run: a head and a cell in each lane. Drawn again only when its own turn changes. */
import { memo } from "react";
import type { PackingAlgorithm } from "../../../src/index";
import type { TurnView } from "../../engine/runView";
import { formatCount, formatDuration } from "../../format";
import { strings } from "../../strings";
import { System1Cell } from "./System1Cell";
import { System2Cell } from "./System2Cell";
import { ToolCell } from "./ToolCell";
import classes from "./TurnColumn.module.css";

export interface TurnColumnProps {
  /** Column of the picture's grid. */
  column: number;
  /** Undefined for a column that only holds what the last turn returned. */
  turn: TurnView | undefined;
  /** Counts from 1. */
  number: number;
  /** Only in the first column. */
  question: string | undefined;
  gold: readonly string[] | undefined;
  /** The turn before, whose refined information this turn reads. */
  incoming: TurnView | undefined;
  useSystem1: boolean;
  packing: PackingAlgorithm;
  /** The run is in this turn. */
  active: boolean;
  /** Tokens in System 2's context, and what it would hold without System 1. */
  context: number | undefined;
  without: number | undefined;
  /** Tokens of a full-width context bar. */
  scale: number;
  /** Tokens of a full-width document: the longest one of the run. */
  longest: number;
}

export const TurnColumn = memo(function TurnColumn(props: TurnColumnProps) {
  const { turn, number } = props;
  const message = turn?.message;
  return (
    <section
      className={classes.turn}
      style={{ gridColumn: props.column }}
      aria-label={strings.dualSystem.run.turn(number)}
    >
      <header className={classes.head}>
        <h2 className={classes.title}>{strings.dualSystem.run.turn(number)}</h2>
        {message && (
          <span className={classes.cost}>
            {strings.dualSystem.run.turnCost(formatCount(message.promptTokens), formatCount(message.outputTokens))} ·{" "}
            {formatDuration(message.ms)}
          </span>
        )}
      </header>
      <div className={classes.cell} data-lane="system2">
        <System2Cell {...props} />
      </div>
      <div className={classes.cell} data-lane="tools" data-empty={!turn?.call}>
        {turn && <ToolCell turn={turn} number={number} longest={props.longest} active={props.active} />}
      </div>
      <div className={classes.cell} data-lane="system1" data-empty={!turn?.packed}>
        {turn && <System1Cell turn={turn} number={number} useSystem1={props.useSystem1} packing={props.packing} />}
      </div>
    </section>
  );
});
