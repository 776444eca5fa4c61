/**
 * The dual-system research loop: System 2 thinks and calls a tool with a purpose, System 1 refines what the tool
 * returns, and the refined text is the tool's response, until System 2 answers. Every step is told as a trace event.
 * Source: MARS (arXiv 2510.04935): c(i+1) = c(i) + {thought, call, purpose, refined}, at most 10 turns.
 */
import type { LanguageModel, SamplingOptions } from "../model/languageModel";
import type { Bin, PackingAlgorithm } from "../packing/pack";
import type { ChatMessage } from "../text/tokenizer";
import type { Ledger, TraceDocument, TraceEvent, TraceSink } from "../trace/events";
import { exactMatch, tokenF1 } from "../world/grade";
import { type Branch, type BranchStart, branchStart } from "./branch";
import { neutralizeControls } from "./neutral";
import { parseMessage, type ToolCall } from "./parse";
import { system2Messages } from "./prompts";
import { binCapacity, type FormattedDocument, formatDocuments, refine, type System1Settings } from "./system1";
import { conversationTokens, type System2Settings, speak, system2Prompt } from "./system2";
import { ReadableError, type Tool, type ToolDocument } from "./tool";
import { DEFAULT_SEARCH_RESULTS } from "./tools/search";

export const DEFAULT_MAX_TURNS = 10;

export interface ResearchOptions {
  system2: LanguageModel;
  /** Default: the same model as System 2. */
  system1?: LanguageModel;
  tools: readonly Tool[];
  /** What the trace calls the corpus. */
  corpus: string;
  /** Tokens of documents in one System 1 bin. Default: what is left of system1PromptBudget. */
  capacity?: number;
  /** Tokens of one System 1 prompt, when no capacity is given. Default: an eighth of its context. */
  system1PromptBudget?: number;
  /** New tokens of one bin. Default: a sixteenth of System 1's context, at most 512. */
  system1MaxTokens?: number;
  /** How documents come into bins. Default: First Fit Decreasing. */
  packing?: PackingAlgorithm;
  /** Bins that System 1 reads in one batch. Default: all of a turn. */
  parallel?: number;
  /** New tokens of one message. Default: an eighth of System 2's context, at most 2048. */
  system2MaxTokens?: number;
  /** Default 10. The call of a last turn is not carried out: nobody would read the result. */
  maxTurns?: number;
  /** False: System 2 reads the raw documents. Default true. */
  useSystem1?: boolean;
  /** For the trace; the search tool is made with its own. */
  searchResults?: number;
  sampling?: SamplingOptions;
  signal?: AbortSignal;
  onEvent?: TraceSink;
  /** False leaves out the events of single tokens, of which there are many. Default true. */
  streamTokens?: boolean;
  /** Accepted answers, to grade the answer. */
  gold?: readonly string[];
  /** Milliseconds of any origin. Default performance.now. */
  now?: () => number;
  /** Starts in the middle of another run, whose call gets another purpose. The question should be the other run's. */
  branch?: Branch;
}

export type ResearchReason = Extract<TraceEvent, { type: "runFinished" }>["reason"];

export interface ResearchTurn {
  turn: number;
  promptTokens: number;
  outputTokens: number;
  ms: number;
  /** What System 2 wrote, verbatim. */
  text: string;
  thought: string;
  call?: ToolCall;
  documents?: TraceDocument[];
  bins?: { items: number[]; used: number; promptTokens: number; outputTokens: number; text: string }[];
  truncated?: number[];
  /** What System 2 got to read for its call: refined information, or raw documents without System 1. */
  refined?: string;
  /** What System 2 got to read instead. */
  error?: string;
}

export interface ResearchResult {
  /** Absent unless the reason is "answer". */
  answer?: string;
  reason: ResearchReason;
  /** What went wrong, for the reason "error". */
  error?: unknown;
  /** Graded only when gold is known and there is an answer. */
  correct?: boolean;
  f1?: number;
  turns: ResearchTurn[];
  ledger: Ledger;
  ms: number;
}

/**
 * Researches one question. Never throws for what models and tools do: a failing engine ends the run with the reason
 * "error", an abort with "stopped".
 * @throws RangeError for a bad option, or a branch from where nothing branches, before the run starts.
 */
