/** A dual-system run as a file: the settings that the room's address held, the device, and the run's events. */
import { z } from "zod";
import { type TraceEvent, traceEventSchema } from "../../src/index";
import { parseTraceFile, writeTraceFile } from "./traceFile";

const FORMAT = "twinloop-dual-system";

const traceSchema = z.object({
  format: z.literal(FORMAT),
  /** Search parameters of the room that describe the run; the room checks them one by one, as it does with a link. */
  search: z.record(z.string(), z.unknown()),
  /** What ran it, as the device calls itself. */
  device: z.string().optional(),
  /** SHA-256 of the agent's weights, of runs that are shipped: tells when they are no longer its runs. */
  weights: z.string().optional(),
  events: z.array(traceEventSchema).min(2),
});
export type DualTrace = Omit<z.infer<typeof traceSchema>, "format">;

export function writeDualTrace({ search, device, weights, events }: DualTrace): string {
  return writeTraceFile({ format: FORMAT, search, device, weights, events });
}

/** @throws Error naming what is wrong with the file */
export function parseDualTrace(text: string): DualTrace {
  const { format: _, ...trace } = parseTraceFile(text, traceSchema);
  const { events } = trace;
  const first = events.findIndex(({ type }) => type === "runStarted");
  if (first !== 0) throw new Error("events.0: a run begins with runStarted");
  checkOrder(events);
  return trace;
}

/** What single events cannot tell: turns that were never begun, documents and bins that are not there. */
function checkOrder(events: readonly TraceEvent[]): void {
  const turns = new Set<number>();
  const documents = new Map<number, number>();
  const bins = new Map<number, number>();
  const fail = (i: number, field: string, words: string): never => {
    throw new Error(`events.${i}.${field}: ${words}`);
  };
  for (const [i, event] of events.entries()) {
    if (event.type === "runStarted") {
      if (i > 0) fail(i, "type", "a file holds one run");
      continue;
    }
    if (event.type === "runFinished") {
      if (i < events.length - 1) fail(i, "type", "nothing follows the end of a run");
      continue;
    }
    if (event.type === "turnStarted") {
      if (turns.has(event.turn)) fail(i, "turn", `turn ${event.turn} began before`);
      turns.add(event.turn);
    } else if (!turns.has(event.turn)) fail(i, "turn", `turn ${event.turn} was never begun`);
    if (event.type === "toolResult") documents.set(event.turn, event.documents.length);
    if (event.type === "packed") {
      const count = documents.get(event.turn) ?? 0;
      for (const [bin, { items }] of event.bins.entries()) {
        const unknown = items.find((item) => item < 0 || item >= count);
        if (unknown !== undefined) fail(i, `bins.${bin}.items`, `there is no document ${unknown} in this turn`);
      }
      bins.set(event.turn, event.bins.length);
    }
    if (event.type === "system1Started" && (event.bin < 0 || event.bin >= (bins.get(event.turn) ?? 0))) {
      fail(i, "bin", `there is no bin ${event.bin} in this turn`);
    }
  }
}
