/** A recursion as a file: its question and its events. What a run saves is what the room opens with. */
import { z } from "zod";
import { RELAY_DEALS, type RecursionEvent, recursionEventSchema } from "../../src/index";
import type { RelaySpec } from "../../src/worker/recursionProtocol";
import { parseTraceFile, writeTraceFile } from "./traceFile";

const FORMAT = "twinloop-recursion";

const traceSchema = z.object({
  format: z.literal(FORMAT),
  relay: z.object({
    seed: z.int().min(0),
    hops: z.int().min(1),
    deal: z.enum(RELAY_DEALS as ["with", "against", "random"]),
    chain: z.array(z.object({ subject: z.string(), verb: z.string(), object: z.string() })).optional(),
    holders: z.array(z.int().min(0)).optional(),
  }),
  events: z.array(recursionEventSchema).min(2),
});

export function writeRecursionTrace(relay: RelaySpec, events: readonly RecursionEvent[]): string {
  return writeTraceFile({ format: FORMAT, relay, events });
}

/** @throws Error naming what is wrong with the file */
export function parseRecursionTrace(text: string): { relay: RelaySpec; events: RecursionEvent[] } {
  const { relay, events } = parseTraceFile(text, traceSchema);
  if (events[0]?.type !== "recursionStarted") throw new Error("events.0: a recursion begins with recursionStarted");
  return { relay: relay as RelaySpec, events };
}
