/**
 * The inner loop: a frozen agent reads its prompt, the messages that it should have got and what it should write, all
 * at once; its inner link learns to make the hidden state at each place into the input embedding of the next token.
 * Source: RecursiveMAS (arXiv 2604.25917, section 3) and its released trainer: loss 1 - cos(R_in(h_t), Emb(y_t+1)).
 * What differs: targets go on with end tokens up to `latentSteps`, because a latent rollout has that many steps and
 * each of them must be known; the agents' part runs without gradients, as nothing before the link is trained.
 */
import { Random } from "../random/random";
import type { RecursionSystem } from "../recursion/agent";
import { planTurns } from "../recursion/pattern";
import { RecursionBatch } from "../recursion/recursionBatch";
import { add, scale } from "../tensor/ops/elementwise";
import { cosineLoss, meanSquareError } from "../tensor/ops/losses";
import { concatRows } from "../tensor/ops/rows";
import type { Tape } from "../tensor/tape";
import type { Tensor } from "../tensor/tensor";
import { trainingSeeds } from "./questionSeeds";
import type { InnerSettings } from "./settings";
import type { LinkStage, NamedLink, RecordedStep, TrainingTask, Validation } from "./stage";

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
    const { tape, system, settings } = this;
    const { seed, batch: size, latentSteps, paddedShare } = settings;
    const questions = trainingSeeds(seed, step, size).map((own) => this.task.question(own));
    const batch = new RecursionBatch(system, questions);
    const random = new Random(seed, PADDING_STREAM + step);
    // One round more than is read: the last agent's message of the last round is trained as well.
    const turns = planTurns(system.pattern, settings.rounds + 1).filter(({ round }) => round <= settings.rounds);
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

  async validate(): Promise<Validation> {
    throw new Error("not yet");
  }
}

function meanOf(losses: readonly Tensor[]): Tensor {
  const sum = losses.reduce((a, b) => add(a, b));
  return scale(sum, 1 / losses.length);
}
