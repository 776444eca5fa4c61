/**
 * Runs a recursion on questions: latent thoughts through links, text passing with the same agents and prompts, or the
 * last agent alone. Every step is told as a trace event (of the first question, where there are several).
 */

import { neutralizeControls } from "../dual/neutral";
import type { SamplingOptions } from "../model/languageModel";
import { RequestError } from "../model/requests";
import { randomU32 } from "../random/random";
import type { LinkChoice, Passing, RecursionEvent, RecursionLedger, RecursionSink } from "../trace/recursionEvents";
import { type Agent, type RecursionSystem, widthOf } from "./agent";
import { type LatentEngine, type LatentStep, type PromptView, tapeEngine } from "./latentEngine";
import { LedgerMeter, type Written } from "./ledger";
import { planTurns, type Turn } from "./pattern";
import { plainBatch, plainEngine } from "./plainEngine";
import type { PlainSystem } from "./plainSystem";
import type { Register } from "./prompts";
import type { Grade, RecursionQuestion } from "./question";
import type { QuestionBatch } from "./questionBatch";
import { RecursionBatch } from "./recursionBatch";
import type { SlotFill } from "./slottedPrompts";
import { answerWithTools, type ToolStage } from "./toolStage";

export const DEFAULT_MAX_TOKENS = 64;

export interface RecursionOptions {
  /** latent: thoughts through the system's links. text: written messages. alone: the last agent gets no message. */
  passing: Passing;
  rounds: number;
  /** m: vectors of a latent message. */
  latentSteps: number;
  /** How agents are asked to write. Default: notes, and sentences where text is passed. */
  register?: Register;
  /** Written messages are cut, or padded with end tokens, to this length, as latent ones have one. Default: as written. */
  messageTokens?: number;
  /** New tokens of a message or an answer at most. Default 64, or what the context has left. */
  maxTokens?: number;
  sampling?: SamplingOptions;
  /** Question i reads the messages meant for question `order[i]`. */
  order?: readonly number[];
  /** Whether to look, after each round, at what the last agent would answer. Nothing is handed on. Default false. */
  peeks?: boolean;
  /** The last agent writes its answer in the dual-system loop, with its tools. */
  tools?: ToolStage;
  /** Which links `system` has, for the trace. Default trained. */
  links?: { inner: LinkChoice; outer: LinkChoice };
  /** What the trace calls the task. */
  task?: string;
  signal?: AbortSignal;
  onEvent?: RecursionSink;
  /** Milliseconds of any origin. Default performance.now. */
  now?: () => number;
}

/** What the last agent answers after a round, for each question. */
export interface RoundAnswers {
  round: number;
  answers: (Written & Grade)[];
  /** Of all questions together, as if this round had been the last. */
  ledger: RecursionLedger;
}

export interface RecursionResult {
  /** Never "error" without `error`. */
  reason: "answer" | "stopped" | "error";
  error?: unknown;
  /** By round; the last one is the answer, earlier ones only where they were looked at. */
  rounds: RoundAnswers[];
  ledger: RecursionLedger;
}

/**
 * Runs all questions side by side. Never throws for what models and links do: a failing engine ends the run with the
 * reason "error", an abort with "stopped". What was allocated is given back.
 * @throws RangeError for a bad option or a system that does not fit, before the run starts
 */
export function runRecursion(
  system: RecursionSystem,
  questions: readonly RecursionQuestion[],
  options: RecursionOptions,
): Promise<RecursionResult> {
  return finish(options, (register) => {
    const batch = new RecursionBatch(system, questions, register);
    return { batch, engine: tapeEngine(batch) };
  });
}

/** As `runRecursion`, for agents of any engine: the same prompts, the same events, without the tape. */
export function runPlainRecursion(
  system: PlainSystem,
  questions: readonly RecursionQuestion[],
  options: RecursionOptions,
): Promise<RecursionResult> {
  return finish(options, (register) => {
    const batch = plainBatch(system, questions, register);
    return { batch, engine: plainEngine(batch) };
  });
}

