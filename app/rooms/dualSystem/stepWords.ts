/** What happens in a step of a run, in a few words, and the marks of a run's turns. */
import type { TransportMark } from "../../components/Transport";
import type { RunStep, StepEvent } from "../../engine/runSteps";
import { formatCount, formatPlural } from "../../format";
import { strings } from "../../strings";

const text = strings.dualSystem.steps;

export function stepWords(event: StepEvent | undefined): string {
  if (!event) return text.start;
  switch (event.type) {
    case "turnStarted":
      return text.reads(event.turn, formatCount(event.promptTokens));
    case "system2Message":
      return event.edited ? text.edited(event.turn) : text.writes(event.turn, formatCount(event.outputTokens));
    case "toolCall":
      return text.calls(event.turn, event.name);
    case "toolResult":
      return text.returns(event.turn, formatPlural(event.documents.length, "document"));
    case "toolError":
      return text.fails(event.turn);
    case "packed":
      return text.packs(event.turn, formatPlural(event.bins.length, "bin"));
    case "system1Output":
      return text.refines(event.turn, event.bin + 1);
    case "refinedInfo":
      return text.hands(event.turn, formatCount(event.tokens));
    case "answer":
      return text.answers(event.text);
    case "runFinished":
      return strings.dualSystem.run.reasons[event.reason];
  }
}

export function stepMarks(steps: readonly RunStep[]): TransportMark[] {
  return steps.flatMap(({ event }, i) => {
    const at = i + 1;
    if (event.type === "turnStarted") return [{ at, label: stepWords(event), color: "var(--system2)" }];
    if (event.type === "toolError") return [{ at, label: stepWords(event), color: "var(--bad)" }];
    if (event.type !== "answer") return [];
    return [{ at, label: stepWords(event), color: event.correct === false ? "var(--bad)" : "var(--good)" }];
  });
}