export async function research(question: string, options: ResearchOptions): Promise<ResearchResult> {
  for (const name of [
    "capacity",
    "system1PromptBudget",
    "system1MaxTokens",
    "system2MaxTokens",
    "maxTurns",
    "parallel",
  ] as const) {
    const value = options[name];
    if (value !== undefined && (!Number.isSafeInteger(value) || value < 1)) {
      throw new RangeError(`${name} must be a positive integer; got ${value}`);
    }
  }
  const start = options.branch && branchStart(options.branch);
  return new Run(question, options, start).finish();
}

type WithoutTime<E> = E extends { at: number } ? Omit<E, "at"> : never;
type Ending = Pick<ResearchResult, "answer" | "reason" | "error" | "correct" | "f1">;

/** The signal ended the run between or within steps. */
class Stopped extends Error {}

class Run {
  private readonly now: () => number;
  private start: number;
  private readonly maxTurns: number;
  private readonly useSystem1: boolean;
  private readonly streams: boolean;
  private readonly system1: System1Settings;
  private readonly system2: System2Settings;
  private readonly turns: ResearchTurn[] = [];
  private readonly messages: ChatMessage[];
  /** The conversation as it would be without System 1, for the ledger. */
  private readonly rawMessages: ChatMessage[];
  private readonly ledger: Ledger = {
    rawTokens: 0,
    system1PromptTokens: 0,
    system1OutputTokens: 0,
    system1Calls: 0,
    system2ContextTokens: 0,
    system2OutputTokens: 0,
    system2ContextWithoutSystem1: 0,
  };

  constructor(
    private readonly question: string,
    private readonly options: ResearchOptions,
    private readonly branch: BranchStart | undefined,
  ) {
    this.now = options.now ?? (() => performance.now());
    this.start = this.now();
    this.maxTurns = options.maxTurns ?? DEFAULT_MAX_TURNS;
    this.useSystem1 = options.useSystem1 ?? true;
    this.streams = options.onEvent !== undefined && (options.streamTokens ?? true);
    this.system1 = {
      model: options.system1 ?? options.system2,
      capacity: options.capacity,
      promptBudget: options.system1PromptBudget,
      maxTokens: options.system1MaxTokens,
      sampling: options.sampling,
      packing: options.packing,
      parallel: options.parallel,
    };
    this.system2 = {
      model: options.system2,
      tools: options.tools.map((tool) => tool.function),
      maxTokens: options.system2MaxTokens,
      sampling: options.sampling,
    };
    this.messages = system2Messages(neutralizeControls(question));
    this.rawMessages = [...this.messages];
  }

  async finish(): Promise<ResearchResult> {
    let ending = await this.converse().catch((error: unknown): Ending => {
      // An engine may report an abort by throwing; after an abort no other failure matters.
      return error instanceof Stopped || this.options.signal?.aborted
        ? { reason: "stopped" }
        : { reason: "error", error };
    });
    try {
      this.ledger.system2ContextTokens = conversationTokens(this.messages, this.system2);
      this.ledger.system2ContextWithoutSystem1 = conversationTokens(this.rawMessages, this.system2);
    } catch (error) {
      if (ending.reason !== "error") ending = { reason: "error", error };
    }
    const ms = this.now() - this.start;
    const message = ending.reason === "error" ? { message: errorText(ending.error) } : {};
    this.emit({ type: "runFinished", reason: ending.reason, ms, ledger: this.ledger, ...message });
    return { ...ending, turns: this.turns, ledger: this.ledger, ms };
  }

  private async converse(): Promise<Ending> {
    this.emitStart();
    if (this.branch) await this.takeOver(this.branch);
    for (let turn = this.turns.length + 1; turn <= this.maxTurns; turn++) {
      const ending = await this.takeTurn(turn);
      if (ending) return ending;
    }
    return { reason: "turnLimit" };
  }

