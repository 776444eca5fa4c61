/**
 * Prompts for any question and any chat model, in the four patterns, after the outlines of RecursiveMAS. Every slot
 * stands at the end, so that what stands before it is the same in every round. The shipped agents do not know these
 * prompts: they were trained on relay (relayTask.ts).
 */
import { neutralizeControls } from "../dual/neutral";
import { system2Messages } from "../dual/prompts";
import type { ToolFunction } from "../text/tokenizer";
import { exactMatch } from "../world/grade";
import type { Pattern } from "./pattern";
import { SLOT } from "./prompts";
import type { RecursionQuestion } from "./question";

export interface OpenQuestionOptions {
  pattern: Pattern;
  /** Accepted answers, to grade the answer. */
  gold?: readonly string[];
  /** What the last agent of deliberation may call. */
  tools?: readonly ToolFunction[];
}

const GENERIC_SYSTEM = "You are a helpful assistant.";

/** What an agent is to do, and what its slots are called. */
interface Task {
  task: string;
  /** One for each incoming edge; a single one serves for all. */
  slots: readonly string[];
}

const FEEDBACK =
  "Feedback of an earlier round, to correct you; where it contradicts the question, the question is right:";

/** By pattern: the tasks of the agents before the last, and of the last. */
const TASKS: Readonly<Record<Pattern["name"], (role: string, index: number, roles: readonly string[]) => Task>> = {
  sequential: (role, index, roles) => {
    if (index === 0) {
      return { task: `You are the ${role}. Write a numbered plan of steps for the question.`, slots: [FEEDBACK] };
    }
    return index < roles.length - 1
      ? {
          task: `You are the ${role}. Improve the plan for the question. Write the better plan only.`,
          slots: ["Plan:"],
        }
      : { task: `You are the ${role}. Follow the plan and give the final answer alone.`, slots: ["Plan:"] };
  },
  mixture: (role, index, roles) => {
    if (index < roles.length - 1) {
      return { task: `You are the ${role}. Answer the question as your field would.`, slots: [FEEDBACK] };
    }
    const slots = roles.slice(0, -1).map((other) => `What the ${other} thinks:`);
    return { task: `You are the ${role}. Weigh what the specialists think and give the final answer alone.`, slots };
  },
  distillation: (role, index) =>
    index === 0
      ? {
          task: `You are the ${role}. Write a plan that can be carried out, without the final answer.`,
          slots: [FEEDBACK],
        }
      : { task: `You are the ${role}. Use the expert's plan and give the final answer alone.`, slots: ["Plan:"] },
  deliberation: (role, index) =>
    index === 0
      ? { task: `You are the ${role}. Think about what must be found out to answer the question.`, slots: [FEEDBACK] }
      : { task: "", slots: ["What a reflector thinks about it:"] },
};

/** A question in free text, for agents that follow instructions. */
export function openQuestion(question: string, { pattern, gold, tools = [] }: OpenQuestionOptions): RecursionQuestion {
  const { name, roles, edges } = pattern;
  const asked = neutralizeControls(question);
  const last = roles.length - 1;
  return {
    text: question,
    ...(gold?.[0] !== undefined && { gold: gold[0] }),
    messages: ({ agent }) => {
      const { task, slots } = TASKS[name](roles[agent] as string, agent, roles);
      const incoming = edges.filter(({ to }) => to === agent);
      const heard = incoming.map((_, i) => `\n${slots[i] ?? slots[0]}${SLOT}`).join("");
      // The tool-caller reads what System 2 of the dual-system loop reads, as that is where it answers.
      if (name === "deliberation" && agent === last) return system2Messages(`${asked}${heard}`);
      return [
        { role: "system", content: GENERIC_SYSTEM },
        { role: "user", content: `${task}\nQuestion: ${asked}${heard}` },
      ];
    },
    template: ({ agent }) => (name === "deliberation" && agent === last ? { tools, enableThinking: true } : {}),
    ...(gold && { grade: (text) => ({ answer: text.trim(), correct: exactMatch(text, gold) }) }),
  };
}
