/**
 * A system of agents in front of a batch of questions, whatever computes them: their prompts, what stands in empty slots,
 * and targets as tokens.
 */
import { type AgentSystem, checkSystem } from "./agent";
import type { Turn } from "./pattern";
import { NO_MESSAGE, type Register } from "./prompts";
import type { RecursionQuestion } from "./question";
import { type CutPrompt, cutPrompt, type SlotFill, type SlottedPrompts } from "./slottedPrompts";

export class QuestionBatch<S extends AgentSystem = AgentSystem, P extends SlottedPrompts = SlottedPrompts> {
  private readonly byBeginning = new Map<string, P>();
  private readonly byTurn = new Map<string, P>();

  /**
   * @param system must outlive the batch
   * @param register how agents are asked to write; latent thoughts follow notes
   * @throws RangeError naming what does not fit; prompts are checked when their turn comes
   */
  constructor(
    readonly system: S,
    readonly questions: readonly RecursionQuestion[],
    readonly register: Register,
    private readonly promptsOf: (agent: number, cut: readonly CutPrompt[]) => P,
  ) {
    checkSystem(system);
    if (questions.length === 0) throw new RangeError("recursion: there are no questions");
  }

  get size(): number {
    return this.questions.length;
  }

  /**
   * An agent's prompts in a round. Rounds with the same prompts share them, and what was computed of them.
   * @throws RangeError when they have not as many slots as the agent has incoming edges
   */
  prompts(agent: number, round: number): P {
    const turn = `${agent} ${round}`;
    const known = this.byTurn.get(turn);
    if (known) return known;
    const { id, model } = this.system.agents[agent] as S["agents"][number];
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
    const prompts = this.byBeginning.get(key) ?? this.promptsOf(agent, cut);
    this.byBeginning.set(key, prompts);
    this.byTurn.set(turn, prompts);
    return prompts;
  }

  /** What stands in the slots of an agent that nobody has told anything yet. */
  noMessage(agent: number): SlotFill {
    const { tokenizer } = (this.system.agents[agent] as S["agents"][number]).model.language;
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
    const { tokenizer } = (this.system.agents[agent] as S["agents"][number]).model.language;
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

  dispose(): void {
    for (const prompts of this.byBeginning.values()) prompts.dispose();
    this.byBeginning.clear();
    this.byTurn.clear();
  }

  /** The token that ends what an agent writes. @throws RangeError when its checkpoint names none */
  endId(agent: number): number {
    const { id, model } = this.system.agents[agent] as S["agents"][number];
    const [end] = model.language.config.eosIds;
    if (end === undefined) throw new RangeError(`agent ${id}: its checkpoint names no end token (eos_token_id)`);
    return end;
  }

  protected targetTokens(question: number, agent: number, round: number): number[] {
    const { tokenizer } = (this.system.agents[agent] as S["agents"][number]).model.language;
    return tokenizer.encode(this.targetOf(question, agent, round));
  }

  private targetOf(question: number, agent: number, round: number): string {
    const text = this.questions[question]?.target?.({ agent, round, register: this.register });
    if (text !== undefined) return text;
    const { id } = this.system.agents[agent] as S["agents"][number];
    throw new RangeError(`question ${question} has no target for ${id} in round ${round}`);
  }

  /** Cut, or padded with end tokens. */
  private fitted(agent: number, ids: readonly number[], count: number): number[] {
    return [...ids, ...new Array<number>(count).fill(this.endId(agent))].slice(0, count);
  }
}
