/** Documents, bins and packings as a file that other programs can read. Bins and documents count from 1, as on the page. */
import { type BestPacking, martelloTothLowerBound, sumLowerBound } from "../../../src/index";
import type { PackedDocument } from "./documents";
import type { Track } from "./timeline";

export function exportJson(
  documents: readonly PackedDocument[],
  capacity: number,
  tracks: readonly Track[],
  best: BestPacking,
): object {
  const lengths = documents.map(({ tokens }) => tokens);
  return {
    capacity,
    documents: documents.map((document, i) => ({ number: i + 1, ...document })),
    lowerBounds: { sum: sumLowerBound(lengths, capacity), l2: martelloTothLowerBound(lengths, capacity) },
    fewest: { bins: best.packing.bins.length, proven: best.proven },
    packings: tracks.map(({ algorithm, packing, figures }) => ({
      algorithm,
      figures,
      bins: packing.bins.map(({ items, used }) => ({ documents: items.map((item) => item + 1), used })),
      truncated: packing.truncated.map((item) => item + 1),
    })),
  };
}
