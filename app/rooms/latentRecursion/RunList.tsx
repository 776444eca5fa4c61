/** The runs of this visit: choose which is drawn, save it, open one from a file. */
import { Button } from "@mantine/core";
import { IconDownload, IconFolderOpen } from "@tabler/icons-react";
import { useState } from "react";
import { download } from "../../components/download";
import { FilePicker } from "../../components/FilePicker";
import { LabOnly } from "../../components/LabOnly";
import { writeRecursionTrace } from "../../engine/recursionTrace";
import { foldRecursion } from "../../engine/recursionView";
import { openRecursionTrace, type RecursionRun, showRun, useRecursion } from "../../stores/recursionStore";
import { strings } from "../../strings";
import controls from "./ControlPanel.module.css";
import classes from "./RunList.module.css";

const text = strings.latentRecursion.runs;
const { passings } = strings.latentRecursion.run;

export function RunList() {
  const { runs, shown } = useRecursion();
  const [problem, setProblem] = useState<string>();
  const run = runs.find(({ id }) => id === shown);
  return (
    <div>
      <h2 className={controls.heading}>{text.title}</h2>
      {runs.length > 0 && (
        <ol className={classes.list}>
          {runs.map((item) => (
            <li key={item.id}>
              <button
                type="button"
                className={classes.run}
                aria-pressed={item.id === shown}
                onClick={() => showRun(item.id)}
              >
                <RunWords run={item} />
              </button>
            </li>
          ))}
        </ol>
      )}
      <LabOnly>
        <div className={controls.actions}>
          <FilePicker
            accept=".json,application/json"
            onFile={async (file) => {
              try {
                openRecursionTrace(await file.text(), "file");
                setProblem(undefined);
              } catch (error) {
                setProblem((error as Error).message);
              }
            }}
          >
            {(open) => (
              <Button size="xs" variant="default" leftSection={<IconFolderOpen size={14} />} onClick={open}>
                {text.open}
              </Button>
            )}
          </FilePicker>
          {run?.isOver && (
            <Button
              size="xs"
              variant="default"
              leftSection={<IconDownload size={14} />}
              onClick={() =>
                download("latent-recursion.json", writeRecursionTrace(run.relay, run.events), "application/json")
              }
            >
              {text.save}
            </Button>
          )}
        </div>
      </LabOnly>
      {problem && (
        <p className={controls.problem} role="alert">
          {text.openFailed} {problem}
        </p>
      )}
    </div>
  );
}

function RunWords({ run }: { run: RecursionRun }) {
  const view = foldRecursion(run.events);
  if (!view) return <span>{text.running}</span>;
  const { passing, innerLink, outerLink, settings } = view.started;
  const links =
    passing !== "latent" ? "" : innerLink === outerLink ? ` · ${innerLink}` : ` · ${innerLink} + ${outerLink}`;
  return (
    <>
      <span className={classes.words}>
        {text.describe(passings[passing], links, settings.rounds)}
        {run.origin !== "live" && ` · ${text[run.origin]}`}
      </span>
      <span className={classes.grade} data-correct={view.answer?.correct}>
        {gradeOf(run, view.finished?.reason, view.answer?.correct)}
      </span>
    </>
  );
}

function gradeOf(run: RecursionRun, reason: string | undefined, correct: boolean | undefined): string {
  if (!run.isOver) return text.running;
  if (reason === "stopped") return text.stopped;
  if (reason !== "answer") return text.failed;
  return correct === undefined ? "" : correct ? text.right : text.wrong;
}
