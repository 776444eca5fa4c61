/** What an algorithm does at a moment, in words. */
import { formatCount, formatPlural } from "../../format";
import { strings } from "../../strings";
import type { Track, TrackState } from "./timeline";

const text = strings.binPacking.words;

/** @param lengths tokens of the documents as they are, before any is cut */
export function stepWords(track: Track, state: TrackState, lengths: readonly number[], capacity: number): string {
  const { asking, placed } = state;
  if (asking) {
    const { bin, length, free, fits } = asking;
    const question = text.ask(bin + 1, formatCount(length), formatCount(capacity), formatCount(capacity - free));
    if (!fits) return `${question} ${text.no(formatCount(length - free))}`;
    const left = formatCount(free - length);
    return `${question} ${track.algorithm === "bf" ? text.yesOn(left) : text.yes(left)}`;
  }
  if (state.finished) {
    const { bins, waste } = track.figures;
    return text.done(formatPlural(bins, "bin"), formatCount(waste));
  }
  if (!placed) return text.start;
  const { item, bin, length, used, opened } = placed;
  const from = lengths[item] ?? length;
  if (from > length) return text.cut(item + 1, formatCount(from), formatCount(length), bin + 1);
  if (!opened) return text.into(item + 1, formatCount(length), bin + 1, formatCount(capacity - used));
  const opens = track.algorithm === "one" || bin === 0 ? text.opensOwn : text.opens;
  return opens(item + 1, formatCount(length), bin + 1);
}
