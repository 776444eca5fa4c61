/** System 1 in one turn: the bins, and one lane a bin, all read at the same time. */
import type { PackingAlgorithm } from "../../../src/index";
import type { LaneView, TurnView } from "../../engine/runView";
import { formatCount, formatDuration } from "../../format";
import { strings } from "../../strings";
import { BinsFigure } from "./BinsFigure";
import { CellLabel } from "./LaneLabel";
import { QuoteText } from "./QuoteText";
import { splitQuotes } from "./quotes";
import { Selectable } from "./Selectable";
import classes from "./System1Cell.module.css";

const text = strings.dualSystem.run;

interface System1CellProps {
  turn: TurnView;
  number: number;
  useSystem1: boolean;
  packing: PackingAlgorithm;
}

export function System1Cell({ turn, number, useSystem1, packing }: System1CellProps) {
  if (!useSystem1 && turn.documents) return <p className={classes.off}>{text.system1Off}</p>;
  if (!turn.packed) return null;
  return (
    <>
      <CellLabel lane="system1" />
      {turn.call && (
        <p className={classes.purpose}>
          {text.readsFor} <b>{turn.call.purpose}</b>
        </p>
      )}
      <BinsFigure turn={turn} number={number} packed={turn.packed} algorithm={packing} />
      <div className={classes.lanes}>
        {turn.lanes.map((lane) => (
          <Lane key={lane.bin} lane={lane} turn={turn} number={number} />
        ))}
      </div>
    </>
  );
}

function Lane({ lane, turn, number }: { lane: LaneView; turn: TurnView; number: number }) {
  const { bin, ms, outputTokens } = lane;
  const running = outputTokens === undefined;
  const silent = !running && splitQuotes(lane.text, turn.documents ?? []).every((segment) => segment.nothing);
  return (
    <Selectable
      selection={{ part: "lane", turn: turn.turn, bin }}
      label={strings.dualSystem.inspector.lane(number, bin + 1)}
      className={classes.lane}
    >
      <p className={classes.head} data-running={running}>
        <b>{text.bin(bin + 1)}</b>
        {/* A reader with nothing to say takes one line. */}
        {silent && <span className={classes.nothing}>{text.nothingRelevant}</span>}
        <span>
          {running
            ? text.laneRunning(formatCount(lane.promptTokens))
            : text.laneCost(formatCount(lane.promptTokens), formatCount(outputTokens), formatDuration(ms ?? 0))}
        </span>
      </p>
      {!silent && (
        <div className={classes.text}>
          <QuoteText text={lane.text} turn={turn.turn} documents={turn.documents ?? []} />
        </div>
      )}
    </Selectable>
  );
}
