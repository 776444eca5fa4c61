/**
 * A system of agents in front of a batch of questions: their prompts, what stands in empty slots, targets, and the rows
 * on which the last agent's loss is taken.
 */
import type { Integers } from "../tensor/tape";
import type { Tensor } from "../tensor/tensor";
import { checkSystem, type RecursionAgent, type RecursionSystem, tapeOf } from "./agent";
import type { Turn } from "./pattern";
import { cutPrompt, PromptBatch, type SlotFill } from "./promptBatch";
import { NO_MESSAGE, type Register } from "./prompts";
import type { RecursionQuestion } from "./question";

/** Rows of hidden states that predict the tokens of targets: what a cross-entropy is taken on. */
export interface TargetRows {
  /** After the final norm, [tokens, hiddenSize]; owned by the tape's current scope. */
  hidden: Tensor;
  /** The token that each row should predict. */
  targets: Integers;
  /** The question that each row belongs to. */
  questions: readonly number[];
}

export class RecursionBatch {
  private readonly byBeginning = new Map<string, PromptBatch>();
  private readonly byTurn = new Map<string, PromptBatch>();

  /**
   * @param system must outlive the batch
   * @param register how agents are asked to write; latent thoughts follow notes. Default "note"
   * @throws RangeError naming what does not fit; prompts are checked when their turn comes
   */
  constructor(
    readonly system: RecursionSystem,
    readonly questions: readonly RecursionQuestion[],
    readonly register: Register = "note",
  ) {
    checkSystem(system);
    if (questions.length === 0) throw new RangeError("recursion: there are no questions");
  }

  get size(): number {
    return this.questions.length;
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
   * An agent's prompts in a round. Rounds with the same prompts share them, and what was computed of them.
   * @throws RangeError when they have not as many slots as the agent has incoming edges
   */
  prompts(agent: number, round: number): PromptBatch {
    const turn = `${agent} ${round}`;
    const known = this.byTurn.get(turn);
    if (known) return known;
    const { id, model } = this.system.agents[agent] as RecursionAgent;
    const { tokenizer } = model.language;
    const cut = this.questions.map((question) => {
      const request = { agent, round, register: this.register };
      return cutPrompt(tokenizer, question.messages(request), question.template?.(request));
    });
    const slots = this.system.pattern.edges.filter(({ to }) => to === agent).length;
    cut.forEach(({ pieces }, i) => {
      if (pieces.length - 1 === slots) return;
      throw new RangeError(`prompt of ${id}, question ${i}: ${pieces.length - 1} slots for ${slots} messages`);
    });
    const key = `${agent} ${cut.map(({ text }) => text).join("\0")}`;
    const prompts = this.byBeginning.get(key) ?? new PromptBatch(model.decoder, cut);
    this.byBeginning.set(key, prompts);
    this.byTurn.set(turn, prompts);
    return prompts;
  }

  /** What stands in the slots of an agent that nobody has told anything yet. */
  noMessage(agent: number): SlotFill {
    const { tokenizer } = (this.system.agents[agent] as RecursionAgent).model.language;
    const ids = tokenizer.encode(NO_MESSAGE);
    return { kind: "ids", ids: this.questions.map(() => ids) };
  }

  /**
   * What should have been told to an agent before a turn, as text in its own tokens: the targets of the others.
   * @param count cuts each message, or pads it with end tokens, to this length, as latent messages have one
   * @throws RangeError as `targetIds`
   */
  textMessages({ agent, reads }: Pick<Turn, "agent" | "reads">, count?: number): SlotFill[] {
    return reads.map(({ from, round }): SlotFill => {
      if (round === undefined) return this.noMessage(agent);
      const texts = this.questions.map((_, question) => this.targetOf(question, from, round));
      return this.textFill(agent, texts, count);
    });
  }

  /** Texts as fillings of a slot of an agent; `count` as in `textMessages`. */
  textFill(agent: number, texts: readonly string[], count?: number): SlotFill {
    const { tokenizer } = (this.system.agents[agent] as RecursionAgent).model.language;
    const ids = texts.map((text) => tokenizer.encode(text));
    return { kind: "ids", ids: count === undefined ? ids : ids.map((own) => this.fitted(agent, own, count)) };
  }

  /**
   * Ids of what an agent should write in a turn, each `count` long: cut, or padded with end tokens.
   * @throws RangeError when a question knows no target, or the agent has no end token
   */
  targetIds({ agent, round }: Pick<Turn, "agent" | "round">, count: number): number[][] {
    return this.questions.map((_, question) => this.fitted(agent, this.targetTokens(question, agent, round), count));
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

  dispose(): void {
    for (const prompts of this.byBeginning.values()) prompts.dispose();
    this.byBeginning.clear();
    this.byTurn.clear();
  }

  /** The token that ends what an agent writes. @throws RangeError when its checkpoint names none */
  endId(agent: number): number {
    const { id, model } = this.system.agents[agent] as RecursionAgent;
    const [end] = model.language.config.eosIds;
    if (end === undefined) throw new RangeError(`agent ${id}: its checkpoint names no end token (eos_token_id)`);
    return end;
  }

  private targetTokens(question: number, agent: number, round: number): number[] {
    const { tokenizer } = (this.system.agents[agent] as RecursionAgent).model.language;
    return tokenizer.encode(this.targetOf(question, agent, round));
  }

  private targetOf(question: number, agent: number, round: number): string {
    const text = this.questions[question]?.target?.({ agent, round, register: this.register });
    if (text !== undefined) return text;
    const { id } = this.system.agents[agent] as RecursionAgent;
    throw new RangeError(`question ${question} has no target for ${id} in round ${round}`);
  }

  /** Cut, or padded with end tokens. */
  private fitted(agent: number, ids: readonly number[], count: number): number[] {
    return [...ids, ...new Array<number>(count).fill(this.endId(agent))].slice(0, count);
  }
}
