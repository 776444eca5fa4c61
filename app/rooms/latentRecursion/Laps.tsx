/** Every turn of every round: one mark a thought, and what the last agent would answer after each lap. */
import { Loader } from "@mantine/core";
import { Fragment } from "react";
import { AgentMark } from "../../components/AgentMark";
import { roundShare } from "../../components/agentColor";
import { thoughtKey } from "../../engine/latents";
import type { AgentTurn, RecursionView, Thought } from "../../engine/recursionView";
import { formatPlural } from "../../format";
import { type LatentSelection, selectLatent, useLatents } from "../../stores/latentStore";
import { strings } from "../../strings";
import classes from "./Laps.module.css";
import { readingOf } from "./reading";

const text = strings.latentRecursion.laps;

export function Laps({ view, running }: { view: RecursionView; running: boolean }) {
  const { agents, settings, passing, gold } = view.started;
  const rounds = Array.from({ length: settings.rounds }, (_, i) => i + 1).filter(
    (round) => passing !== "alone" || round === settings.rounds,
  );
  const last = view.turns.at(-1);
  return (
    <div className={classes.laps} style={{ "--agents": agents.length } as React.CSSProperties}>
      {rounds.map((round) => (
        <Fragment key={round}>
          <h3 className={classes.round}>{text.round(round)}</h3>
          {agents.map(({ role }, agent) => {
            const turn = view.turns.find((own) => own.round === round && own.agent === agent);
            return (
              <Cell
                key={agent}
                view={view}
                turn={turn}
                role={role}
                agent={agent}
                round={round}
                active={running && turn !== undefined && turn === last}
              />
            );
          })}
          <Answer view={view} round={round} gold={gold} />
        </Fragment>
      ))}
    </div>
  );
}

interface CellProps {
  view: RecursionView;
  turn: AgentTurn | undefined;
  role: string;
  agent: number;
  round: number;
  active: boolean;
}

function Cell({ view, turn, role, agent, round, active }: CellProps) {
  const { settings, passing, agents } = view.started;
  const share = roundShare(round, settings.rounds);
  const selected = useLatents(
    ({ selected: own }) => own?.part === "turn" && own.round === round && own.agent === agent,
  );
  const answers = agent === agents.length - 1 && round === settings.rounds;
  return (
    <div className={classes.cell} data-empty={!turn} data-active={active} data-selected={selected}>
      <button
        type="button"
        className={classes.name}
        aria-label={text.turn(role, round)}
        aria-pressed={selected}
        disabled={!turn}
        onClick={() => selectLatent({ part: "turn", round, agent })}
      >
        <AgentMark agent={agent} share={share} /> {role}
        {active && <Loader size={11} color="var(--text-dim)" />}
      </button>
      {turn && turn.thoughts.length > 0 && (
        <ol className={classes.thoughts}>
          {turn.thoughts.map((thought) => (
            <ThoughtMark key={thought.step} thought={thought} role={role} share={share} />
          ))}
        </ol>
      )}
      {turn?.text && (
        <p className={classes.said}>
          “{turn.text.text.trim()}” <span>{text.said(formatPlural(turn.text.tokens, "token"))}</span>
        </p>
      )}
      {turn && answers && view.streamed && <p className={classes.said}>“{view.streamed.trim()}”</p>}
      {!turn && <span className={classes.empty}>{passing === "alone" ? text.silent : text.notYet}</span>}
    </div>
  );
}

function ThoughtMark({ thought, role, share }: { thought: Thought; role: string; share: number }) {
  const { round, agent, step, lens } = thought;
  const selection: LatentSelection = { part: "vector", key: thoughtKey(round, agent, step) };
  const selected = useLatents(({ selected: own }) => own?.part === "vector" && own.key === selection.key);
  const reading = readingOf(lens);
  return (
    <li>
      <button
        type="button"
        className={classes.thought}
        aria-label={text.thought(role, round, step + 1, reading)}
        aria-pressed={selected}
        onClick={() => selectLatent(selection)}
      >
        <AgentMark agent={agent} share={share} size={15} />
        <span>{reading}</span>
      </button>
    </li>
  );
}

interface AnswerProps {
  view: RecursionView;
  round: number;
  gold: string | undefined;
}

function Answer({ view, round, gold }: AnswerProps) {
  const found = view.answers.get(round);
  const isFinal = round === view.started.settings.rounds;
  return (
    <div className={classes.answer} data-final={isFinal} data-correct={found?.correct}>
      <span>{isFinal ? text.finalAnswer : text.answer}</span>
      {found ? (
        <b title={found.correct === false && gold ? text.gold(gold) : undefined}>
          {found.answer ?? text.noAnswer}{" "}
          {found.answer !== undefined && found.correct !== undefined && (
            <span className={classes.grade}>{found.correct ? text.correct : text.wrong}</span>
          )}
        </b>
      ) : (
        <b className={classes.empty}>{text.notYet}</b>
      )}
    </div>
  );
}
