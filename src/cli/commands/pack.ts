/** `pack`: bin packing of given lengths. */
import { martelloTothLowerBound } from "../../packing/bounds";
import { PACKING_ALGORITHMS, pack } from "../../packing/pack";
import { command } from "../command";
import { choice, flag, integer, integers } from "../options";
import { percent, table } from "../table";

export const packCommand = command({
  name: "pack",
  summary: "packs lengths into bins",
  examples: ["pack --capacity 10 --lengths 5,7,5,2,4,2,5", "pack --capacity 10 --lengths 5,8,2 --algorithm bf --json"],
  options: {
    capacity: integer({ value: "C", min: 1, help: "tokens of a bin", required: true }),
    lengths: integers({ value: "A,B,C", min: 0, help: "tokens of every item", required: true }),
    algorithm: choice({
      value: "NAME",
      choices: PACKING_ALGORITHMS,
      fallback: "ffd",
      help: "ffd first fit decreasing, ff first fit, nf next fit, bf best fit, one item a bin",
    }),
    json: flag("one JSON object"),
  },
  async run({ capacity, lengths, algorithm, json }, { out }) {
    const packing = pack(lengths, capacity, algorithm);
    if (json) return out(`${JSON.stringify(packing)}\n`);
    const cut = new Set(packing.truncated);
    const item = (index: number) => `${index}:${lengths[index]}${cut.has(index) ? " (cut)" : ""}`;
    const rows = packing.bins.map(({ items, used }, bin) => [bin, used, capacity - used, items.map(item).join(" ")]);
    out(`${table(["bin", "used", "free", "items (index:length)"], rows)}\n`);
    const { bins, lowerBound, utilization } = packing;
    const stronger = martelloTothLowerBound(lengths, capacity);
    out(`${bins.length} bins; at least ${lowerBound} by the sum, ${stronger} by Martello and Toth; `);
    out(`${percent(utilization)} full; ${cut.size} cut\n`);
  },
});
