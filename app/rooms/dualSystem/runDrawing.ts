/**
 * A run as a drawing that stands on its own, for slides and papers: the picture's three lanes with one column a turn,
 * under its question and the two contexts. Made of vectors and text, so that it can be edited elsewhere.
 */
import { documentColor } from "../../components/documentColor";
import { type RunView, rawTokensOf, type TurnView } from "../../engine/runView";
import { formatCount, formatPercent, formatPlural } from "../../format";
import { strings } from "../../strings";
import { gradeOf } from "./grade";
import { splitQuotes } from "./quotes";

const { run: text, lanes, ledger: ledgerText } = strings.dualSystem;
/** The page's font where the drawing is made, and a plain one where it is opened without it. */
export const FONT = "Inter, 'Inter Variable', system-ui, sans-serif";
const COLUMN = 270;
const GAP = 18;
const MARGIN = 24;
const LABEL = 26;
const PAD = 10;
const LINE = 17;
const BAR = 16;
const BINS = 70;

export interface Pen {
  /** Width of words in pixels at a size in pixels. */
  measure(words: string, size: number, bold: boolean): number;
  /** A colour of tokens.css. */
  color(name: string): string;
}

/** Draws below `y` and returns where it ended. */
type Part = (x: number, y: number) => { markup: string; end: number };

export function drawRun(view: RunView, pen: Pen): string {
  const { turns, question, gold, ledger } = view;
  const columns = Math.max(1, turns.length);
  const width = 2 * MARGIN + LABEL + columns * (COLUMN + GAP) - GAP;
  const inner = width - 2 * MARGIN;
  const out: string[] = [];
  const write = (markup: string) => out.push(markup);
  const dim = pen.color("--text-dim");
  const ink = pen.color("--text");

  let y = MARGIN;
  const head = paragraph(pen, question, inner, { size: 20, bold: true, color: ink })(MARGIN, y);
  write(head.markup);
  y = head.end + 8;
  const scale = Math.max(1, ledger.system2ContextTokens, ledger.system2ContextWithoutSystem1);
  for (const [name, tokens, isGhost] of [
    [ledgerText.with, ledger.system2ContextTokens, false],
    [ledgerText.without, ledger.system2ContextWithoutSystem1, true],
  ] as const) {
    const full = inner - 290;
    const length = (full * tokens) / scale;
    write(label(MARGIN, y + 12, name, { size: 12, color: dim }));
    write(
      rect(MARGIN + 160, y + 2, length, 12, {
        fill: isGhost ? "none" : pen.color("--system2"),
        stroke: pen.color("--system2"),
        dash: isGhost,
      }),
    );
    write(
      label(MARGIN + 170 + full, y + 12, ledgerText.tokens(formatCount(tokens)), { size: 12, bold: true, color: ink }),
    );
    y += 20;
  }
  y += 10;

  for (const [i] of turns.entries()) {
    write(label(columnX(i), y + 12, text.turn(i + 1), { size: 13, bold: true, color: ink }));
  }
  y += 22;

  for (const lane of ["system2", "tools", "system1"] as const) {
    const drawn = turns.map((turn, i) => {
      const parts = partsOf(lane, view, turn, i, pen, gold);
      let end = y + PAD;
      const markup = parts
        .map((part) => {
          const done = part(columnX(i) + PAD, end);
          end = done.end + 6;
          return done.markup;
        })
        .join("");
      return { markup, end };
    });
    const end = Math.max(y + 40, ...drawn.map((column) => column.end)) + PAD;
    write(rect(MARGIN, y, inner, end - y, { fill: pen.color(`--${lane}-tint`), stroke: pen.color(`--${lane}-line`) }));
    const middle = (y + end) / 2;
    write(
      `<text transform="translate(${MARGIN + 17} ${middle}) rotate(-90)" text-anchor="middle" font-size="12" font-weight="600" fill="${pen.color(`--${lane}-text`)}">${escaped(lanes[lane])}</text>`,
    );
    for (const { markup } of drawn) write(markup);
    y = end + 8;
  }
  const height = Math.ceil(y + MARGIN - 8);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${FONT}">${rect(0, 0, width, height, { fill: pen.color("--surface") })}${out.join("")}</svg>`;
}

