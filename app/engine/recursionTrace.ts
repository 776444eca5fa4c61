/** A recursion as a file: its question and its events. What a run saves is what the room opens with. */
import { z } from "zod";
import { RELAY_DEALS, type RecursionEvent, recursionEventSchema } from "../../src/index";
import type { RelaySpec } from "../../src/worker/recursionProtocol";

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

/** Digits that are kept of the numbers of vectors: more than any picture shows. */
const DIGITS = 5;

export function writeRecursionTrace(relay: RelaySpec, events: readonly RecursionEvent[]): string {
  const rounded = (_: string, value: unknown) =>
    typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(DIGITS)) : value;
  return JSON.stringify({ format: FORMAT, relay, events }, rounded);
}

/** @throws Error naming what is wrong with the file */
export function parseRecursionTrace(text: string): { relay: RelaySpec; events: RecursionEvent[] } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`no valid JSON: ${(error as Error).message}`);
  }
  const parsed = traceSchema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Error(`${issue?.path.join(".") || "file"}: ${issue?.message}`);
  }
  const { relay, events } = parsed.data;
  if (events[0]?.type !== "recursionStarted") throw new Error("events.0: a recursion begins with recursionStarted");
  return { relay: relay as RelaySpec, events };
}
