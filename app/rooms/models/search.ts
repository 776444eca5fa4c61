/** The room's state in the URL: where a checkpoint lies. What opens its server never stands there. */
import { z } from "zod";
import { parseAddress, parseHubId } from "../../../src/index";

export const SOURCES = ["hub", "url", "files"] as const;
export type Source = (typeof SOURCES)[number];

export const DEFAULTS = { source: "hub", id: "", revision: "", host: "", url: "" } as const;

const text = z.string().trim().max(500).default("").catch("");
/** A link from elsewhere may hold a secret: it goes no further. */
const address = text.transform(publicAddress);

/** A damaged value in a link falls back to its default instead of breaking the page. */
export const searchSchema = z.object({
  source: z.enum(SOURCES).default(DEFAULTS.source).catch(DEFAULTS.source),
  id: text.transform(publicId),
  revision: text,
  host: address,
  url: address,
});
export type RoomSearch = z.infer<typeof searchSchema>;

/** What of an address may stay in the URL: no query, name or password, which may be secrets. "" of what is none. */
export function publicAddress(typed: string): string {
  return parseAddress(typed)?.url ?? "";
}

/** The same of a model's name, or of its page's address. */
export function publicId(typed: string): string {
  return parseAddress(typed)?.url ?? (parseHubId(typed) ? typed.trim() : "");
}
