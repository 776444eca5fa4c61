/**
 * The inner loop: a frozen agent reads its prompt, the messages that it should have got and what it should write, all
 * at once; its inner link learns to make the hidden state at each place into the input embedding of the next token.
 * Source: RecursiveMAS (arXiv 2604.25917, section 3) and its released trainer: loss 1 - cos(R_in(h_t), Emb(y_t+1)).
 * What differs: targets go on with end tokens up to `latentSteps`, because a latent rollout has that many steps and
 * each of them must be known; the agents' part runs without gradients, as nothing before the link is trained.
 */
import { Random } from "../random/random";
import type { RecursionAgent, RecursionSystem } from "../recursion/agent";
import { nearestTokens } from "../recursion/lens";
import { planTurns, type Turn } from "../recursion/pattern";
import { RecursionBatch } from "../recursion/recursionBatch";
import { rollout } from "../recursion/unroll";
import { add, scale } from "../tensor/ops/elementwise";
import { cosineLoss, meanSquareError } from "../tensor/ops/losses";
import { concatRows } from "../tensor/ops/rows";
import type { Tape } from "../tensor/tape";
import type { Tensor } from "../tensor/tensor";
import { readLoss } from "./observe";
import { trainingSeeds, validationSeeds } from "./questionSeeds";
import type { InnerSettings } from "./settings";
import {
  type LinkStage,
  type NamedLink,
  type RecordedStep,
  SHOWN_SAMPLES,
  type TrainingTask,
  type Validation,
  type ValidationSample,
} from "./stage";

const PADDING_STREAM = 0x9ad;

export class InnerStage implements LinkStage {
  constructor(
    private readonly tape: Tape,
    private readonly system: RecursionSystem,
    private readonly task: TrainingTask,
    private readonly settings: InnerSettings,
    /** The agents' inner links, in their order. */
    readonly trained: readonly NamedLink[],
    readonly frozen: readonly NamedLink[],
  ) {}

  record(step: number): RecordedStep {
    const { seed, batch } = this.settings;
    return this.lossOf(trainingSeeds(seed, step, batch), new Random(seed, PADDING_STREAM + step));
  }

  /**
   * The loss on held-out questions, and each agent's own rollouts after the right messages: they are right where the
   * tokens nearest to their thoughts spell the target.
   */
  async validate(signal?: AbortSignal): Promise<Validation> {
    const { tape, system, settings } = this;
    const seeds = validationSeeds(settings.validationQuestions);
    const random = new Random(settings.seed, PADDING_STREAM);
    const loss = await readLoss(tape, () => this.lossOf(seeds, random).loss);
    const found: ValidationSample[] = [];
    for (let round = 1; round <= settings.rounds; round++) {
      // Each question shows the messages of one of the rounds.
      const own = seeds.filter((_, i) => (i % settings.rounds) + 1 === round);
      if (own.length === 0) continue;
      const batch = new RecursionBatch(
        system,
        own.map((seed) => this.task.question(seed)),
      );
      try {
        for (const turn of this.turns().filter((candidate) => candidate.round === round)) {
          signal?.throwIfAborted();
          found.push(...(await this.rollouts(batch, turn)));
        }
      } finally {
        batch.dispose();
      }
    }
    const right = found.filter(({ correct }) => correct).length;
    // Samples of all rounds and agents.
    const samples = Array.from({ length: Math.min(SHOWN_SAMPLES, found.length) }, (_, i) => {
      return found[Math.floor((i * found.length) / SHOWN_SAMPLES)] as ValidationSample;
    });
    return { loss, n: seeds.length, accuracy: right / found.length, samples };
  }

  /** What each question's thoughts read as, next to what they should. */
  private async rollouts(batch: RecursionBatch, turn: Turn): Promise<ValidationSample[]> {
    const { tape } = this;
    const { latentSteps } = this.settings;
    const agent = this.system.agents[turn.agent] as RecursionAgent;
    const { tokenizer } = agent.model.language;
    const targets = batch.targetIds(turn, latentSteps);
    const prompts = batch.prompts(turn.agent, turn.round);
    const fills = batch.textMessages(turn, latentSteps);
    const run = <T>(fn: () => T): T => tape.noGrad(fn);
    const thoughts = tape.scope(() => {
      const steps = rollout(agent, prompts, fills, latentSteps, run);
      return run(() => concatRows(Array.from(steps, ({ thought }) => thought)));
    });
    try {
      const nearest = await nearestTokens(agent.model, await thoughts.read(), 1);
      return batch.questions.map(({ text }, question) => {
        const target = targets[question] as number[];
        const ids = target.map((_, step) => nearest[step * batch.size + question]?.[0]?.id as number);
        return {
          question: `${agent.id}, round ${turn.round}: ${text}`,
          target: tokenizer.decode(target),
          output: tokenizer.decode(ids),
          correct: target.every((id, i) => id === ids[i]),
        };
      });
    } finally {
      thoughts.dispose();
    }
  }

  /** All turns that write a message: also the last agent's of the last round, who would answer instead. */
  private turns(): Turn[] {
    const { rounds } = this.settings;
    return planTurns(this.system.pattern, rounds + 1).filter(({ round }) => round <= rounds);
  }

  private lossOf(seeds: readonly number[], random: Random): RecordedStep {
    const { tape, system, settings } = this;
    const { latentSteps, paddedShare } = settings;
    const questions = seeds.map((seed) => this.task.question(seed));
    const batch = new RecursionBatch(system, questions);
    const turns = this.turns();
    let tokens = 0;
    const cosines: Tensor[] = [];
    const squares: Tensor[] = [];
    try {
      system.agents.forEach(({ model }, index) => {
        const { decoder } = model;
        const pairs = turns
          .filter(({ agent }) => agent === index)
          .map((turn) => {
            const prompts = batch.prompts(index, turn.round);
            const targets = batch.targetIds(turn, latentSteps);
            const fills = batch.textMessages(turn, random.chance(paddedShare) ? latentSteps : undefined);
            tokens += prompts.lengths(fills).reduce((sum, length) => sum + length + latentSteps - 1, 0);
            return tape.noGrad(() => ({
              hidden: prompts.predicting(fills, targets),
              embeddings: decoder.embed(tape.integers(targets.flat())),
            }));
          });
        const output = (this.trained[index] as NamedLink).link.forward(concatRows(pairs.map(({ hidden }) => hidden)));
        const embeddings = concatRows(pairs.map((pair) => pair.embeddings));
        cosines.push(cosineLoss(output, embeddings));
        if (settings.mseWeight > 0) {
          // In units of the embeddings' mean square, so that agents of all scales weigh alike.
          const unit = model.embeddingNorms.mean ** 2 / embeddings.columns;
          squares.push(scale(meanSquareError(output, embeddings), 1 / unit));
        }
      });
    } finally {
      batch.dispose();
    }
    const cosineDistance = meanOf(cosines);
    const loss = squares.length > 0 ? add(cosineDistance, scale(meanOf(squares), settings.mseWeight)) : cosineDistance;
    return { loss, cosineDistance, tokens };
  }
}

function meanOf(losses: readonly Tensor[]): Tensor {
  const sum = losses.reduce((a, b) => add(a, b));
  return scale(sum, 1 / losses.length);
}
