/**
 * Folds the trace events of a run into what the picture draws. Pure and immutable: a fold copies only the turn that an
 * event touches, so columns of finished turns keep their identity and are not drawn again.
 */
import type { Ledger, TraceDocument, TraceEvent } from "../../src/index";

type EventOf<T extends TraceEvent["type"]> = Extract<TraceEvent, { type: T }>;

export interface LaneView {
  bin: number;
  prompt: string;
  promptTokens: number;
  text: string;
  /** Known when the lane has finished. */
  outputTokens?: number;
  ms?: number;
}

export interface TurnView {
  /** The turn's number as the trace counts it. */
  turn: number;
  promptTokens: number;
  /** What System 2 has written so far. */
  streamed: string;
  message?: EventOf<"system2Message">;
  call?: EventOf<"toolCall">;
  documents?: readonly TraceDocument[];
  toolMs?: number;
  toolError?: string;
  packed?: EventOf<"packed">;
  lanes: readonly LaneView[];
  refined?: EventOf<"refinedInfo">;
  answer?: EventOf<"answer">;
}

export interface RunView {
  question: string;
  gold?: readonly string[];
  model: string;
  corpus: string;
  settings: EventOf<"runStarted">["settings"];
  /** The run started in this turn of another one, with this purpose. */
  branch?: EventOf<"runStarted">["branch"];
  turns: readonly TurnView[];
  ledger: Ledger;
  /** Milliseconds since the start of the run at the latest event. */
  at: number;
  finished?: EventOf<"runFinished">;
}

const EMPTY_LEDGER: Ledger = {
  rawTokens: 0,
  system1PromptTokens: 0,
  system1OutputTokens: 0,
  system1Calls: 0,
  system2ContextTokens: 0,
  system2OutputTokens: 0,
  system2ContextWithoutSystem1: 0,
};

/** The view after `events`, which follow those that made `view`. Events before a runStarted are dropped. */
export function foldEvents(view: RunView | undefined, events: readonly TraceEvent[]): RunView | undefined {
  let next = view;
  for (const event of events) next = foldEvent(next, event);
  return next;
}

function foldEvent(view: RunView | undefined, event: TraceEvent): RunView | undefined {
  if (event.type === "runStarted") {
    const { question, gold, model, corpus, settings, branch, at } = event;
    return { question, gold, model, corpus, settings, branch, at, turns: [], ledger: EMPTY_LEDGER };
  }
  if (!view) return undefined;
  if (event.type === "runFinished") return { ...view, at: event.at, finished: event, ledger: event.ledger };
  const turns = foldTurns(view.turns, event);
  // Streaming never changes the ledger, and token events are by far the most frequent ones.
  const streaming = event.type === "system2Token" || event.type === "system1Token";
  return { ...view, at: event.at, turns, ledger: streaming ? view.ledger : liveLedger(turns) };
}

function foldTurns(
  turns: readonly TurnView[],
  event: Exclude<TraceEvent, EventOf<"runStarted"> | EventOf<"runFinished">>,
): readonly TurnView[] {
  if (event.type === "turnStarted") {
    return [...turns, { turn: event.turn, promptTokens: event.promptTokens, streamed: "", lanes: [] }];
  }
  return turns.map((turn) => (turn.turn === event.turn ? foldTurn(turn, event) : turn));
}

function foldTurn(
  turn: TurnView,
  event: Exclude<TraceEvent, EventOf<"runStarted"> | EventOf<"runFinished"> | EventOf<"turnStarted">>,
): TurnView {
  switch (event.type) {
    case "system2Token":
      return { ...turn, streamed: turn.streamed + event.text };
    case "system2Message":
      return { ...turn, message: event, streamed: event.text, promptTokens: event.promptTokens };
    case "toolCall":
      return { ...turn, call: event };
    case "toolResult":
      return { ...turn, documents: event.documents, toolMs: event.ms };
    case "toolError":
      return { ...turn, toolError: event.message };
    case "packed":
      return { ...turn, packed: event };
    case "system1Started": {
      const { bin, prompt, promptTokens } = event;
      return { ...turn, lanes: [...turn.lanes, { bin, prompt, promptTokens, text: "" }] };
    }
    case "system1Token":
      return withLane(turn, event.bin, (lane) => ({ ...lane, text: lane.text + event.text }));
    case "system1Output":
      return withLane(turn, event.bin, (lane) => ({
        ...lane,
        text: event.text,
        outputTokens: event.outputTokens,
        ms: event.ms,
      }));
    case "refinedInfo":
      return { ...turn, refined: event };
    case "answer":
      return { ...turn, answer: event };
  }
}

function withLane(turn: TurnView, bin: number, change: (lane: LaneView) => LaneView): TurnView {
  return { ...turn, lanes: turn.lanes.map((lane) => (lane.bin === bin ? change(lane) : lane)) };
}

/** Tokens of all documents that a turn's tool returned. */
export function rawTokensOf(turn: TurnView): number {
  return (turn.documents ?? []).reduce((sum, document) => sum + document.tokens, 0);
}

/** Sums what is known while the run goes on; the run's own ledger replaces it at the end. */
function liveLedger(turns: readonly TurnView[]): Ledger {
  const ledger = { ...EMPTY_LEDGER };
  let saved = 0;
  for (const turn of turns) {
    ledger.rawTokens += rawTokensOf(turn);
    ledger.system1Calls += turn.lanes.length;
    for (const lane of turn.lanes) {
      ledger.system1PromptTokens += lane.promptTokens;
      ledger.system1OutputTokens += lane.outputTokens ?? 0;
    }
    const output = turn.message?.outputTokens ?? 0;
    ledger.system2OutputTokens += output;
    ledger.system2ContextTokens = turn.promptTokens + output + (turn.refined?.tokens ?? 0);
    if (turn.refined) saved += rawTokensOf(turn) - turn.refined.tokens;
  }
  ledger.system2ContextWithoutSystem1 = ledger.system2ContextTokens + saved;
  return ledger;
}

/** System 2's words while they stream: its thought, and what follows, which is a call being written or an answer. */
export function splitStream(text: string): { thought: string; rest: string } {
  const thoughtEnd = text.indexOf("</think>");
  const call = text.indexOf("<tool_call>");
  const end = thoughtEnd >= 0 ? thoughtEnd : call >= 0 ? call : text.length;
  return {
    thought: text.slice(0, end).replace("<think>", "").trim(),
    rest: text.slice(end).replace("</think>", "").trim(),
  };
}
