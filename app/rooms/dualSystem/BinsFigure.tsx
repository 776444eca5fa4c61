/** The bins of a turn as columns under a capacity line, each document a block as high as its tokens. */
import type { PackingAlgorithm, TraceEvent } from "../../../src/index";
import { documentColor } from "../../components/documentColor";
import type { TurnView } from "../../engine/runView";
import { formatCount, formatPercent, formatPlural } from "../../format";
import { useSelection } from "../../stores/selectionStore";
import { strings } from "../../strings";
import classes from "./BinsFigure.module.css";
import { Selectable } from "./Selectable";

type Packed = Extract<TraceEvent, { type: "packed" }>;

const text = strings.dualSystem.run;
const HEIGHT_PX = 84;
/** Lower blocks carry no number. */
const NUMBERED_PX = 13;

interface BinsFigureProps {
  turn: TurnView;
  number: number;
  packed: Packed;
  algorithm: PackingAlgorithm;
}

export function BinsFigure({ turn, number, packed, algorithm }: BinsFigureProps) {
  const linked = useSelection((state) => (state.linked?.turn === turn.turn ? state.linked.document : undefined));
  const documents = turn.documents ?? [];
  const packedDocuments = packed.bins.reduce((sum, bin) => sum + bin.items.length, 0);
  return (
    <Selectable
      selection={{ part: "bins", turn: turn.turn }}
      label={strings.dualSystem.inspector.bins(number)}
      className={classes.figure}
    >
      <div className={classes.chart} style={{ height: HEIGHT_PX }}>
        {packed.bins.map(({ items, used }, bin) => {
          // The trace gives the tokens of a whole bin; a block's share of it follows the document's own length.
          const own = items.reduce((sum, item) => sum + (documents[item]?.tokens ?? 0), 0);
          return (
            <div key={bin} className={classes.bin}>
              {items.map((item, order) => {
                const share = ((documents[item]?.tokens ?? 0) / Math.max(1, own)) * used;
                const height = (HEIGHT_PX * share) / packed.capacity;
                return (
                  <span
                    key={item}
                    className={classes.block}
                    data-linked={linked === item}
                    style={{
                      height,
                      background: documentColor(item),
                      animationDelay: `calc(${bin + order} * var(--stagger))`,
                    }}
                  >
                    {height >= NUMBERED_PX && item + 1}
                  </span>
                );
              })}
            </div>
          );
        })}
      </div>
      <ul className={classes.facts}>
        <li>
          <b>{text.packed(formatPlural(packedDocuments, "document"), formatPlural(packed.bins.length, "bin"))}</b>
        </li>
        <li>{text.packing(strings.dualSystem.settings.packing.algorithms[algorithm], packed.lowerBound)}</li>
        <li>{text.capacity(formatCount(packed.capacity), formatPercent(packed.utilization))}</li>
        {packed.truncated.length > 0 && (
          <li className={classes.cut}>{text.truncated(formatPlural(packed.truncated.length, "document"))}</li>
        )}
      </ul>
    </Selectable>
  );
}
