/**
 * The outer loop: frozen agents think in latents round after round, and only the last agent's answer in the last round
 * is scored; gradients flow back through all rounds into the links.
 * Source: RecursiveMAS (arXiv 2604.25917, section 3) and its released trainer. What differs: by default messages come
 * from the agents' own rollouts, as at inference, and the number of rounds changes from step to step.
 */
import { Random } from "../random/random";
import type { RecursionAgent, RecursionSystem } from "../recursion/agent";
import type { RecursionQuestion } from "../recursion/question";
import { RecursionBatch } from "../recursion/recursionBatch";
import { type RoundAnswers, runRecursion } from "../recursion/run";
import type { SlotFill } from "../recursion/slottedPrompts";
import { type LatentMessage, unrollSteps } from "../recursion/unroll";
import { add, scale } from "../tensor/ops/elementwise";
import { cosineLoss, crossEntropy } from "../tensor/ops/losses";
import type { Tape } from "../tensor/tape";
import type { Tensor } from "../tensor/tensor";
import { readLoss } from "./observe";
import { trainingSeeds, validationSeeds } from "./questionSeeds";
import { type OuterSettings, TrainingError } from "./settings";
import {
  type LinkStage,
  type NamedLink,
  type RecordedStep,
  SHOWN_SAMPLES,
  type TrainingTask,
  type Validation,
  type ValidationSample,
} from "./stage";

const ROUNDS_STREAM = 0x40d5;

export class OuterStage implements LinkStage {
  constructor(
    private readonly tape: Tape,
    private readonly system: RecursionSystem,
    private readonly task: TrainingTask,
    private readonly settings: OuterSettings,
    readonly trained: readonly NamedLink[],
    readonly frozen: readonly NamedLink[],
  ) {}

  /** Rounds of a step: a function of the run's seed and the step. */
  roundsOf(step: number): number {
    const { seed, roundsMix } = this.settings;
    return new Random(seed, ROUNDS_STREAM + step).pick(roundsMix);
  }

  record(step: number): RecordedStep {
    const { seed, batch } = this.settings;
    return this.lossOf(trainingSeeds(seed, step, batch), this.roundsOf(step));
  }

  /** The loss after the most rounds, and what the last agent answers after each, on held-out questions. */
  async validate(signal?: AbortSignal): Promise<Validation> {
    const { tape, system, settings } = this;
    const rounds = Math.max(...settings.roundsMix);
    const seeds = validationSeeds(settings.validationQuestions);
    const loss = await readLoss(tape, () => this.lossOf(seeds, rounds).loss);
    const questions = seeds.map((seed) => this.task.question(seed));
    const { latentSteps } = settings;
    const options = { passing: "latent", rounds, latentSteps, peeks: rounds > 1 } as const;
    const result = await runRecursion(system, questions, { ...options, ...(signal && { signal }) });
    if (result.reason === "error") throw result.error;
    signal?.throwIfAborted();
    const share = (answers: readonly { correct?: boolean }[]) =>
      answers.filter(({ correct }) => correct).length / answers.length;
    const byRounds = result.rounds.map(({ round, answers }) => ({ rounds: round, accuracy: share(answers) }));
    const agent = system.agents.length - 1;
    const { answers } = result.rounds.at(-1) as RoundAnswers;
    const samples = answers.slice(0, SHOWN_SAMPLES).map(({ text, correct = false }, i): ValidationSample => {
      const question = questions[i] as RecursionQuestion;
      const target = question.target?.({ agent, round: rounds, register: "note" }) ?? "";
      return { question: question.text, target, output: text, correct };
    });
    const accuracy = share(answers);
    return { loss, n: seeds.length, accuracy, byRounds, samples };
  }

  private lossOf(seeds: readonly number[], rounds: number): RecordedStep {
    const { tape, system, settings } = this;
    const { latentSteps, feedback, truncateRounds, earlierRoundsWeight, detachMessages } = settings;
    const batch = new RecursionBatch(
      system,
      seeds.map((seed) => this.task.question(seed)),
    );
    const wordLosses: Tensor[] = [];
    const messages: Tensor[][] = Array.from({ length: rounds }, () => []);
    /** What the last agent would read if a round were the last one. */
    const earlier: { round: number; fills: readonly SlotFill[] }[] = [];
    let last: readonly SlotFill[] = [];
    let tokens = 0;
    const gradientRounds = truncateRounds > 0 ? Math.min(truncateRounds, rounds) : rounds;
    try {
      for (const event of unrollSteps(batch, { rounds, latentSteps, feedback, gradientRounds, detachMessages })) {
        if (event.type === "turn" || event.type === "answer") {
          const { agent, round } = event.turn;
          tokens += batch
            .prompts(agent, round)
            .lengths(event.fills)
            .reduce((a, b) => a + b, 0);
        }
        if (event.type === "thought") tokens += batch.size;
        if (event.type === "message") {
          event.message.vectors.retainGrad = true;
          (messages[event.message.round - 1] as Tensor[]).push(event.message.vectors);
          if (settings.messageWeight > 0) wordLosses.push(this.wordLoss(batch, event.message));
        } else if (event.type === "turn" && event.turn.isWriter) {
          earlier.push({ round: event.turn.round, fills: event.fills });
        } else if (event.type === "answer") {
          last = event.fills;
        }
      }
      const head = batch.head;
      const answerLoss = (round: number, fills: readonly SlotFill[]) =>
        tape.scope(() => {
          const { hidden, targets } = batch.answerRows(fills, { rounds: round });
          return crossEntropy(hidden, head, targets);
        });
      const counted = earlierRoundsWeight > 0 ? earlier.filter(({ round }) => round > rounds - gradientRounds) : [];
      const terms = wordLosses.map((own) => scale(own, settings.messageWeight / wordLosses.length));
      if (settings.answerWeight > 0) terms.push(scale(answerLoss(rounds, last), settings.answerWeight));
      for (const { round, fills } of counted) {
        terms.push(scale(answerLoss(round, fills), earlierRoundsWeight / counted.length));
      }
      // One round has no earlier ones, for instance.
      if (terms.length === 0) throw new TrainingError(`rounds ${rounds}: no part of the loss is left to train on`);
      return { loss: terms.reduce((sum, term) => add(sum, term)), messages, rounds, tokens };
    } finally {
      batch.dispose();
    }
  }

  /** How far a message is from the words that a faultless agent would write in its place, as the reader embeds them. */
  private wordLoss(batch: RecursionBatch, { from, to, round, edge, vectors }: LatentMessage): Tensor {
    const { tape, system, settings } = this;
    const { decoder } = (system.agents[to] as RecursionAgent).model;
    const [fill] = batch.textMessages({ agent: to, reads: [{ edge, from, round }] }, settings.latentSteps);
    const words = fill?.kind === "ids" ? fill.ids : [];
    // Rows of messages are ordered by step, then by question.
    const ids = Array.from({ length: settings.latentSteps }, (_, step) => words.map((own) => own[step] as number));
    return tape.scope(() => {
      const wanted = tape.noGrad(() => decoder.embed(tape.integers(ids.flat())));
      return cosineLoss(vectors, wanted);
    });
  }
}
