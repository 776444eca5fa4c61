/** Trained links beside untrained ones, text, and the last agent alone, on the same unseen questions. */
import { NativeSelect } from "@mantine/core";
import { ErrorCard } from "../../components/ErrorCard";
import { ExportMenu } from "../../components/ExportMenu";
import { Frame } from "../../components/Frame";
import { LabOnly } from "../../components/LabOnly";
import { NumberField } from "../../components/SettingsGroup";
import { StartRow } from "../../components/StartRow";
import { formatCount, formatDuration, formatPercent } from "../../format";
import {
  type Contender,
  evaluateLinks,
  type Measured,
  stopEvaluation,
  useEvaluation,
} from "../../stores/evaluationStore";
import { useLinks } from "../../stores/linksStore";
import { fitsRing, useRingAgents } from "../../stores/ringStore";
import { strings } from "../../strings";
import classes from "./Evaluation.module.css";
import { DEFAULTS, LIMITS, type RoomSearch, SETS } from "./search";

const text = strings.linkTraining.evaluation;
/** Controls that need no training, in the order of the table. */
const CONTROLS = ["identity", "zero", "shuffled", "solver", "text"] as const;

interface EvaluationProps {
  search: RoomSearch;
  update: (change: Partial<RoomSearch>) => void;
  /** The engine works for something else, or cannot. */
  disabled: boolean;
  /** m of the last training. */
  latentSteps: number;
}

export function Evaluation({ search, update, disabled, latentSteps }: EvaluationProps) {
  const { sets } = useLinks();
  const state = useEvaluation();
  const { phase, measured, contenders, settings, done, problem } = state;
  const ring = useRingAgents();
  const fitting = SETS.filter((id) => fitsRing(sets[id], ring));
  const set = fitting.includes(search.set) ? search.set : fitting[0];
  const busy = phase !== "idle";
  const start = () => {
    const rounds = Array.from({ length: search.rounds }, (_, i) => i + 1);
    const m = (set && sets[set]?.latentSteps) ?? latentSteps;
    void evaluateLinks(contendersOf(set, fitsRing(sets.began, ring)), {
      n: search.n,
      rounds,
      latentSteps: m,
      seed: search.sample,
    });
  };
  const total = contenders.length * (settings?.n ?? 1);
  const answered = measured.length * (settings?.n ?? 1) + (busy ? done : 0);
  return (
    <Frame
      title={text.title}
      hint={text.hint}
      {...(measured.length > 0 && {
        tools: <ExportMenu name="comparison" title={text.title} table={() => tableOf(measured)} />,
      })}
    >
      <StartRow
        title={text.title}
        phase={phase}
        start={text.start}
        onStart={disabled || !set ? undefined : start}
        stop={text.stop}
        onStop={stopEvaluation}
        progress={{ done: answered, total }}
        progressWords={text.progress(formatCount(answered), formatCount(total))}
      >
        <NumberField
          label={text.n}
          help=""
          value={search.n}
          limits={LIMITS.n}
          disabled={busy}
          onChange={(n) => update({ n })}
        />
        <LabOnly changed={search.rounds !== DEFAULTS.rounds}>
          <NumberField
            label={text.rounds}
            help=""
            value={search.rounds}
            limits={LIMITS.rounds}
            disabled={busy}
            onChange={(rounds) => update({ rounds })}
          />
        </LabOnly>
        <LabOnly changed={search.sample !== DEFAULTS.sample}>
          <NumberField
            label={text.seed}
            help=""
            value={search.sample}
            limits={LIMITS.sample}
            disabled={busy}
            onChange={(sample) => update({ sample })}
          />
        </LabOnly>
        <NativeSelect
          size="xs"
          label={text.set}
          disabled={busy}
          value={set ?? search.set}
          data={(fitting.length > 0 ? fitting : [search.set]).map((id) => ({ value: id, label: text.sets[id] }))}
          onChange={(event) => update({ set: event.currentTarget.value as RoomSearch["set"] })}
        />
      </StartRow>
      {problem && <ErrorCard problem={problem} />}
      {measured.length > 0 && settings ? (
        <Results measured={measured} n={settings.n} seed={settings.seed} />
      ) : (
        !busy && <p className={classes.empty}>{text.empty}</p>
      )}
    </Frame>
  );
}

/** What is measured: before and after first, then the controls. */
function contendersOf(set: string | undefined, hasBegan: boolean): Contender[] {
  if (!set) return [];
  return [
    ...(hasBegan && set !== "shipped" ? [{ links: "began", condition: "trained" }] : []),
    { links: set, condition: "trained" },
    ...CONTROLS.map((condition) => ({ links: set, condition })),
  ];
}

function nameOf({ links, condition }: Contender): string {
  if (links === "began") return text.contenders.began;
  return text.contenders[condition as keyof typeof text.contenders];
}

function Results({ measured, n, seed }: { measured: readonly Measured[]; n: number; seed: number }) {
  const rounds = measured[0]?.rows.map((row) => row.rounds) ?? [];
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard.
    <section className={classes.scroller} tabIndex={0} aria-label={text.title}>
      <table className={classes.table}>
        <caption>{text.measured(formatCount(n), String(seed))}</caption>
        <thead>
          <tr>
            <th scope="col">{text.links}</th>
            {rounds.map((round) => (
              <th key={round} scope="col">
                {text.after(round)}
              </th>
            ))}
            <th scope="col">{text.tokens}</th>
            <th scope="col">{text.steps}</th>
            <th scope="col">{text.ms}</th>
          </tr>
        </thead>
        <tbody>
          {measured.map((contender, i) => {
            const last = contender.rows.at(-1);
            return (
              <tr key={i} data-after={contender.condition === "trained" && contender.links !== "began"}>
                <th scope="row">{nameOf(contender)}</th>
                {contender.rows.map(({ rounds: round, accuracy, ci95 }) => (
                  <td key={round}>
                    <b>{formatPercent(accuracy)}</b>{" "}
                    <span className={classes.interval}>
                      {text.interval(formatPercent(ci95[0]), formatPercent(ci95[1]))}
                    </span>
                    <span className={classes.bar}>
                      <span style={{ left: `${100 * ci95[0]}%`, right: `${100 - 100 * ci95[1]}%` }} />
                      <i style={{ left: `${100 * accuracy}%` }} />
                    </span>
                  </td>
                ))}
                <td>{last?.textTokens.toFixed(1)}</td>
                <td>{last?.latentSteps.toFixed(1)}</td>
                <td>{last && formatDuration(last.ms)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}

function tableOf(measured: readonly Measured[]) {
  return {
    head: [text.links, text.rounds, text.n, "accuracy", "low", "high", text.tokens, text.steps, "ms"],
    rows: measured.flatMap((contender) =>
      contender.rows.map(({ rounds, n, accuracy, ci95, textTokens, latentSteps, ms }) => [
        nameOf(contender),
        rounds,
        n,
        accuracy,
        ci95[0],
        ci95[1],
        textTokens,
        latentSteps,
        ms,
      ]),
    ),
  };
}
