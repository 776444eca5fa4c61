/** What comes out on held-out questions, at the last look. */
import { Frame } from "../../components/Frame";
import type { StageView } from "../../engine/trainingView";
import { formatCount, formatPercent } from "../../format";
import { strings } from "../../strings";
import classes from "./Samples.module.css";

const text = strings.linkTraining.samples;

export function Samples({ view }: { view: StageView }) {
  const last = view.validations.at(-1);
  const hint = view.started.stage === "inner" ? text.innerHint : text.hint;
  return (
    <Frame title={text.title} hint={hint} {...(last && { tools: <Headline validation={last} /> })}>
      {last ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard.
        <section className={classes.scroller} tabIndex={0} aria-label={text.title}>
          <table className={classes.table}>
            <thead>
              <tr>
                <th scope="col">{text.question}</th>
                <th scope="col">{text.target}</th>
                <th scope="col">{text.output}</th>
                <th scope="col" aria-label={`${text.right}, ${text.wrong}`} />
              </tr>
            </thead>
            <tbody>
              {last.samples.map(({ question, target, output, correct }, i) => (
                <tr key={i}>
                  <th scope="row">{questionWords(question)}</th>
                  <td>{target.trim()}</td>
                  <td>{output.trim() || "–"}</td>
                  <td data-correct={correct}>{correct ? text.right : text.wrong}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      ) : (
        <p className={classes.none}>{text.none}</p>
      )}
    </Frame>
  );
}

function Headline({ validation }: { validation: NonNullable<StageView["validations"][number]> }) {
  const { step, accuracy, n } = validation;
  return (
    <span className={classes.headline}>
      {accuracy !== undefined && `${text.headline(formatPercent(accuracy), formatCount(n))}, `}
      {text.at(formatCount(step))}
    </span>
  );
}

/** Relay's questions tell all facts; their first line is the chain. */
const questionWords = (question: string) => (question.split("\n")[0] ?? question).replace(/^Chain from/, "").trim();