  /** The turns of another run, and its next call with another purpose. */
  private async takeOver({ events, turns, text, at }: BranchStart): Promise<void> {
    for (const event of events) this.options.onEvent?.(event);
    // The clock goes on where the other run stood.
    this.start = this.now() - at;
    for (const record of turns) {
      this.turns.push(record);
      this.ledger.system2OutputTokens += record.outputTokens;
      this.say({ role: "assistant", content: record.text });
      if (record.documents) this.ledger.rawTokens += record.documents.reduce((sum, { tokens }) => sum + tokens, 0);
      for (const { promptTokens, outputTokens } of record.bins ?? []) {
        this.ledger.system1Calls++;
        this.ledger.system1PromptTokens += promptTokens;
        this.ledger.system1OutputTokens += outputTokens;
      }
      const told = record.refined ?? record.error;
      if (told === undefined) continue;
      this.messages.push({ role: "tool", content: told });
      const raw =
        record.refined === undefined
          ? told
          : this.formatted(record.documents ?? [])
              .map(textOf)
              .join("");
      this.rawMessages.push({ role: "tool", content: raw });
    }
    this.throwIfStopped();
    const turn = turns.length + 1;
    const prompt = system2Prompt(this.messages, this.system2);
    this.emit({ type: "turnStarted", turn, promptTokens: prompt.ids.length });
    const { thought, action } = parseMessage(text, this.system2.tools);
    const outputTokens = this.system2.model.tokenizer.countTokens(text);
    const record: ResearchTurn = { turn, promptTokens: prompt.ids.length, outputTokens, ms: 0, text, thought };
    this.turns.push(record);
    this.ledger.system2OutputTokens += outputTokens;
    this.say({ role: "assistant", content: text });
    this.emit({ ...record, type: "system2Message", prompt: prompt.text, edited: true });
    // The tools of this run may be others than those of the run before.
    if (action.type === "toolCall") await this.call(record, action.call);
    else if (action.type === "error") this.respondError(record, action.message);
  }

  /** One message of System 2 and what follows from it; the ending, if the run ends here. */
  private async takeTurn(turn: number): Promise<Ending | undefined> {
    this.throwIfStopped();
    const prompt = system2Prompt(this.messages, this.system2);
    this.emit({ type: "turnStarted", turn, promptTokens: prompt.ids.length });
    if (prompt.room < 1) return { reason: "contextLimit" };

    const message = await speak(prompt, this.system2, {
      turn,
      now: this.now,
      signal: this.options.signal,
      onToken: this.streams ? (text) => text && this.emit({ type: "system2Token", turn, text }) : undefined,
    });
    const { text, outputTokens, ms } = message;
    const { thought, action } = parseMessage(text, this.system2.tools);
    const record: ResearchTurn = { turn, promptTokens: prompt.ids.length, outputTokens, ms, text, thought };
    this.turns.push(record);
    this.ledger.system2OutputTokens += outputTokens;
    this.say({ role: "assistant", content: text });
    this.emit({ ...record, type: "system2Message", prompt: prompt.text });
    if (message.finishReason === "aborted") throw new Stopped();

    // A call that is complete counts; anything else that was cut may mean the opposite of what it would have said.
    if (message.finishReason === "length" && action.type !== "toolCall" && !text.includes("</answer>")) {
      if (message.contextFull) return { reason: "contextLimit" };
      return this.respondError(record, `Error: the message was cut after ${outputTokens} tokens. Use fewer words.`);
    }
    if (action.type === "error") return this.respondError(record, action.message);
    if (action.type === "answer") return this.answer(turn, action.text);
    return this.call(record, action.call);
  }

  private answer(turn: number, text: string): Ending {
    const { gold } = this.options;
    const grade = gold && { correct: exactMatch(text, gold), f1: tokenF1(text, gold) };
    this.emit({ type: "answer", turn, text, ...grade });
    return { reason: "answer", answer: text, ...grade };
  }

  /** Carries out a call and gives System 2 the refined result, or says what failed. */
  private async call(record: ResearchTurn, call: ToolCall): Promise<undefined> {
    const { turn } = record;
    record.call = call;
    const { purpose: _, ...args } = call.arguments;
    this.emit({ type: "toolCall", turn, name: call.name, arguments: args, purpose: call.purpose });
    if (turn === this.maxTurns) return;
    try {
      const documents = await this.runTool(record, call);
      const raw = documents.map(textOf).join("");
      const text = this.useSystem1 ? await this.refine(record, documents, call.purpose) : raw;
      record.refined = text;
      const reader = this.system2.model.tokenizer;
      this.emit({ type: "refinedInfo", turn, text, tokens: reader.countTokens(text) });
      this.messages.push({ role: "tool", content: text });
      this.rawMessages.push({ role: "tool", content: raw });
    } catch (error) {
      if (!(error instanceof ReadableError)) throw error;
      this.respondError(record, `Error: ${error.message}`);
    }
  }

