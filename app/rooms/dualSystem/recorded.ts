/** The runs that the page is shipped with: the first picture, drawn while the agent still loads. */
import { type RoomSearch, runKey, searchSchema } from "./search";

/** Files under public/, and the address whose run they hold. `node scripts/recordTraces.mjs` makes them anew. */
export const RECORDED_RUNS: readonly { file: string; search: Partial<RoomSearch> }[] = [
  { file: "traces/dual-system.json", search: {} },
  { file: "traces/dual-system-alone.json", search: { system1: false } },
];

/** The file that holds the run of an address. */
export function recordedFile(search: RoomSearch): string | undefined {
  const key = runKey(search);
  return RECORDED_RUNS.find((run) => runKey(searchSchema.parse(run.search)) === key)?.file;
}
