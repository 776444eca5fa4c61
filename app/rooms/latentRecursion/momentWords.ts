/** What happens at a moment of a run, in a few words. */
import type { RecursionEvent } from "../../../src/index";
import { strings } from "../../strings";

const text = strings.latentRecursion.moments;

export function momentWords(event: RecursionEvent, roles: readonly string[]): string {
  const role = (agent: number) => roles[agent] ?? String(agent);
  switch (event.type) {
    case "agentStarted":
      return text.agentStarted(role(event.agent), event.round);
    case "latentThought":
      return text.latentThought(role(event.agent), event.step + 1);
    case "latentMessage":
      return text.latentMessage(role(event.from), role(event.to));
    case "textMessage":
      return text.textMessage(role(event.from));
    case "answerPeek":
      return text.answerPeek(event.round);
    case "recursionAnswer":
      return text.recursionAnswer;
    case "recursionFinished":
      return text.recursionFinished;
    default:
      return text.start;
  }
}
