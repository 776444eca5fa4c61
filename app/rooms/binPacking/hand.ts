/** A packing by hand: which bin each document lies in. Written into links as one letter a document. */
import type { Bin } from "../../../src/index";

/** The bin of every document, or undefined while it is not packed. */
export type Hand = readonly (number | undefined)[];

const LETTERS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
export const MOST_BY_HAND = LETTERS.length;

export const emptyHand = (count: number): Hand => new Array<undefined>(count).fill(undefined);

/** Undefined when nothing is packed. */
export function writeHand(hand: Hand): string | undefined {
  if (hand.every((bin) => bin === undefined)) return undefined;
  return hand.map((bin) => (bin === undefined ? "-" : LETTERS[bin])).join("");
}

/** Text that does not fit the documents is an empty hand. */
export function readHand(text: string | undefined, count: number): Hand {
  if (text?.length !== count) return emptyHand(count);
  const bins = Array.from(text, (letter) => (letter === "-" ? undefined : LETTERS.indexOf(letter)));
  // No bin can have a higher number than there are documents.
  return bins.some((bin) => bin !== undefined && (bin < 0 || bin >= count)) ? emptyHand(count) : bins;
}

export function handOfBins(bins: readonly Bin[], count: number): Hand {
  const hand: (number | undefined)[] = new Array<undefined>(count).fill(undefined);
  for (const [bin, { items }] of bins.entries()) for (const item of items) hand[item] = bin;
  return hand;
}

export interface HandBin extends Bin {
  /** Tokens beyond the capacity: after the bins were made smaller. */
  excess: number;
}

/** The bins, empty ones between them included; longer documents are cut to the capacity, as everywhere. */
export function binsOfHand(hand: Hand, lengths: readonly number[], capacity: number): HandBin[] {
  const last = Math.max(-1, ...hand.map((bin) => bin ?? -1));
  const bins: HandBin[] = Array.from({ length: last + 1 }, () => ({ items: [], used: 0, excess: 0 }));
  for (const [item, bin] of hand.entries()) {
    if (bin === undefined) continue;
    const target = bins[bin] as HandBin;
    target.items.push(item);
    target.used += Math.min(lengths[item] as number, capacity);
    target.excess = Math.max(0, target.used - capacity);
  }
  return bins;
}

/** Whether a document fits into a bin, and the numbers of that question. */
export function handAsks(
  hand: Hand,
  lengths: readonly number[],
  capacity: number,
  item: number,
  bin: number,
): { length: number; used: number; fits: boolean } {
  const others = hand.map((of, other) => (other === item ? undefined : of));
  const used = binsOfHand(others, lengths, capacity)[bin]?.used ?? 0;
  const length = Math.min(lengths[item] as number, capacity);
  return { length, used, fits: used + length <= capacity };
}

/** The hand with a document in a bin, or out of all bins. */
export function move(hand: Hand, item: number, bin: number | undefined): Hand {
  return hand.map((of, other) => (other === item ? bin : of));
}

export interface HandResult {
  /** Bins with something in them. */
  bins: number;
  /** Documents that are not packed. */
  open: number;
  overfull: boolean;
}

export function resultOf(hand: Hand, bins: readonly HandBin[]): HandResult {
  return {
    bins: bins.filter(({ items }) => items.length > 0).length,
    open: hand.filter((bin) => bin === undefined).length,
    overfull: bins.some(({ excess }) => excess > 0),
  };
}