async function finish(
  options: RecursionOptions,
  begin: (register: Register) => { batch: QuestionBatch; engine: LatentEngine },
): Promise<RecursionResult> {
  for (const name of ["rounds", "latentSteps", "maxTokens", "messageTokens"] as const) {
    const value = options[name];
    if (value !== undefined && (!Number.isSafeInteger(value) || value < 1)) {
      throw new RangeError(`${name} must be a positive integer; got ${value}`);
    }
  }
  const { batch, engine } = begin(options.register ?? (options.passing === "text" ? "sentences" : "note"));
  try {
    return await new Run(batch, engine, options).finish();
  } finally {
    batch.dispose();
  }
}

/** The signal ended the run between or within steps. */
class Stopped extends Error {}

type WithoutTime<E> = E extends { at: number } ? Omit<E, "at"> : never;

class Run {
  private readonly now: () => number;
  private readonly start: number;
  private readonly meter: LedgerMeter;
  private readonly rounds: RoundAnswers[] = [];
  private writes = 0;

  constructor(
    private readonly batch: QuestionBatch,
    private readonly engine: LatentEngine,
    private readonly options: RecursionOptions,
  ) {
    this.now = options.now ?? (() => performance.now());
    this.start = this.now();
    this.meter = new LedgerMeter(this.now);
  }

  async finish(): Promise<RecursionResult> {
    const { passing, signal } = this.options;
    let ending: Pick<RecursionResult, "reason" | "error"> = { reason: "answer" };
    try {
      this.emitStart();
      this.throwIfStopped();
      if (passing === "latent") await this.passLatents();
      else if (passing === "text") await this.passTexts();
      else await this.answerAlone();
    } catch (error) {
      // An engine may report an abort by throwing; after an abort no other failure matters.
      ending = error instanceof Stopped || signal?.aborted ? { reason: "stopped" } : { reason: "error", error };
    }
    const ledger = this.meter.snapshot();
    const message = ending.reason === "error" ? { message: errorText(ending.error) } : {};
    this.emit({ type: "recursionFinished", reason: ending.reason, ledger, ...message });
    return { ...ending, rounds: this.rounds, ledger };
  }

  private async passLatents(): Promise<void> {
    const { rounds, latentSteps, order, peeks, tools, signal } = this.options;
    const { meter, engine, batch } = this;
    const steps = engine.steps({ rounds, latentSteps, ...(order && { order }), ...(signal && { signal }) });
    let lengths: number[] = [];
    try {
      for (;;) {
        this.throwIfStopped();
        const { value: step, done } = await meter.timed(() => steps.next());
        if (done || !step) return;
        const { turn } = step;
        const agent = this.agent(turn.agent);
        if (step.type === "turn" || step.type === "answer") {
          // What was recorded for the turns before is done here, so that times belong to their turns.
          await meter.timed(() => engine.settle());
          lengths = step.prompt.lengths;
          this.checkRoom(turn.agent, lengths, step.type === "turn" ? latentSteps : 1);
          this.emitTurn(turn, lengths);
          if (step.type === "answer") {
            await this.answer(turn.round, step.prompt);
            return;
          }
          if (turn.isWriter && peeks && !tools) {
            const { result, ledger } = await meter.aside(() => this.writeFrom(turn.agent, turn.round, step.prompt));
            this.take(turn.round, result, ledger, "answerPeek");
          }
          meter.read(agent, batch.prompts(turn.agent, turn.round), lengths);
        } else if (step.type === "thought") {
          meter.thought(agent, lengths, step.step);
          await this.emitThought(step);
        } else if (step.type === "message") {
          meter.message(batch.system.outerLinks[step.edge]?.multiplyAdds ?? 0, latentSteps * batch.size);
          await this.emitMessage(step);
        }
      }
    } finally {
      await steps.return();
    }
  }

