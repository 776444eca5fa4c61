/** What fewer bits cost a loaded model: perplexity and the best token, beside the same weights as stored. */
import { Button, Progress } from "@mantine/core";
import type { ModelInfo } from "../../../src/worker/loadProtocol";
import { ErrorCard } from "../../components/ErrorCard";
import { formatCount } from "../../format";
import { useJob } from "../../stores/jobStore";
import { measureWeightError, stopMeasuring, useWeightErrors } from "../../stores/weightErrorStore";
import { strings } from "../../strings";
import classes from "./WeightErrorLine.module.css";

const text = strings.models.loaded.error;

/** Models that know nothing of the text are lost in thousands. */
const figure = (perplexity: number) => (perplexity < 1000 ? perplexity.toPrecision(4) : formatCount(perplexity));

export function WeightErrorLine({ model: { id, weights } }: { model: ModelInfo }) {
  const { errors, measuring, failed } = useWeightErrors();
  const isBusy = useJob(({ job }) => job !== undefined);
  if (weights === "stored") return null;
  const error = errors[id];
  if (measuring?.id === id) {
    return (
      <div className={classes.line} role="status">
        <span>{text.measuring}</span>
        <Progress className={classes.bar} size="sm" value={100 * measuring.share} aria-label={text.progress} />
        <Button size="compact-xs" variant="default" onClick={stopMeasuring}>
          {text.stop}
        </Button>
      </div>
    );
  }
  const share = error && (100 * (error.perplexity - error.storedPerplexity)) / error.storedPerplexity;
  return (
    <div className={classes.line}>
      {error && share !== undefined && (
        <p>
          {text.found(weights, {
            perplexity: figure(error.perplexity),
            stored: figure(error.storedPerplexity),
            change: `${share < 0 ? "−" : "+"}${Math.abs(share).toFixed(2)}%`,
            agreement: `${(100 * error.agreement).toFixed(1)}%`,
            tokens: error.tokens,
          })}
        </p>
      )}
      <Button
        size="compact-xs"
        variant="default"
        disabled={isBusy}
        title={text.help}
        onClick={() => void measureWeightError(id)}
      >
        {error ? text.again : text.measure(weights)}
      </Button>
      {!error && <p>{text.help}</p>}
      {failed?.id === id && <ErrorCard problem={failed.problem} />}
    </div>
  );
}
