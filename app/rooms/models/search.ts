/** The room's state in the URL: where a checkpoint lies. An access token never stands there. */
import { z } from "zod";

export const SOURCES = ["hub", "url", "files"] as const;
export type Source = (typeof SOURCES)[number];

export const DEFAULTS = { source: "hub", id: "", revision: "", host: "", url: "" } as const;

const text = z.string().trim().max(500).default("").catch("");

/** A damaged value in a link falls back to its default instead of breaking the page. */
export const searchSchema = z.object({
  source: z.enum(SOURCES).default(DEFAULTS.source).catch(DEFAULTS.source),
  id: text,
  revision: text,
  host: text,
  url: text,
});
export type RoomSearch = z.infer<typeof searchSchema>;

/** An address with its scheme, or undefined. */
export function addressOf(typed: string): string | undefined {
  try {
    const url = new URL(typed.trim());
    return url.protocol === "https:" || url.protocol === "http:" ? url.href : undefined;
  } catch {
    return undefined;
  }
}
