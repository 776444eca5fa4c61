/** The same question without and with System 1, side by side: how System 2's context fills, and how it ends. */
import { useReducedMotion } from "@mantine/hooks";
import { useEffect, useMemo, useState } from "react";
import { Frame } from "../../components/Frame";
import { usePlayback } from "../../components/playback";
import { type Table, TableTwin } from "../../components/TableTwin";
import { Transport } from "../../components/Transport";
import { parseDualTrace } from "../../engine/dualTrace";
import { foldEvents, type RunView } from "../../engine/runView";
import { fetchTrace } from "../../engine/shippedTrace";
import { formatCount } from "../../format";
import { strings } from "../../strings";
import classes from "./Duel.module.css";
import { type ContextKind, type ContextPart, contextParts } from "./duel";
import { gradeOf } from "./grade";
import { RECORDED_RUNS } from "./recorded";

const text = strings.tour.duel;

/** A class reads along. */
const SLOW = 0.5;

interface Side {
  name: string;
  view: RunView;
  parts: readonly ContextPart[];
  turns: number;
}

export function Duel() {
  const sides = useSides();
  if (!sides || sides.length === 0) return null;
  return <Played sides={sides} />;
}

function Played({ sides }: { sides: readonly Side[] }) {
  const length = Math.max(...sides.map(({ turns }) => turns));
  const still = useReducedMotion(undefined, { getInitialValueInEffect: false });
  const playback = usePlayback(length, sides, still ? undefined : 0);
  const { toggle, position } = playback;
  // biome-ignore lint/correctness/useExhaustiveDependencies: it begins once, by itself.
  useEffect(() => {
    if (still) return;
    playback.setSpeed(SLOW);
    toggle();
  }, []);
  const scale = Math.max(...sides.map(({ view }) => view.ledger.system2ContextTokens));
  const kinds = [...new Set(sides.flatMap(({ parts }) => parts.map(({ kind }) => kind)))];
  const marks = Array.from({ length }, (_, i) => ({ at: i + 1, label: text.turn(i + 1), color: "var(--system2)" }));
  return (
    <Frame title={text.title} hint={text.hint}>
      <p className={classes.question}>{sides[0]?.view.question}</p>
      <ul className={classes.legend}>
        {kinds.map((kind) => (
          <li key={kind}>
            <span className={classes.swatch} data-kind={kind} /> {text.kinds[kind]}
          </li>
        ))}
      </ul>
      {sides.map((side) => (
        <Row key={side.name} side={side} position={position} scale={scale} />
      ))}
      <div className={classes.transport}>
        <Transport playback={playback} marks={marks} now={text.now} />
      </div>
      <TableTwin caption={text.title} table={() => tableOf(sides)} />
    </Frame>
  );
}

function Row({ side, position, scale }: { side: Side; position: number; scale: number }) {
  const { name, view, parts, turns } = side;
  const shown = parts.filter(({ turn }) => turn <= position);
  const tokens = shown.reduce((sum, part) => sum + part.tokens, 0);
  const isOver = position >= turns;
  const isFull = view.finished?.reason === "contextLimit";
  const answer = view.turns.at(-1)?.answer;
  return (
    <section className={classes.row} aria-label={name}>
      <h3 className={classes.name}>{name}</h3>
      <span className={classes.tokens}>{text.tokens(formatCount(tokens))}</span>
      <div className={classes.track} data-full={isFull && isOver}>
        {shown.map(({ kind, tokens: own, turn }, i) => (
          <span
            key={i}
            className={classes.part}
            data-kind={kind}
            style={{ width: `${(100 * own) / scale}%` }}
            title={`${turn > 0 ? `${text.turn(turn)}: ` : ""}${text.kinds[kind]}, ${text.tokens(formatCount(own))}`}
          />
        ))}
      </div>
      <p className={classes.end} data-good={isOver && answer?.correct === true} data-bad={isOver && !answer?.correct}>
        {isOver ? endOf(view) : text.reading}
      </p>
    </section>
  );
}

function endOf(view: RunView): string {
  const answer = view.turns.at(-1)?.answer;
  if (answer) return text.answered(answer.text, gradeOf(answer.correct, view.gold));
  return text.unanswered(strings.dualSystem.run.reasons[view.finished?.reason ?? "stopped"]);
}

function tableOf(sides: readonly Side[]): Table {
  return {
    head: text.table.head,
    rows: sides.flatMap(({ name, parts }) =>
      parts.map(({ kind, tokens, turn }) => [name, turn, text.kinds[kind satisfies ContextKind], tokens]),
    ),
  };
}

function viewOf(found: string): RunView | undefined {
  try {
    return foldEvents(undefined, parseDualTrace(found).events);
  } catch {
    // A damaged file is as good as none.
    return undefined;
  }
}

/** Alone first: the trouble comes before its cure. Undefined until both runs are there. */
function useSides(): readonly Side[] | undefined {
  const [texts, setTexts] = useState<readonly string[]>();
  useEffect(() => {
    let left = false;
    void Promise.all(RECORDED_RUNS.map(({ file }) => fetchTrace(file))).then((fetched) => {
      const whole = fetched.filter((found) => found !== undefined);
      if (!left) setTexts(whole);
    });
    return () => {
      left = true;
    };
  }, []);
  return useMemo(() => {
    if (!texts) return undefined;
    const sides = texts.flatMap((found): Side[] => {
      const view = viewOf(found);
      if (!view) return [];
      const name = view.settings.useSystem1 ? text.both : text.alone;
      return [{ name, view, parts: contextParts(view), turns: view.turns.length }];
    });
    return sides.sort((a, b) => Number(a.view.settings.useSystem1) - Number(b.view.settings.useSystem1));
  }, [texts]);
}