const columnX = (i: number) => MARGIN + LABEL + i * (COLUMN + GAP);
const ROOM = COLUMN - 2 * PAD;

function partsOf(
  lane: "system2" | "tools" | "system1",
  view: RunView,
  turn: TurnView,
  i: number,
  pen: Pen,
  gold: RunView["gold"],
): Part[] {
  if (lane === "system2") return system2Parts(view, turn, view.turns[i - 1], pen, gold);
  return lane === "tools" ? toolParts(turn, pen) : system1Parts(turn, pen);
}

function system2Parts(
  view: RunView,
  turn: TurnView,
  before: TurnView | undefined,
  pen: Pen,
  gold: RunView["gold"],
): Part[] {
  const ink = pen.color("--text");
  const parts: Part[] = [];
  const say = (words: string, style: Partial<Style> = {}) =>
    parts.push(paragraph(pen, words, ROOM, { size: 13, color: ink, ...style }));
  if (before?.refined) {
    const { tokens } = before.refined;
    const isRefined = view.settings.useSystem1;
    say(
      isRefined
        ? `${text.refined}: ${text.refinedCost(formatCount(tokens), formatCount(rawTokensOf(before)))}`
        : `${text.raw}: ${text.rawCost(formatCount(tokens))}`,
      { size: 11, bold: true, color: pen.color(isRefined ? "--system1-text" : "--tools-text") },
    );
    if (isRefined) for (const quote of quotesOf(before)) say(quote);
  }
  if (before?.toolError !== undefined) say(before.toolError, { color: pen.color("--bad") });
  const thought = turn.message?.thought;
  if (thought) say(thought);
  const { call, answer } = turn;
  if (call) {
    const [first] = Object.values(call.arguments);
    say(`${call.name} “${String(first ?? "")}”`, { size: 12, color: pen.color("--tools-text") });
    parts.push(boxed(pen, `${text.purpose}: ${call.purpose}`, pen.color("--system2"), pen.color("--on-system2")));
  }
  if (answer) {
    say(answer.text, { size: 18, bold: true });
    say(gradeOf(answer.correct, gold), { size: 12, color: pen.color(answer.correct === false ? "--bad" : "--good") });
  }
  return parts;
}

/** What System 1 found, without the lines that say there is nothing. */
function quotesOf({ refined, documents = [] }: TurnView): string[] {
  const segments = splitQuotes(refined?.text ?? "", documents).filter(({ nothing }) => !nothing);
  return segments.length > 0 ? segments.map(({ text: words }) => words) : [text.nothingRelevant];
}

function toolParts(turn: TurnView, pen: Pen): Part[] {
  const { documents } = turn;
  if (!documents) return [];
  const longest = Math.max(1, ...documents.map(({ tokens }) => tokens));
  const summary = text.documents(formatPlural(documents.length, "document"), formatCount(rawTokensOf(turn)));
  return [
    paragraph(pen, summary, ROOM, { size: 11, bold: true, color: pen.color("--tools-text") }),
    ...documents.map(
      ({ title, tokens }, i): Part =>
        (x, y) => ({
          markup:
            rect(x, y, Math.max(3, (ROOM * tokens) / longest), BAR, { fill: documentColor(i), opacity: 0.25 }) +
            label(x + 4, y + 12, fitted(pen, `${i + 1}  ${title}`, ROOM - 44), {
              size: 12,
              color: pen.color("--text"),
            }) +
            label(x + ROOM, y + 12, formatCount(tokens), { size: 11, color: pen.color("--text-dim"), end: true }),
          end: y + BAR - 3,
        }),
    ),
  ];
}

