/** The moments of a dual-system run that a person steps through: what happened, without the single tokens. */
import type { TraceEvent } from "../../src/index";

export type StepEvent = Exclude<
  TraceEvent,
  { type: "runStarted" } | { type: "system1Started" } | { type: "system2Token" } | { type: "system1Token" }
>;

export interface RunStep {
  event: StepEvent;
  /** Events of the run that have happened when the step is seen. */
  events: number;
}

/** Bins begin to be read with the step before, and a run ends with its answer. */
export function stepsOf(events: readonly TraceEvent[]): RunStep[] {
  const steps: RunStep[] = [];
  for (const [i, event] of events.entries()) {
    const last = steps.at(-1);
    switch (event.type) {
      case "runStarted":
      case "system2Token":
      case "system1Token":
        break;
      case "system1Started":
        if (last) last.events = i + 1;
        break;
      case "runFinished":
        if (last?.event.type === "answer") last.events = i + 1;
        else steps.push({ event, events: i + 1 });
        break;
      default:
        steps.push({ event, events: i + 1 });
    }
  }
  return steps;
}
