/**
 * Folds the events of a recursion into what the room draws, and names its moments, between which a visitor steps. Pure:
 * the view of any position is the fold of the events up to there.
 */
import type { RecursionEvent } from "../../src/index";

export type RecursionEventOf<T extends RecursionEvent["type"]> = Extract<RecursionEvent, { type: T }>;
export type Thought = RecursionEventOf<"latentThought">;
export type LatentMessage = RecursionEventOf<"latentMessage">;

/** What an agent did in a round. */
export interface AgentTurn {
  round: number;
  agent: number;
  prompt: string;
  promptTokens: number;
  messagesFrom: readonly number[];
  thoughts: readonly Thought[];
  messages: readonly LatentMessage[];
  text?: RecursionEventOf<"textMessage">;
}

export interface RecursionView {
  started: RecursionEventOf<"recursionStarted">;
  turns: readonly AgentTurn[];
  /** What the last agent would have answered, by round; the answer of the last round included. */
  answers: ReadonlyMap<number, { text: string; answer?: string | undefined; correct?: boolean | undefined }>;
  /** The answer while it is being written. */
  streamed: string;
  answer?: RecursionEventOf<"recursionAnswer">;
  finished?: RecursionEventOf<"recursionFinished">;
  /** Milliseconds since the start at the latest event. */
  at: number;
}

export function foldRecursion(events: readonly RecursionEvent[]): RecursionView | undefined {
  let view: RecursionView | undefined;
  for (const event of events) {
    if (event.type === "recursionStarted") {
      view = { started: event, turns: [], answers: new Map(), streamed: "", at: event.at };
    } else if (view) view = { ...foldEvent(view, event), at: event.at };
  }
  return view;
}

function foldEvent(view: RecursionView, event: Exclude<RecursionEvent, { type: "recursionStarted" }>): RecursionView {
  switch (event.type) {
    case "agentStarted": {
      const { round, agent, prompt, promptTokens, messagesFrom } = event;
      const turn = { round, agent, prompt, promptTokens, messagesFrom, thoughts: [], messages: [] };
      return { ...view, turns: [...view.turns, turn], streamed: "" };
    }
    case "latentThought":
      return withTurn(view, event.round, event.agent, (turn) => ({ ...turn, thoughts: [...turn.thoughts, event] }));
    case "latentMessage":
      return withTurn(view, event.round, event.from, (turn) => ({ ...turn, messages: [...turn.messages, event] }));
    case "textMessage":
      return withTurn(view, event.round, event.from, (turn) => ({ ...turn, text: event }));
    case "answerPeek":
      return { ...view, answers: new Map(view.answers).set(event.round, event) };
    case "answerToken":
      return { ...view, streamed: view.streamed + event.text };
    case "toolStep":
      return view;
    case "recursionAnswer":
      return { ...view, answers: new Map(view.answers).set(event.round, event), streamed: event.text, answer: event };
    case "recursionFinished":
      return { ...view, finished: event };
  }
}

function withTurn(
  view: RecursionView,
  round: number,
  agent: number,
  change: (turn: AgentTurn) => AgentTurn,
): RecursionView {
  const turns = view.turns.map((turn) => (turn.round === round && turn.agent === agent ? change(turn) : turn));
  return { ...view, turns };
}

/** Something that a visitor can step to. */
export interface Moment {
  /** Events that have happened by then. */
  events: number;
  event: RecursionEvent;
}

/** All events but the words of an answer, which belong to the moment of the answer, and the start. */
export function momentsOf(events: readonly RecursionEvent[]): Moment[] {
  return events.flatMap((event, i) => {
    const isMoment = event.type !== "answerToken" && event.type !== "toolStep" && event.type !== "recursionStarted";
    return isMoment ? [{ events: i + 1, event }] : [];
  });
}
