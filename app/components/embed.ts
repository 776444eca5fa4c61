/**
 * Which parts of the page an embedding page leaves out (docs/page.md): `embed=1` what leads elsewhere and what changes the
 * room, `hide=` parts by name. What a run came to can not be left out, nor what went wrong.
 */
import { useFrameSearch } from "./depth";

export const PARTS = ["header", "rooms", "intro", "controls", "playback", "inspector", "export"] as const;
export type Part = (typeof PARTS)[number];

/** What `embed=1` stands for. */
const EMBEDDED: readonly Part[] = ["header", "rooms", "intro", "controls"];

/** Parts that are left out; names that mean nothing are passed over. */
export function hiddenParts({ embed, hide = "" }: { embed?: 1 | undefined; hide?: string | undefined }): Set<Part> {
  const named = new Set(hide.split(",").map((name) => name.trim()));
  return new Set([...(embed ? EMBEDDED : []), ...PARTS.filter((part) => named.has(part))]);
}

export function useHiddenParts(): ReadonlySet<Part> {
  return hiddenParts(useFrameSearch());
}

/** The address of the same room, settings and moment, with every part. @param href as the router has it */
export function wholeAddress(href: string): string {
  const [path = "", query = ""] = href.split("?");
  // Word by word: what is not touched stays written as it is.
  const kept = query.split("&").filter((word) => word !== "" && !/^(embed|hide)=/.test(word));
  return kept.length > 0 ? `${path}?${kept.join("&")}` : path;
}
