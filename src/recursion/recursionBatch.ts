/**
 * A system of agents on the tape in front of a batch of questions: their prompts, and the rows on which the last agent's
 * loss is taken.
 */
import type { Integers } from "../tensor/tape";
import type { Tensor } from "../tensor/tensor";
import { checkTape, type RecursionAgent, type RecursionSystem, tapeOf } from "./agent";
import { PromptBatch } from "./promptBatch";
import type { Register } from "./prompts";
import type { RecursionQuestion } from "./question";
import { QuestionBatch } from "./questionBatch";
import type { SlotFill } from "./slottedPrompts";

/** Rows of hidden states that predict the tokens of targets: what a cross-entropy is taken on. */
export interface TargetRows {
  /** After the final norm, [tokens, hiddenSize]; owned by the tape's current scope. */
  hidden: Tensor;
  /** The token that each row should predict. */
  targets: Integers;
  /** The question that each row belongs to. */
  questions: readonly number[];
}

export class RecursionBatch extends QuestionBatch<RecursionSystem, PromptBatch> {
  /**
   * @param system must outlive the batch
   * @param register how agents are asked to write; latent thoughts follow notes. Default "note"
   * @throws RangeError naming what does not fit; prompts are checked when their turn comes
   */
  constructor(system: RecursionSystem, questions: readonly RecursionQuestion[], register: Register = "note") {
    const decoderOf = (agent: number) => (system.agents[agent] as RecursionAgent).model.decoder;
    super(system, questions, register, (agent, cut) => new PromptBatch(decoderOf(agent), cut));
    checkTape(system);
  }

  /** The last agent: the one that writes the answer. */
  get writer(): RecursionAgent {
    return this.system.agents[this.system.agents.length - 1] as RecursionAgent;
  }

  /** The head of the last agent, for losses. */
  get head(): readonly Tensor[] {
    return this.writer.model.decoder.tensors.head;
  }

  /**
   * The last agent reads its prompts and the answers that it should write, each with an end token: where it predicts
   * them. The prompt's beginning gets no gradients, its slots do.
   * @param fills from `unroll`
   * @param rounds of the recursion: the answer is that after the last one
   */
  answerRows(fills: readonly SlotFill[], { rounds }: { rounds: number }): TargetRows {
    const agent = this.system.agents.length - 1;
    const end = this.endId(agent);
    const answers = this.questions.map((_, question) => [...this.targetTokens(question, agent, rounds), end]);
    return {
      hidden: this.prompts(agent, rounds).predicting(fills, answers),
      targets: tapeOf(this.system).integers(answers.flat(), "answers"),
      questions: answers.flatMap((ids, question) => ids.map(() => question)),
    };
  }
}
