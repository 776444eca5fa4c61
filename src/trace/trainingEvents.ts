/** Events of a training run (src/train): what a chart draws while it runs and what a saved run tells afterwards. */
import { z } from "zod";

const base = z.object({ at: z.number() });
/** Optimizer steps done so far. */
const step = z.number().int().min(0);

export const TRAINING_STAGES = ["inner", "outer"] as const;
export const trainingStageSchema = z.enum(TRAINING_STAGES);
export type TrainingStage = z.infer<typeof trainingStageSchema>;

export const trainingEventSchema = z.discriminatedUnion("type", [
  base.extend({
    type: z.literal("trainingStarted"),
    stage: trainingStageSchema,
    /** Step from which this run goes on; 0 for a new one. */
    step,
    /** All steps of the schedule. */
    steps: z.number().int(),
    /** Names of what is trained and of what is frozen. */
    trained: z.array(z.string()),
    frozen: z.array(z.string()),
    parameters: z.number().int(),
    settings: z.record(z.string(), z.unknown()),
  }),
  base.extend({
    type: z.literal("trainingStep"),
    step,
    loss: z.number(),
    /** Global norm of the gradient before clipping. */
    gradientNorm: z.number(),
    /** By link, before clipping. */
    linkGradientNorms: z.record(z.string(), z.number()),
    /** Norm of d loss / d message by round of the message, round 1 first; outer stage only. */
    roundGradientNorms: z.array(z.number()).optional(),
    learningRate: z.number(),
    /** Mean cosine of the inner links' outputs to their targets; inner stage only. */
    cosine: z.number().optional(),
    /** Recursion rounds of this step's batch; outer stage only. */
    rounds: z.number().int().optional(),
    /** Rows that went through the agents. */
    tokens: z.number().int(),
    ms: z.number(),
    secondsLeft: z.number(),
    /** GPU bytes that stand. */
    liveBytes: z.number(),
  }),
  base.extend({
    type: z.literal("trainingValidation"),
    step,
    loss: z.number(),
    /** Held-out questions behind the figures. */
    n: z.number().int(),
    /** Inner stage: of messages whose nearest tokens spell the target. Outer stage: of answers after the most rounds. */
    accuracy: z.number().optional(),
    /** Accuracy by the rounds that were run; outer stage only. */
    byRounds: z.array(z.object({ rounds: z.number().int(), accuracy: z.number() })).optional(),
    samples: z.array(z.object({ question: z.string(), target: z.string(), output: z.string(), correct: z.boolean() })),
  }),
  base.extend({ type: z.literal("trainingSaved"), step, bytes: z.number() }),
  base.extend({ type: z.literal("trainingPaused"), step }),
  base.extend({ type: z.literal("trainingResumed"), step }),
  base.extend({
    type: z.literal("trainingFinished"),
    /** notFinite: a loss or gradient was NaN or infinite; the links are those of `step`, the last good one. */
    reason: z.enum(["done", "stopped", "notFinite", "error"]),
    step,
    ms: z.number(),
    message: z.string().optional(),
  }),
]);
export type TrainingEvent = z.infer<typeof trainingEventSchema>;
export type TrainingSink = (event: TrainingEvent) => void;
