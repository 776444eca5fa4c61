/** Says that the engine works for another room, and ends or halts that work. */
import { Button } from "@mantine/core";
import { type Job, useJob } from "../stores/jobStore";
import { strings } from "../strings";
import classes from "./BusyElsewhere.module.css";

const text = strings.busy;

export function BusyElsewhere({ own }: { own: Job | readonly Job[] }) {
  const { job, halt } = useJob();
  if (job === undefined || [own].flat().includes(job)) return null;
  return (
    <div className={classes.notice} role="status">
      <span>
        {text.jobs[job]} {text.waits}
      </span>
      <Button size="xs" variant="default" onClick={halt}>
        {job === "training" ? text.pause : text.stop}
      </Button>
    </div>
  );
}
