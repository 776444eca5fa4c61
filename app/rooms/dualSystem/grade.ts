/** The sentence that grades an answer. */
import { strings } from "../../strings";

/** `correct` is undefined when no gold answer is known. */
export function gradeOf(correct: boolean | undefined, gold: readonly string[] | undefined): string {
  if (correct === undefined) return strings.dualSystem.run.ungraded;
  return correct ? strings.dualSystem.run.correct : strings.dualSystem.run.wrong(gold?.[0] ?? "");
}
