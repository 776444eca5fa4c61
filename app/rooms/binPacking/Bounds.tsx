/** How few bins it could be: lower bounds, the search's finding, and what is proven about each algorithm in general. */
import { type BestPacking, guaranteedBins, sumLowerBound } from "../../../src/index";
import { Frame } from "../../components/Frame";
import { formatCount } from "../../format";
import { strings } from "../../strings";
import classes from "./Bounds.module.css";
import { nameOf } from "./Figures";
import { NumberTable } from "./NumberTable";
import { ALGORITHM_ORDER } from "./search";
import type { Track } from "./timeline";

const text = strings.binPacking.bounds;

interface BoundsProps {
  lengths: readonly number[];
  capacity: number;
  /** L2. */
  bound: number;
  best: BestPacking;
  tracks: readonly Track[];
}

export function Bounds({ lengths, capacity, bound, best, tracks }: BoundsProps) {
  const tokens = lengths.reduce((sum, length) => sum + Math.min(length, capacity), 0);
  const found = best.packing.bins.length;
  const range = best.proven ? formatCount(found) : text.range(best.lowerBound, found);
  const shown = ALGORITHM_ORDER.filter((algorithm) => tracks.some((track) => track.algorithm === algorithm));
  return (
    <Frame title={text.title} hint={text.hint}>
      <dl className={classes.bounds}>
        <Bound label={text.sum} value={formatCount(sumLowerBound(lengths, capacity))}>
          {text.sumHint(formatCount(tokens), formatCount(capacity))}
        </Bound>
        <Bound label={text.strong} value={formatCount(bound)}>
          {text.strongHint}
        </Bound>
        <Bound label={text.best} value={range}>
          {best.proven ? text.bestProven : text.bestOpen}
        </Bound>
      </dl>
      <h3 className={classes.heading}>{text.guarantees}</h3>
      <p className={classes.hint}>{text.guaranteeHint(range)}</p>
      <NumberTable
        caption={text.guarantees}
        head={[text.algorithm, text.formula, text.here, text.took, text.source]}
        wordsFrom={4}
        rows={shown.map((algorithm) => {
          const most = guaranteedBins(algorithm, found);
          const bins = tracks.find((track) => track.algorithm === algorithm)?.packing.bins.length ?? 0;
          const { formula, source } = text.rows[algorithm];
          return {
            key: algorithm,
            cells: [
              nameOf(algorithm),
              formula,
              most === undefined ? strings.binPacking.figures.none : formatCount(most),
              formatCount(bins),
              source,
            ],
          };
        })}
      />
    </Frame>
  );
}

function Bound({ label, value, children }: { label: string; value: string; children: string }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd className={classes.value}>{value}</dd>
      <dd className={classes.note}>{children}</dd>
    </div>
  );
}
