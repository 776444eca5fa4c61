/** Settings of a training run of links: what decides every number of it, apart from the agents. */
import { z } from "zod";
import { LINK_FORMS } from "../links/linkConfig";
import { RELAY_DEALS } from "../world/relay";

const MAX_U32 = 2 ** 32 - 1;
const whole = (min: number, max = 1_000_000) => z.int().min(min).max(max);
const share = z.number().min(0).max(1);

const common = {
  /** Of the links' first values, and of the questions of every step. */
  seed: whole(0, MAX_U32).default(1),
  steps: whole(1).default(300),
  /** Questions a step. */
  batch: whole(1, 4096).default(16),
  learningRate: z.number().positive().max(1).default(1e-3),
  warmupSteps: whole(0).default(20),
  /** The last step's learning rate, as a share of the highest. */
  finalShare: share.default(0.05),
  weightDecay: z.number().min(0).max(1).default(0),
  /** The gradients' common norm is brought down to this; 0: never. */
  maxNorm: z.number().min(0).default(1),
  /** Vectors of a message (m). */
  latentSteps: whole(1, 128).default(4),
  /** Form of links that are made anew. */
  form: z.enum(LINK_FORMS).default("released"),
  /** Hidden width of new inner links, in widths of their agent; 1 as released. */
  innerExpansion: whole(1, 16).default(1),
  /** Hops of the questions, each as often. */
  hops: z.array(whole(1, 10)).min(1).default([1, 2, 3]),
  /** Deals of the questions, each as often. */
  deals: z
    .array(z.enum(RELAY_DEALS as ["with", "against", "random"]))
    .min(1)
    .default(["with", "against"]),
  /** Facts that each agent holds. */
  factsPerAgent: whole(1, 32).default(4),
  /** A look at held-out questions every so many steps, and after the last; 0: never. */
  validateEvery: whole(0).default(50),
  validationQuestions: whole(1, 10_000).default(32),
};

export const innerSettingsSchema = z.strictObject({
  stage: z.literal("inner"),
  ...common,
  batch: common.batch.default(8),
  steps: common.steps.default(300),
  /** Weight of the mean square error beside 1 - cosine, which says nothing about lengths. */
  mseWeight: z.number().min(0).default(0),
  /** How many of the incoming messages are filled up with end tokens to `latentSteps`, as latent ones always are. */
  paddedShare: share.default(0.8),
  /** Rounds whose messages are trained on. */
  rounds: whole(1, 32).default(3),
});
export type InnerSettings = z.infer<typeof innerSettingsSchema>;

export const FEEDBACKS = ["rollout", "teacherForced"] as const;
export const OUTER_STARTS = ["aligned", "ridge", "identity", "random"] as const;

export const outerSettingsSchema = z
  .strictObject({
    stage: z.literal("outer"),
    ...common,
    learningRate: common.learningRate.default(5e-4),
    /** Rounds of a step's questions: drawn from these, each as often. Links only work at depths they were trained at. */
    roundsMix: z.array(whole(1, 32)).min(1).default([1, 2, 3]),
    /**
     * Where messages come from: the agents' own latent rollouts, as at inference; or hidden states at the tokens of the
     * right message, as in the released trainer. The latter leaks the answer: an agent that never found it hands it on.
     */
    feedback: z.enum(FEEDBACKS).default("rollout"),
    /** Gradients flow through the last so many rounds only; 0: through all. */
    truncateRounds: whole(0, 32).default(0),
    /** Whether inner links are trained along; frozen otherwise. */
    trainInner: z.boolean().default(false),
    /**
     * How new outer links begin. aligned: trained for some seconds, without agents, to make the sender's embeddings of the
     * task's words into the receiver's; ridge: with the matrix that takes the sender's embeddings to the receiver's, fitted on
     * the tokens that both know; identity: as the norm-matched identity where the widths are equal; random: as PyTorch's
     * layers do.
     */
    start: z.enum(OUTER_STARTS).default("aligned"),
    /** Weight of the answer's cross-entropy. */
    answerWeight: z.number().min(0).default(1),
    /**
     * Weight of 1 - cosine between each message and the words that a faultless agent would write in its place, as the
     * reader embeds them: every turn of every round is told what was wanted, on the messages that the links really make.
     * Not in the paper, whose outer loop scores the answer alone.
     */
    messageWeight: z.number().min(0).default(0),
    /** Agents read messages without gradients, so that every link answers for its own messages only. */
    detachMessages: z.boolean().default(false),
    /** Weight of the mean cross-entropy of the answers of earlier rounds beside the last one's. */
    earlierRoundsWeight: z.number().min(0).default(0),
  })
  .refine(
    ({ answerWeight, messageWeight, earlierRoundsWeight }) => answerWeight + messageWeight + earlierRoundsWeight > 0,
    {
      path: ["answerWeight"],
      message: "with messageWeight and earlierRoundsWeight at 0 as well nothing is trained",
    },
  );
export type OuterSettings = z.infer<typeof outerSettingsSchema>;

export const trainingSettingsSchema = z.discriminatedUnion("stage", [innerSettingsSchema, outerSettingsSchema]);
export type TrainingSettings = z.infer<typeof trainingSettingsSchema>;
/** Settings before their defaults are filled in. */
export type TrainingSettingsInput = z.input<typeof trainingSettingsSchema>;

/** What goes wrong in training for a reason that the caller can name: settings, files, agents that do not fit. */
export class TrainingError extends Error {
  override readonly name = "TrainingError";
}

/** Fills in the defaults. @throws TrainingError naming the fields that are wrong */
export function parseTrainingSettings(value: unknown, label = "training settings"): TrainingSettings {
  const parsed = trainingSettingsSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join(".") || "settings"}: ${message}`);
  throw new TrainingError(`${label}: ${problems.join("; ")}`);
}
