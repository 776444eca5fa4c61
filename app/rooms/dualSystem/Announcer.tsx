/** Tells screen readers how a run ended; everything before that would only be noise. */
import { VisuallyHidden } from "@mantine/core";
import type { RunView } from "../../engine/runView";
import { formatDuration } from "../../format";
import { useRun } from "../../stores/runStore";
import { strings } from "../../strings";
import { gradeOf } from "./grade";

export function Announcer() {
  const view = useRun((state) => (state.phase === "over" && state.origin === "live" ? state.view : undefined));
  return (
    <VisuallyHidden role="status" aria-live="polite">
      {view?.finished && announce(view)}
    </VisuallyHidden>
  );
}

function announce(view: RunView): string {
  const answer = view.turns.at(-1)?.answer;
  const { reason, ms } = view.finished!;
  if (!answer) return strings.dualSystem.run.finished(strings.dualSystem.run.reasons[reason], formatDuration(ms));
  return strings.dualSystem.run.announceAnswer(answer.text, gradeOf(answer.correct, view.gold), formatDuration(ms));
}
