/** The runs of this visit: choose which is drawn, and which two are compared. */
import { useEffect, useState } from "react";
import type { KeptRun, Pin } from "../../stores/runStore";
import { isBusy, pinRun, showRun, useRun } from "../../stores/runStore";
import { strings } from "../../strings";
import classes from "./RunList.module.css";

const text = strings.dualSystem.runs;
const PINS: readonly Pin[] = ["a", "b"];

export function RunList() {
  const { runs, shown, pins } = useRun();
  const busy = useRun(isBusy);
  const [open, setOpen] = useState(false);
  // Comparing begins with the second run.
  useEffect(() => {
    if (runs.length > 1) setOpen(true);
  }, [runs.length]);
  if (runs.length === 0) return null;
  return (
    <details className={classes.runs} open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className={classes.title}>{text.title(runs.length)}</summary>
      <p className={classes.hint}>{text.hint}</p>
      <ol className={classes.list}>
        {runs.map((run, i) => (
          <li key={run.id} className={classes.row}>
            <button
              type="button"
              className={classes.run}
              aria-pressed={run.id === shown}
              disabled={busy}
              onClick={() => showRun(run.id)}
            >
              <span className={classes.words}>
                {i + 1}. {run.view.question}
              </span>
              <span className={classes.detail}>{detailOf(run)}</span>
              <span className={classes.grade} data-correct={answerOf(run)?.correct}>
                {gradeWords(run)}
              </span>
            </button>
            {PINS.map((pin) => (
              <button
                key={pin}
                type="button"
                className={classes.pin}
                aria-pressed={pins[pin] === run.id}
                aria-label={text.pin(text.pins[pin], i + 1)}
                title={text.pin(text.pins[pin], i + 1)}
                onClick={() => pinRun(pin, run.id)}
              >
                {text.pins[pin]}
              </button>
            ))}
          </li>
        ))}
      </ol>
    </details>
  );
}

function answerOf({ view }: KeptRun) {
  return view.turns.at(-1)?.answer;
}

function gradeWords(run: KeptRun): string {
  const answer = answerOf(run);
  if (!answer) return text.noAnswer;
  return answer.correct === undefined ? answer.text : answer.correct ? text.right : text.wrong;
}

/** In what the run differs from a plain one. */
function detailOf({ view, origin }: KeptRun): string {
  const { settings, branch } = view;
  const { capacity, parallel, packing } = settings;
  return [
    origin !== "live" && strings.dualSystem.run.origin[origin],
    settings.useSystem1 ? text.capacity(capacity) : text.alone,
    parallel !== undefined && text.parallel(parallel),
    packing !== undefined && strings.dualSystem.settings.packing.algorithms[packing],
    branch && text.branch(branch.turn),
  ]
    .filter((part) => part !== false && part !== undefined)
    .join(" · ");
}