  private async passTexts(): Promise<void> {
    const { rounds, order, messageTokens } = this.options;
    const { batch } = this;
    const sent = new Map<number, string[]>();
    for (const turn of planTurns(batch.system.pattern, rounds)) {
      this.throwIfStopped();
      const fills = turn.reads.map(({ edge }): SlotFill => {
        const texts = sent.get(edge);
        if (!texts) return batch.noMessage(turn.agent);
        const own = order ? order.map((source) => texts[source] as string) : texts;
        return batch.textFill(turn.agent, own, messageTokens);
      });
      const prompt = this.textView(turn.agent, turn.round, fills);
      this.emitTurn(turn, prompt.lengths);
      if (turn.isAnswer) {
        await this.answer(turn.round, prompt);
        return;
      }
      const start = this.now();
      const written = await this.writeFrom(turn.agent, turn.round, prompt);
      const [first] = written as [Written];
      const to = turn.sends.map((edge) => batch.system.pattern.edges[edge]?.to as number);
      const { text, tokens } = first;
      const ms = this.now() - start;
      this.emit({ type: "textMessage", round: turn.round, from: turn.agent, to, text, tokens, ms });
      // What the last agent hands on is what it would have answered.
      if (turn.isWriter) this.take(turn.round, written, this.meter.snapshot(), "answerPeek");
      for (const edge of turn.sends) {
        // A message is read as plain words, whatever it looks like.
        sent.set(
          edge,
          written.map((own) => neutralizeControls(own.text)),
        );
      }
    }
  }

  private async answerAlone(): Promise<void> {
    const { rounds } = this.options;
    const agent = this.batch.system.agents.length - 1;
    const slots = this.batch.prompts(agent, rounds).slots;
    const fills = Array.from({ length: slots }, () => this.batch.noMessage(agent));
    const prompt = this.textView(agent, rounds, fills);
    this.emitTurn({ round: rounds, agent, reads: [] }, prompt.lengths);
    await this.answer(rounds, prompt);
  }

  /** The last turn: the last agent reads and writes. */
  private async answer(round: number, prompt: PromptView): Promise<void> {
    const agent = this.batch.system.agents.length - 1;
    const { tools, sampling, signal } = this.options;
    if (tools) {
      const results = await this.meter.timed(() =>
        answerWithTools(this.batch, round, prompt, {
          ...tools,
          ...(sampling && { sampling }),
          ...(signal && { signal }),
          onEvent: (event) => this.emit({ type: "toolStep", event }),
        }),
      );
      const system1 = tools.system1 ?? this.agent(agent).model.language;
      const written = results.map((result) => this.meter.researched(this.agent(agent), system1, result));
      this.throwIfStopped();
      this.take(round, written, this.meter.snapshot(), "recursionAnswer");
      return;
    }
    const written = await this.writeFrom(agent, round, prompt, (text) => {
      if (text) this.emit({ type: "answerToken", text });
    });
    this.take(round, written, this.meter.snapshot(), "recursionAnswer");
  }

  /** An agent reads its prompts and writes. */
  private async writeFrom(
    agent: number,
    round: number,
    prompt: PromptView,
    onText?: (text: string) => void,
  ): Promise<Written[]> {
    const { sampling, signal, maxTokens = DEFAULT_MAX_TOKENS } = this.options;
    const { language } = this.agent(agent).model;
    const { lengths } = prompt;
    this.checkRoom(agent, lengths, 1);
    const turn = this.writes++;
    const results = await this.meter.timed(async () => {
      const inputs = await prompt.inputs();
      return language.generate(
        inputs.map((input, question) => ({
          ...sampling,
          // Every question and every turn draws numbers of its own.
          seed: randomU32(sampling?.seed ?? 0, turn, question),
          input,
          maxTokens: Math.min(maxTokens, language.config.maxPositions - (lengths[question] as number)),
        })),
        { signal, onToken: ({ request, text }) => request === 0 && onText?.(text) },
      );
    });
    this.throwIfStopped();
    const written = results.map(({ text, ids, finishReason }): Written => {
      return { text, tokens: ids.length + (finishReason === "stop" ? 1 : 0) };
    });
    const reader = this.agent(agent);
    this.meter.read(reader, this.batch.prompts(agent, round), lengths);
    this.meter.wrote(reader, lengths, written);
    return written;
  }

  private textView(agent: number, round: number, fills: readonly SlotFill[]): PromptView {
    const prompts = this.batch.prompts(agent, round);
    return {
      lengths: prompts.lengths(fills),
      inputs: async () => this.batch.questions.map((_, question) => ({ ids: prompts.ids(question, fills) })),
      contents: async (question) => fills.map((fill) => (fill.kind === "ids" ? (fill.ids[question] ?? []) : [])),
    };
  }

