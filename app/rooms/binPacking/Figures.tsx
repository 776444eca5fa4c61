/** What every packing costs when all is packed, and the visitor's own beside them. */
import {
  type BestPacking,
  figuresOf,
  type PackingAlgorithm,
  type PackingFigures,
  sumLowerBound,
} from "../../../src/index";
import { useInLab } from "../../components/depth";
import { ExportMenu } from "../../components/ExportMenu";
import { Frame } from "../../components/Frame";
import { formatCount, formatPercent } from "../../format";
import { strings } from "../../strings";
import type { HandBin } from "./hand";
import { NumberTable } from "./NumberTable";
import type { Track } from "./timeline";

const text = strings.binPacking.figures;

interface FiguresProps {
  tracks: readonly Track[];
  lengths: readonly number[];
  capacity: number;
  best: BestPacking;
  /** A whole and valid packing by hand. */
  hand: readonly HandBin[] | undefined;
}

export function Figures({ tracks, lengths, capacity, best, hand }: FiguresProps) {
  const inLab = useInLab();
  const own = hand && handFigures(hand, lengths, capacity);
  const head = [
    text.algorithm,
    text.bins,
    best.proven ? text.over : text.overBound,
    text.full,
    text.waste,
    text.comparisons,
    text.longest,
    text.cut,
  ] as const;
  const cells = (figures: Omit<PackingFigures, "comparisons">, comparisons: string) => [
    formatCount(figures.bins),
    figures.bins > best.lowerBound ? `+${figures.bins - best.lowerBound}` : "0",
    formatPercent(figures.utilization),
    formatCount(figures.waste),
    comparisons,
    formatCount(figures.longestBin),
    formatCount(figures.cut),
  ];
  const rows = [
    ...tracks.map(({ algorithm, figures }) => ({
      key: algorithm,
      cells: [nameOf(algorithm), ...cells(figures, formatCount(figures.comparisons))],
    })),
    ...(own ? [{ key: "hand", own: true, cells: [text.byHand, ...cells(own, text.none)] }] : []),
  ];
  return (
    <Frame
      title={text.title}
      hint={text.hint}
      tools={
        <ExportMenu
          name="packing-figures"
          title={text.title}
          table={() => ({ head, rows: rows.map((row) => row.cells) })}
        />
      }
    >
      <NumberTable
        caption={text.caption}
        head={inLab ? head : learned(head)}
        rows={inLab ? rows : rows.map((row) => ({ ...row, cells: learned(row.cells) }))}
      />
    </Frame>
  );
}

/** The columns that say why fewer bins are better: name, bins, more than needed, how full, the longest. */
const learned = (cells: readonly string[]): string[] => cells.filter((_, i) => [0, 1, 2, 3, 6].includes(i));

export function nameOf(algorithm: PackingAlgorithm): string {
  return strings.binPacking.algorithms[algorithm].name;
}

function handFigures(hand: readonly HandBin[], lengths: readonly number[], capacity: number) {
  const bins = hand.filter(({ items }) => items.length > 0);
  const used = bins.reduce((sum, bin) => sum + bin.used, 0);
  const truncated = lengths.flatMap((length, item) => (length > capacity ? [item] : []));
  const utilization = bins.length === 0 ? 0 : used / (bins.length * capacity);
  return figuresOf({ bins, capacity, lowerBound: sumLowerBound(lengths, capacity), utilization, truncated }, lengths);
}