  /** Documents as the reader sees them: System 1, or System 2 where it reads the raw documents. */
  private async runTool(record: ResearchTurn, call: ToolCall): Promise<FormattedDocument[]> {
    const { signal, tools } = this.options;
    const tool = tools.find((candidate) => candidate.function.name === call.name) as Tool;
    const start = this.now();
    const found = await untilAborted(async () => tool.run(call.arguments, signal), signal).catch((error: unknown) => {
      this.throwIfStopped();
      // Whatever a tool throws is for System 2 to read; it may try something else. It may quote a site or a program.
      throw new ReadableError(neutralizeControls(errorText(error)) || `${call.name} failed without saying why.`);
    });
    if (found.length === 0) throw new ReadableError(`${call.name} returned no documents.`);
    const formatted = this.formatted(found);
    record.documents = found.map((document, i) => ({
      ...document,
      tokens: (formatted[i] as FormattedDocument).tokens,
    }));
    this.ledger.rawTokens += formatted.reduce((sum, { tokens }) => sum + tokens, 0);
    this.emit({ type: "toolResult", turn: record.turn, documents: record.documents, ms: this.now() - start });
    return formatted;
  }

  private formatted(documents: readonly ToolDocument[]): FormattedDocument[] {
    return formatDocuments(documents, (this.useSystem1 ? this.system1 : this.system2).model.tokenizer);
  }

  private async refine(record: ResearchTurn, documents: FormattedDocument[], purpose: string): Promise<string> {
    const { turn } = record;
    const refined = await refine(documents, purpose, this.system1, {
      turn,
      now: this.now,
      signal: this.options.signal,
      onPacked: (packing) => this.emit({ type: "packed", turn, ...packing }),
      onStarted: (bin, prompt, promptTokens) => {
        this.ledger.system1Calls++;
        this.ledger.system1PromptTokens += promptTokens;
        this.emit({ type: "system1Started", turn, bin, prompt, promptTokens });
      },
      onToken: this.streams ? (bin, text) => text && this.emit({ type: "system1Token", turn, bin, text }) : undefined,
      onFinished: (bin, { text, outputTokens, ms }) => {
        this.ledger.system1OutputTokens += outputTokens;
        this.emit({ type: "system1Output", turn, bin, text, outputTokens, ms });
      },
    });
    record.truncated = refined.packing.truncated;
    record.bins = refined.bins.map(({ promptTokens, outputTokens, text }, i) => {
      const { items, used } = refined.packing.bins[i] as Bin;
      return { items, used, promptTokens, outputTokens, text };
    });
    if (refined.aborted) throw new Stopped();
    return refined.text;
  }

  private respondError(record: ResearchTurn, message: string): undefined {
    record.error = message;
    this.emit({ type: "toolError", turn: record.turn, message });
    this.say({ role: "tool", content: message });
  }

  /** Adds a message to both conversations. */
  private say(message: ChatMessage): void {
    this.messages.push(message);
    this.rawMessages.push(message);
  }

  private emitStart(): void {
    const { gold, sampling, corpus, searchResults = DEFAULT_SEARCH_RESULTS, packing, parallel, branch } = this.options;
    const { id } = this.system2.model;
    const reader = this.system1.model.id;
    this.emit({
      type: "runStarted",
      question: this.question,
      ...(gold && { gold: [...gold] }),
      model: !this.useSystem1 || id === reader ? id : `${id} + ${reader}`,
      corpus,
      settings: {
        useSystem1: this.useSystem1,
        // Of a call with the shortest purpose; each `packed` event has its own.
        capacity: Math.max(0, binCapacity("", this.system1)),
        maxTurns: this.maxTurns,
        searchResults,
        temperature: sampling?.temperature ?? 0,
        seed: sampling?.seed ?? 0,
        ...(packing && { packing }),
        ...(parallel !== undefined && { parallel }),
      },
      ...(branch && { branch: { turn: branch.turn, purpose: branch.purpose } }),
    });
  }

  private emit(event: WithoutTime<TraceEvent>): void {
    this.options.onEvent?.({ ...event, at: this.now() - this.start } as TraceEvent);
  }

  private throwIfStopped(): void {
    if (this.options.signal?.aborted) throw new Stopped();
  }
}

/** What the task gives, or a rejection as soon as the signal aborts: a tool may not know of signals. */
function untilAborted<T>(task: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return task();
  if (signal.aborted) return Promise.reject(new Stopped());
  return new Promise((resolve, reject) => {
    const abort = () => reject(new Stopped());
    signal.addEventListener("abort", abort, { once: true });
    task()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener("abort", abort));
  });
}

const textOf = ({ text }: FormattedDocument): string => text;

function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
