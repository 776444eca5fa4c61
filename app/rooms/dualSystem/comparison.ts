/** Two runs as rows of a table: what was set, what came out, what it cost. Pure. */
import type { Ledger } from "../../../src/index";
import { type RunView, rawTokensOf, type TurnView } from "../../engine/runView";
import { formatCount, formatDuration, formatPlural } from "../../format";
import { strings } from "../../strings";

export interface ComparedRow {
  label: string;
  a: string;
  b: string;
  /** b - a, for what can be counted. */
  difference?: string;
  /** A setting, and not a result. */
  isSetting?: boolean;
  isEqual: boolean;
}

const text = strings.dualSystem.compare;

const LEDGER: readonly (keyof Ledger)[] = [
  "system2ContextTokens",
  "system2ContextWithoutSystem1",
  "rawTokens",
  "system1Calls",
  "system1PromptTokens",
  "system1OutputTokens",
  "system2OutputTokens",
];

export function compareRuns(a: RunView, b: RunView): ComparedRow[] {
  const turns = Math.max(a.turns.length, b.turns.length);
  return [
    ...settingRows(a, b),
    row(text.answer, answerOf(a), answerOf(b)),
    row(text.grade, gradeOf(a), gradeOf(b)),
    number(text.turns, a.turns.length, b.turns.length, formatCount),
    number(text.time, a.finished?.ms ?? a.at, b.finished?.ms ?? b.at, formatDuration),
    ...LEDGER.map((key) => number(text.ledger[key], a.ledger[key], b.ledger[key], formatCount)),
    ...Array.from({ length: turns }, (_, i) =>
      row(strings.dualSystem.run.turn(i + 1), turnWords(a.turns[i]), turnWords(b.turns[i])),
    ),
  ];
}

function settingRows(a: RunView, b: RunView): ComparedRow[] {
  const settings: readonly [label: string, of: (view: RunView) => string][] = [
    [text.question, ({ question }) => question],
    [text.model, ({ model }) => model],
    [text.corpus, ({ corpus }) => corpus],
    [text.system1, ({ settings }) => (settings.useSystem1 ? text.on : text.off)],
    [text.capacity, ({ settings }) => (settings.useSystem1 ? formatCount(settings.capacity) : text.none)],
    [text.parallel, ({ settings }) => (settings.parallel === undefined ? text.all : String(settings.parallel))],
    [text.packing, ({ settings }) => strings.dualSystem.settings.packing.algorithms[settings.packing ?? "ffd"]],
    [text.results, ({ settings }) => formatCount(settings.searchResults)],
    [text.maxTurns, ({ settings }) => formatCount(settings.maxTurns)],
    [text.temperature, ({ settings }) => String(settings.temperature)],
    [text.seed, ({ settings }) => String(settings.seed)],
    [text.branch, ({ branch }) => (branch ? text.branched(branch.turn, branch.purpose) : text.none)],
  ];
  return settings.map(([label, of]) => ({ ...row(label, of(a), of(b)), isSetting: true }));
}

function row(label: string, a: string, b: string): ComparedRow {
  return { label, a, b, isEqual: a === b };
}

function number(label: string, a: number, b: number, format: (value: number) => string): ComparedRow {
  const difference = b - a;
  const sign = difference > 0 ? "+" : "−";
  return {
    ...row(label, format(a), format(b)),
    difference: difference === 0 ? "0" : `${sign}${format(Math.abs(difference))}`,
  };
}

function answerOf({ turns, finished }: RunView): string {
  const answer = turns.at(-1)?.answer;
  if (answer) return answer.text;
  return finished ? strings.dualSystem.run.reasons[finished.reason] : text.none;
}

function gradeOf({ turns }: RunView): string {
  const answer = turns.at(-1)?.answer;
  if (answer?.correct === undefined) return text.none;
  return answer.correct ? text.right : text.wrong;
}

function turnWords(turn: TurnView | undefined): string {
  if (!turn) return text.none;
  const { call, documents, packed, refined, toolError, answer } = turn;
  if (answer) return text.answered(answer.text);
  const parts = [call && text.called(call.name, call.purpose)];
  if (documents) {
    parts.push(
      strings.dualSystem.run.documents(formatPlural(documents.length, "document"), formatCount(rawTokensOf(turn))),
    );
  }
  if (packed) parts.push(formatPlural(packed.bins.length, "bin"));
  if (refined) parts.push(text.refined(formatCount(refined.tokens)));
  if (toolError !== undefined) parts.push(toolError);
  return parts.filter((part) => part !== undefined).join(" · ") || text.none;
}
