/** What the same question costs with latent thoughts and with words, where both were run. */
import { Frame } from "../../components/Frame";
import { foldRecursion, type RecursionView } from "../../engine/recursionView";
import { formatCount, formatDuration, formatParameters } from "../../format";
import { type RecursionRun, useRecursion } from "../../stores/recursionStore";
import { strings } from "../../strings";
import classes from "./Meter.module.css";

const text = strings.latentRecursion.meter;
const PARTS = ["body", "head", "link"] as const;

export function Meter({ run }: { run: RecursionRun }) {
  const { runs } = useRecursion();
  const latent = latestOf(runs, run, "latent");
  const spoken = latestOf(runs, run, "text");
  if (!latent || !spoken) {
    return (
      <Frame title={text.title} hint={text.hint}>
        <p className={classes.empty}>{text.empty}</p>
      </Frame>
    );
  }
  const ledgers = [latent, spoken].map(({ finished }) => finished!.ledger);
  const sums = ledgers.map(({ multiplyAdds }) => PARTS.reduce((sum, part) => sum + multiplyAdds[part], 0));
  const most = Math.max(...sums);
  return (
    <Frame title={text.title} hint={`${text.hint} ${text.firstRun}`}>
      <table className={classes.table}>
        <thead>
          <tr>
            <th scope="col">{text.measure}</th>
            <th scope="col">{text.latent}</th>
            <th scope="col">{text.text}</th>
          </tr>
        </thead>
        <tbody>
          <tr>
            <th scope="row">{text.answer}</th>
            {[latent, spoken].map((view, i) => (
              <td key={i} data-correct={view.answer?.correct}>
                {view.answer?.answer ?? strings.latentRecursion.laps.noAnswer}
              </td>
            ))}
          </tr>
          <Row label={text.tokens} values={ledgers.map(({ textTokens }) => textTokens)} />
          <Row label={text.latentSteps} values={ledgers.map(({ latentSteps }) => latentSteps)} />
          <Row label={text.read} values={ledgers.map(({ promptTokens }) => promptTokens)} />
          <Row label={text.ms} values={ledgers.map(({ ms }) => ms)} format={formatDuration} />
          <tr>
            <th scope="row" title={text.partsHint}>
              {text.multiplyAdds}
              <span className={classes.key}>
                {PARTS.map((part) => (
                  <span key={part} data-part={part}>
                    {text.parts[part]}
                  </span>
                ))}
              </span>
            </th>
            {ledgers.map(({ multiplyAdds }, i) => (
              <td key={i}>
                {formatParameters(sums[i] as number)}
                <span className={classes.bar}>
                  {PARTS.map((part) => (
                    <span
                      key={part}
                      data-part={part}
                      title={`${text.parts[part]}: ${formatParameters(multiplyAdds[part])}`}
                      style={{ width: `${(100 * multiplyAdds[part]) / most}%` }}
                    />
                  ))}
                </span>
              </td>
            ))}
          </tr>
        </tbody>
      </table>
    </Frame>
  );
}

interface RowProps {
  label: string;
  values: readonly number[];
  format?: (value: number) => string;
}

function Row({ label, values, format = formatCount }: RowProps) {
  const most = Math.max(...values, 1e-9);
  return (
    <tr>
      <th scope="row">{label}</th>
      {values.map((value, i) => (
        <td key={i}>
          {format(value)}
          <span className={classes.bar}>
            <span data-part="whole" style={{ width: `${(100 * value) / most}%` }} />
          </span>
        </td>
      ))}
    </tr>
  );
}

/** The last finished run of a kind with the question and the rounds of another. */
function latestOf(
  runs: readonly RecursionRun[],
  { relay, events }: RecursionRun,
  passing: "latent" | "text",
): RecursionView | undefined {
  const rounds = roundsOf(events);
  const question = JSON.stringify(relay);
  for (const run of [...runs].reverse()) {
    const first = run.events[0];
    if (first?.type !== "recursionStarted" || first.passing !== passing || first.settings.rounds !== rounds) continue;
    if (JSON.stringify(run.relay) !== question) continue;
    const view = foldRecursion(run.events);
    if (view?.finished?.reason === "answer") return view;
  }
  return undefined;
}

function roundsOf([first]: RecursionRun["events"]): number | undefined {
  return first?.type === "recursionStarted" ? first.settings.rounds : undefined;
}