  /** Grades what was written and tells of it. */
  private take(
    round: number,
    written: readonly Written[],
    ledger: RecursionLedger,
    type: "answerPeek" | "recursionAnswer",
  ): void {
    const answers = written.map((own, question) => ({ ...own, ...this.batch.questions[question]?.grade?.(own.text) }));
    this.rounds.push({ round, answers, ledger });
    const { tokens, ...first } = answers[0] as Written & Grade;
    this.emit(type === "answerPeek" ? { type, round, ...first } : { type, round, ...first, tokens });
  }

  private agent(index: number): Agent {
    return this.batch.system.agents[index] as Agent;
  }

  /** @throws RangeError naming the agent whose prompt leaves no room */
  private checkRoom(index: number, lengths: readonly number[], rows: number): void {
    const { id, model } = this.agent(index);
    const longest = Math.max(...lengths);
    const { maxPositions } = model.language.config;
    if (longest + rows <= maxPositions) return;
    throw new RequestError(
      "tooLong",
      `${id}: a prompt of ${longest} and ${rows} more exceed the model's ${maxPositions} positions`,
    );
  }

  private promptText(agent: number, round: number): string {
    return this.batch.prompts(agent, round).prompts[0]?.text as string;
  }

  private emitStart(): void {
    const { options, batch } = this;
    const { links = { inner: "trained", outer: "trained" } } = options;
    const { agents, pattern } = batch.system;
    const [question] = batch.questions as [RecursionQuestion];
    this.emit({
      type: "recursionStarted",
      task: options.task ?? "question",
      question: question.text,
      ...(question.gold !== undefined && { gold: question.gold }),
      ...(question.roundsNeeded !== undefined && { roundsNeeded: question.roundsNeeded }),
      pattern: pattern.name,
      passing: options.passing,
      agents: agents.map((agent) => ({
        id: agent.id,
        role: agent.role,
        model: agent.model.language.id,
        hiddenSize: widthOf(agent),
        layers: agent.model.language.config.layers,
      })),
      edges: pattern.edges.map(({ from, to }) => ({ from, to })),
      innerLink: links.inner,
      outerLink: links.outer,
      settings: {
        rounds: options.rounds,
        latentSteps: options.latentSteps,
        temperature: options.sampling?.temperature ?? 0,
        seed: options.sampling?.seed ?? 0,
      },
      embeddingNorms: agents.map(({ model }) => ({ ...model.embeddingNorms })),
    });
  }

  private emitTurn({ round, agent, reads }: Pick<Turn, "round" | "agent" | "reads">, lengths: readonly number[]): void {
    this.emit({
      type: "agentStarted",
      round,
      agent,
      prompt: this.promptText(agent, round),
      promptTokens: lengths[0] as number,
      messagesFrom: reads.flatMap(({ from, round: sentIn }) => (sentIn === undefined ? [] : [from])),
    });
  }

  private async emitThought(step: Extract<LatentStep, { type: "thought" }>): Promise<void> {
    if (!this.options.onEvent) return;
    const start = this.now();
    await this.meter.timed(() => this.engine.settle());
    const ms = this.now() - start;
    const { hidden, thought, lens } = await step.read(0);
    this.emit({
      type: "latentThought",
      round: step.turn.round,
      agent: step.turn.agent,
      step: step.step,
      hidden: Array.from(hidden),
      thought: Array.from(thought),
      lens,
      ms,
    });
  }

  private async emitMessage(step: Extract<LatentStep, { type: "message" }>): Promise<void> {
    if (!this.options.onEvent) return;
    const { vectors, nearest } = await step.read(0);
    const { from, to } = step;
    this.emit({
      type: "latentMessage",
      round: step.turn.round,
      from,
      to,
      vectors: vectors.map((vector) => Array.from(vector)),
      nearest,
    });
  }

  private emit(event: WithoutTime<RecursionEvent>): void {
    this.options.onEvent?.({ ...event, at: this.now() - this.start } as RecursionEvent);
  }

  private throwIfStopped(): void {
    if (this.options.signal?.aborted) throw new Stopped();
  }
}

function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
