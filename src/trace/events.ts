/**
 * The one event stream that every room draws: live runs, recorded runs and command-line runs emit the same events.
 * Times are milliseconds since the run's start; token counts are in the tokens of the system that reads or writes them.
 */
import { z } from "zod";
import { documentSourceSchema } from "../corpus/source";
import { PACKING_ALGORITHMS } from "../packing/pack";

const base = z.object({ at: z.number() });
const turn = z.number().int();
const tokens = z.number().int();

export const ledgerSchema = z.object({
  /** Tokens of all documents that tools returned. */
  rawTokens: tokens,
  system1PromptTokens: tokens,
  system1OutputTokens: tokens,
  system1Calls: z.number().int(),
  /** Tokens in System 2's context after the last turn. */
  system2ContextTokens: tokens,
  system2OutputTokens: tokens,
  /** What System 2's context would have held with raw documents instead of refined information. */
  system2ContextWithoutSystem1: tokens,
});
export type Ledger = z.infer<typeof ledgerSchema>;

export const traceDocumentSchema = z.object({
  id: z.string(),
  title: z.string(),
  text: z.string(),
  tokens,
  score: z.number().optional(),
  /** The file or the address that the text comes from, when the tool knows it. */
  source: documentSourceSchema.optional(),
});
export type TraceDocument = z.infer<typeof traceDocumentSchema>;

export const traceEventSchema = z.discriminatedUnion("type", [
  base.extend({
    type: z.literal("runStarted"),
    question: z.string(),
    gold: z.array(z.string()).optional(),
    model: z.string(),
    corpus: z.string(),
    settings: z.object({
      useSystem1: z.boolean(),
      capacity: tokens,
      maxTurns: z.number().int(),
      searchResults: z.number().int(),
      temperature: z.number(),
      seed: z.number().int(),
      /** How documents came into bins. Absent: First Fit Decreasing. */
      packing: z.enum(PACKING_ALGORITHMS).optional(),
      /** Bins that System 1 read in one batch. Absent: all of a turn. */
      parallel: z.number().int().optional(),
    }),
    /** The run started in this turn of another run, with this purpose in its call. */
    branch: z.object({ turn, purpose: z.string() }).optional(),
  }),
  base.extend({ type: z.literal("turnStarted"), turn, promptTokens: tokens }),
  base.extend({ type: z.literal("system2Token"), turn, text: z.string() }),
  base.extend({
    type: z.literal("system2Message"),
    turn,
    /** The exact prompt that System 2 read. */
    prompt: z.string(),
    /** The exact text that System 2 wrote. */
    text: z.string(),
    thought: z.string(),
    promptTokens: tokens,
    outputTokens: tokens,
    ms: z.number(),
    /** A person changed the purpose of its call: the model did not write this text. */
    edited: z.literal(true).optional(),
  }),
  base.extend({
    type: z.literal("toolCall"),
    turn,
    name: z.string(),
    /** Arguments without the purpose. */
    arguments: z.record(z.string(), z.unknown()),
    purpose: z.string(),
  }),
  base.extend({ type: z.literal("toolResult"), turn, documents: z.array(traceDocumentSchema), ms: z.number() }),
  /** A malformed call or a failed tool; `message` is what System 2 gets to read. */
  base.extend({ type: z.literal("toolError"), turn, message: z.string() }),
  base.extend({
    type: z.literal("packed"),
    turn,
    capacity: tokens,
    /** `items` index the documents of the toolResult of this turn. */
    bins: z.array(z.object({ items: z.array(z.number().int()), used: tokens })),
    lowerBound: z.number().int(),
    utilization: z.number(),
    truncated: z.array(z.number().int()),
  }),
  base.extend({
    type: z.literal("system1Started"),
    turn,
    bin: z.number().int(),
    prompt: z.string(),
    promptTokens: tokens,
  }),
  base.extend({ type: z.literal("system1Token"), turn, bin: z.number().int(), text: z.string() }),
  base.extend({
    type: z.literal("system1Output"),
    turn,
    bin: z.number().int(),
    text: z.string(),
    outputTokens: tokens,
    ms: z.number(),
  }),
  /** What System 2 gets to read: System 1's outputs joined in bin order, or the raw documents. */
  base.extend({ type: z.literal("refinedInfo"), turn, text: z.string(), tokens }),
  base.extend({
    type: z.literal("answer"),
    turn,
    text: z.string(),
    correct: z.boolean().optional(),
    f1: z.number().optional(),
  }),
  base.extend({
    type: z.literal("runFinished"),
    reason: z.enum(["answer", "turnLimit", "contextLimit", "stopped", "error"]),
    ms: z.number(),
    ledger: ledgerSchema,
    message: z.string().optional(),
  }),
]);
export type TraceEvent = z.infer<typeof traceEventSchema>;
export type TraceSink = (event: TraceEvent) => void;
