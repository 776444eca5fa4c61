/** System 2 in one turn: what it gets to read, its thought, the call with its purpose or the answer, and its context. */
import { IconCheck, IconX } from "@tabler/icons-react";
import { rawTokensOf, splitStream, type TurnView } from "../../engine/runView";
import { formatCount } from "../../format";
import { strings } from "../../strings";
import { gradeOf } from "./grade";
import { CellLabel } from "./LaneLabel";
import { QuoteText } from "./QuoteText";
import { Selectable } from "./Selectable";
import classes from "./System2Cell.module.css";
import type { TurnColumnProps } from "./TurnColumn";

const text = strings.dualSystem.run;

export function System2Cell(props: TurnColumnProps) {
  const { turn, number, question, gold, incoming, useSystem1, active, context, without, scale } = props;
  return (
    <>
      <CellLabel lane="system2" />
      {question && (
        <div className={classes.question}>
          <span className={classes.tag}>{text.asked}</span>
          <p className={classes.asked}>{question}</p>
        </div>
      )}
      {incoming?.refined && <Incoming turn={incoming} useSystem1={useSystem1} />}
      {incoming?.toolError !== undefined && !incoming.refined && (
        <div className={classes.error}>
          <span className={classes.tag}>{text.toolError}</span>
          <p className={classes.words}>{incoming.toolError}</p>
        </div>
      )}
      {turn && <Words turn={turn} number={number} gold={gold} active={active} />}
      {context !== undefined && without !== undefined && (
        <ContextMeter context={context} without={without} scale={scale} />
      )}
    </>
  );
}

function Incoming({ turn, useSystem1 }: { turn: TurnView; useSystem1: boolean }) {
  const { text: refined, tokens } = turn.refined!;
  const raw = rawTokensOf(turn);
  return (
    <Selectable
      selection={{ part: "refined", turn: turn.turn }}
      label={useSystem1 ? text.refined : text.raw}
      className={useSystem1 ? classes.refined : classes.raw}
    >
      <span className={classes.tag}>
        {useSystem1 ? text.refined : text.raw}
        <span className={classes.tagCost}>
          {useSystem1 ? text.refinedCost(formatCount(tokens), formatCount(raw)) : text.rawCost(formatCount(tokens))}
        </span>
      </span>
      {useSystem1 ? (
        <div className={classes.words}>
          <QuoteText text={refined} turn={turn.turn} documents={turn.documents ?? []} />
        </div>
      ) : (
        <p className={classes.rawText}>{refined}</p>
      )}
    </Selectable>
  );
}

interface WordsProps {
  turn: TurnView;
  number: number;
  gold: readonly string[] | undefined;
  active: boolean;
}

function Words({ turn, number, gold, active }: WordsProps) {
  const { message, call, answer } = turn;
  const stream = splitStream(turn.streamed);
  const thought = message ? message.thought : stream.thought;
  const writing = active && !message;
  if (!thought && !writing && !stream.rest && !call && !answer) return null;
  return (
    <Selectable
      selection={{ part: "system2", turn: turn.turn }}
      label={strings.dualSystem.inspector.system2(number)}
      className={classes.own}
    >
      {(thought || writing) && (
        <div>
          <span className={classes.tag}>{text.thought}</span>
          <p className={classes.words}>
            {thought}
            {writing && !stream.rest && <span className={classes.caret} />}
          </p>
        </div>
      )}
      {!call && stream.rest && !answer && (
        <pre className={classes.stream}>
          {stream.rest}
          {writing && <span className={classes.caret} />}
        </pre>
      )}
      {call && (
        <div className={classes.call}>
          <div className={classes.function}>
            <b>{call.name}</b>
            {Object.entries(call.arguments).map(([name, value]) => (
              <Argument key={name} name={name} value={value} />
            ))}
          </div>
          <p className={classes.purpose}>
            <span className={classes.tag}>{message?.edited ? strings.dualSystem.branch.edited : text.purpose}</span>
            {call.purpose}
          </p>
        </div>
      )}
      {answer && <Answer answer={answer} gold={gold} />}
    </Selectable>
  );
}

/** Programs keep their lines; short texts stand in quotes. */
function Argument({ name, value }: { name: string; value: unknown }) {
  if (name === "code") return <pre className={classes.code}>{String(value)}</pre>;
  return <span> {typeof value === "string" ? `“${value}”` : `${name} ${JSON.stringify(value)}`}</span>;
}

function Answer({ answer, gold }: { answer: NonNullable<TurnView["answer"]>; gold: readonly string[] | undefined }) {
  return (
    <div className={classes.answer} data-correct={answer.correct}>
      <span className={classes.tag}>{text.answer}</span>
      <p className={classes.answerText} data-testid="answer">
        {answer.text}
      </p>
      <p className={classes.grade} data-testid="grade">
        {answer.correct !== undefined && (answer.correct ? <IconCheck size={15} /> : <IconX size={15} />)}
        {gradeOf(answer.correct, gold)}
      </p>
    </div>
  );
}

function ContextMeter({ context, without, scale }: { context: number; without: number; scale: number }) {
  const label = text.contextOf(formatCount(context), formatCount(without));
  return (
    <div className={classes.meter} title={label}>
      <span className={classes.meterText}>
        {text.context} <b>{formatCount(context)}</b>
      </span>
      <span className={classes.meterTrack}>
        <span className={classes.meterGhost} style={{ width: `${(100 * without) / scale}%` }} />
        <span className={classes.meterFill} style={{ width: `${(100 * context) / scale}%` }} />
      </span>
    </div>
  );
}
