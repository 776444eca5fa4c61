/**
 * Events of a latent recursion (src/recursion): what agents read, think in latents, hand on and finally write. Vectors
 * are plain arrays so that a recorded run is JSON. Times are milliseconds since the run's start.
 */
import { z } from "zod";
import { traceEventSchema } from "./events";

const base = z.object({ at: z.number() });
/** From 1. */
const round = z.number().int().min(1);
/** Index into the agents of `recursionStarted`. */
const agent = z.number().int().min(0);
const tokens = z.number().int();
const vector = z.array(z.number());

/** A token and how probable the agent's own head finds it, most probable first. A reading, not the thought itself. */
export const lensEntrySchema = z.object({ id: z.number().int(), text: z.string(), probability: z.number() });
export type LensEntry = z.infer<typeof lensEntrySchema>;

export const RECURSION_PATTERNS = ["sequential", "mixture", "distillation", "deliberation"] as const;
export const recursionPatternSchema = z.enum(RECURSION_PATTERNS);
export type RecursionPattern = z.infer<typeof recursionPatternSchema>;

/** Trained links, their untrained stand-ins, or another way to hand on a message. */
export const LINK_CHOICES = [
  "trained",
  "identity",
  "ridge",
  "softEmbedding",
  "zero",
  "noise",
  "shuffled",
  "swapped",
] as const;
export const linkChoiceSchema = z.enum(LINK_CHOICES);
export type LinkChoice = z.infer<typeof linkChoiceSchema>;

/** latent: thoughts through links; text: decoded messages; alone: the last agent gets no message at all. */
export const PASSINGS = ["latent", "text", "alone"] as const;
export const passingSchema = z.enum(PASSINGS);
export type Passing = z.infer<typeof passingSchema>;

export const multiplyAddsSchema = z.object({
  /** Transformer layers. */
  body: z.number(),
  /** Rows of logits. */
  head: z.number(),
  /** Inner and outer links. */
  link: z.number(),
});

export const recursionLedgerSchema = z.object({
  promptTokens: tokens,
  /** Decoded tokens, end tokens included: messages of text passing, and the answer. */
  textTokens: tokens,
  latentSteps: z.number().int(),
  multiplyAdds: multiplyAddsSchema,
  ms: z.number(),
});
export type RecursionLedger = z.infer<typeof recursionLedgerSchema>;

export const recursionEventSchema = z.discriminatedUnion("type", [
  base.extend({
    type: z.literal("recursionStarted"),
    task: z.string(),
    question: z.string(),
    gold: z.string().optional(),
    /** Rounds after which the answer can be known, where the task tells. */
    roundsNeeded: z.number().int().optional(),
    pattern: recursionPatternSchema,
    passing: passingSchema,
    agents: z.array(
      z.object({
        id: z.string(),
        role: z.string(),
        model: z.string(),
        hiddenSize: z.number().int(),
        layers: z.number().int(),
      }),
    ),
    /** Who hands on to whom; `innerLink` of the sender, `outerLink` of the edge. */
    edges: z.array(z.object({ from: agent, to: agent })),
    innerLink: linkChoiceSchema,
    outerLink: linkChoiceSchema,
    settings: z.object({
      rounds: z.number().int(),
      latentSteps: z.number().int(),
      temperature: z.number(),
      seed: z.number().int(),
    }),
    /** Mean norm of the rows of each agent's input embedding, and their 5th and 95th percentile. */
    embeddingNorms: z.array(z.object({ mean: z.number(), low: z.number(), high: z.number() })),
  }),
  base.extend({
    type: z.literal("agentStarted"),
    round,
    agent,
    /** The exact prompt; the place of a message is marked by SLOT of src/recursion/prompts. */
    prompt: z.string(),
    promptTokens: tokens,
    /** Agents whose messages fill the slots, in order; empty without a message. */
    messagesFrom: z.array(agent),
  }),
  base.extend({
    type: z.literal("latentThought"),
    round,
    agent,
    /** From 0. */
    step: z.number().int(),
    /** State after the final norm, [hiddenSize]. */
    hidden: vector,
    /** What the inner link made of it and the agent reads next, [hiddenSize]. */
    thought: vector,
    /** The agent's head on `hidden`: the token that it would write here. Top 5. */
    lens: z.array(lensEntrySchema),
    ms: z.number(),
  }),
  base.extend({
    type: z.literal("latentMessage"),
    round,
    from: agent,
    to: agent,
    /** What the outer link made of the thoughts, [latentSteps][hiddenSize of the reader]. */
    vectors: z.array(vector),
    /** For each the nearest rows of the reader's embedding by cosine (in `probability`). Top 5. */
    nearest: z.array(z.array(lensEntrySchema)),
  }),
  base.extend({
    type: z.literal("textMessage"),
    round,
    from: agent,
    to: z.array(agent),
    text: z.string(),
    tokens,
    ms: z.number(),
  }),
  /** What the last agent would answer after this round; a look, nothing is handed on. */
  base.extend({
    type: z.literal("answerPeek"),
    round,
    text: z.string(),
    answer: z.string().optional(),
    correct: z.boolean().optional(),
  }),
  base.extend({ type: z.literal("answerToken"), text: z.string() }),
  /** The last agent answers in the dual-system loop, with tools: what happens there. */
  base.extend({ type: z.literal("toolStep"), event: traceEventSchema }),
  base.extend({
    type: z.literal("recursionAnswer"),
    round,
    text: z.string(),
    /** What the grader reads out of the text. */
    answer: z.string().optional(),
    correct: z.boolean().optional(),
    tokens,
  }),
  base.extend({
    type: z.literal("recursionFinished"),
    reason: z.enum(["answer", "stopped", "error"]),
    ledger: recursionLedgerSchema,
    message: z.string().optional(),
  }),
]);
export type RecursionEvent = z.infer<typeof recursionEventSchema>;
export type RecursionSink = (event: RecursionEvent) => void;
