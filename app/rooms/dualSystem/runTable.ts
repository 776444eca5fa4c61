/** A run as a table: one row a turn, then the ledger of the whole. Tokens, and milliseconds. */
import type { Table } from "../../components/TableTwin";
import { type RunView, rawTokensOf, type TurnView } from "../../engine/runView";
import { strings } from "../../strings";

const text = strings.dualSystem.table;

export function runTable({ turns, ledger, finished }: RunView): Table {
  return {
    head: text.head,
    rows: [
      ...turns.map((turn, i) => rowOf(turn, i + 1)),
      [
        text.whole,
        "",
        ledger.system2OutputTokens,
        finished?.ms ?? "",
        "",
        "",
        "",
        ledger.rawTokens,
        ledger.system1Calls,
        "",
        "",
        ledger.system1PromptTokens,
        ledger.system1OutputTokens,
        "",
        ledger.system2ContextTokens,
        ledger.system2ContextWithoutSystem1,
        finished?.reason ?? "",
      ],
    ],
  };
}

function rowOf(turn: TurnView, number: number): Table["rows"][number] {
  const { message, call, documents, packed, lanes, refined, answer, toolError } = turn;
  const sum = (of: (lane: TurnView["lanes"][number]) => number) => lanes.reduce((total, lane) => total + of(lane), 0);
  return [
    number,
    turn.promptTokens,
    message?.outputTokens ?? "",
    message?.ms ?? "",
    call?.name ?? "",
    call?.purpose ?? "",
    documents?.length ?? "",
    documents ? rawTokensOf(turn) : "",
    packed?.bins.length ?? "",
    packed?.capacity ?? "",
    packed?.utilization ?? "",
    packed ? sum(({ promptTokens }) => promptTokens) : "",
    packed ? sum(({ outputTokens = 0 }) => outputTokens) : "",
    refined?.tokens ?? "",
    turn.promptTokens + (message?.outputTokens ?? 0),
    "",
    answer?.text ?? toolError ?? "",
  ];
}