function system1Parts(turn: TurnView, pen: Pen): Part[] {
  const { packed, documents = [] } = turn;
  if (!packed) return [];
  const { bins, capacity, utilization } = packed;
  const summary = text.packed(formatPlural(documents.length, "document"), formatPlural(bins.length, "bin"));
  const step = Math.min(46, ROOM / Math.max(1, bins.length));
  const figure: Part = (x, y) => {
    const blocks = bins.flatMap(({ items, used }, bin) => {
      const own = items.reduce((sum, item) => sum + (documents[item]?.tokens ?? 0), 0);
      let top = y + BINS;
      return items.map((item) => {
        const height = ((documents[item]?.tokens ?? 0) / Math.max(1, own)) * ((BINS * used) / capacity);
        top -= height;
        return (
          rect(x + bin * step, top, step - 5, Math.max(1, height - 1), { fill: documentColor(item) }) +
          (height > 13 ? label(x + bin * step + (step - 5) / 2, top + height / 2 + 4, String(item + 1), MIDDLE) : "")
        );
      });
    });
    const line = `<path d="M${x} ${y}h${ROOM}" stroke="${pen.color("--system1-text")}" stroke-dasharray="4 3"/>`;
    return { markup: blocks.join("") + line, end: y + BINS };
  };
  return [
    paragraph(pen, summary, ROOM, { size: 11, bold: true, color: pen.color("--system1-text") }),
    figure,
    paragraph(pen, text.capacity(formatCount(capacity), formatPercent(utilization)), ROOM, {
      size: 11,
      color: pen.color("--text-dim"),
    }),
    ...quotesOf(turn).map((quote) => paragraph(pen, quote, ROOM, { size: 12, color: pen.color("--text") })),
  ];
}

interface Style {
  size: number;
  color: string;
  bold?: boolean;
  end?: boolean;
  middle?: boolean;
}

const MIDDLE: Style = { size: 11, bold: true, color: "#ffffff", middle: true };

function label(x: number, y: number, words: string, { size, color, bold, end, middle }: Style): string {
  const anchor = end ? ' text-anchor="end"' : middle ? ' text-anchor="middle"' : "";
  return `<text x="${round(x)}" y="${round(y)}" font-size="${size}"${bold ? ' font-weight="600"' : ""}${anchor} fill="${color}">${escaped(words)}</text>`;
}

function rect(
  x: number,
  y: number,
  width: number,
  height: number,
  { fill, stroke, dash, opacity }: { fill: string; stroke?: string; dash?: boolean; opacity?: number },
): string {
  const border = stroke ? ` stroke="${stroke}"${dash ? ' stroke-dasharray="4 3"' : ""}` : "";
  const see = opacity === undefined ? "" : ` fill-opacity="${opacity}"`;
  return `<rect x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" rx="3" fill="${fill}"${see}${border}/>`;
}

function paragraph(pen: Pen, words: string, width: number, style: Style): Part {
  const lines = wrapped(pen, words, width, style.size, style.bold ?? false);
  const leading = Math.round((style.size / 13) * LINE);
  return (x, y) => ({
    markup: lines.map((line, i) => label(x, y + style.size + i * leading, line, style)).join(""),
    end: y + lines.length * leading,
  });
}

function boxed(pen: Pen, words: string, fill: string, color: string): Part {
  const inside = paragraph(pen, words, ROOM - 16, { size: 12, bold: true, color });
  return (x, y) => {
    const { markup, end } = inside(x + 8, y + 6);
    return { markup: rect(x, y, ROOM, end - y + 6, { fill }) + markup, end: end + 6 };
  };
}

/** Lines that fit; a word that is wider than a line is broken. */
export function wrapped(pen: Pen, words: string, width: number, size: number, bold: boolean): string[] {
  const fits = (line: string) => pen.measure(line, size, bold) <= width;
  const lines: string[] = [];
  let line = "";
  for (const word of words.split(/\s+/).filter(Boolean)) {
    const longer = line ? `${line} ${word}` : word;
    if (fits(longer)) {
      line = longer;
      continue;
    }
    if (line) lines.push(line);
    line = "";
    for (const letter of word) {
      if (line && !fits(line + letter)) {
        lines.push(line);
        line = "";
      }
      line += letter;
    }
  }
  return [...lines, line];
}

function fitted(pen: Pen, words: string, width: number): string {
  const [first = "", ...rest] = wrapped(pen, words, width, 12, false);
  return rest.length > 0 ? `${first}…` : first;
}

const round = (value: number) => Math.round(value * 10) / 10;

function escaped(words: string): string {
  return words.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
