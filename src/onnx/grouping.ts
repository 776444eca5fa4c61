/** Which sequences share a padded block: those of similar lengths, as many as memory and waste allow. */

export interface GroupLimits {
  /** Whether the model takes padding; without it only sequences of the same length share a block. */
  canPad: boolean;
  /** Positions of a block, padding included. A longer sequence gets a block of its own. */
  maxPositions: number;
  /** Sequences of a block. */
  maxSequences: number;
}

/** Columns of padding in a block that are never worth another block. */
const SMALL_WASTE = 128;
/** The share of a block's prompt columns that may be padding. */
const MAX_WASTE = 0.5;

/**
 * @param prompts lengths of what is read first
 * @param later positions that each sequence may add to that
 * @returns indices of the sequences of each block, in order; together all of them
 */
export function groupSequences(
  prompts: readonly number[],
  later: readonly number[],
  { canPad, maxPositions, maxSequences }: GroupLimits,
): number[][] {
  const order = prompts.map((_, index) => index).sort((a, b) => prompts[b]! - prompts[a]! || a - b);
  const groups: number[][] = [];
  let group: number[] = [];
  let longestPrompt = 0;
  let longestLater = 0;
  let tokens = 0;
  for (const index of order) {
    const prompt = prompts[index]!;
    const nextLater = Math.max(longestLater, later[index]!);
    const size = group.length + 1;
    const wasted = size * longestPrompt - tokens - prompt;
    const isTooMuch =
      size > maxSequences ||
      size * (longestPrompt + nextLater) > maxPositions ||
      (canPad ? wasted > SMALL_WASTE && wasted > MAX_WASTE * size * longestPrompt : prompt !== longestPrompt);
    if (group.length === 0 || isTooMuch) {
      group = [];
      groups.push(group);
      longestPrompt = prompt;
      longestLater = later[index]!;
      tokens = 0;
    } else {
      longestLater = nextLater;
    }
    group.push(index);
    tokens += prompt;
  }
  return groups;
}
