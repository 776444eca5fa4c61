/**
 * Reads what System 2 wrote: a thought, then either one tool call or the answer. Nothing that a model can write makes
 * this throw: what is wrong becomes a message that System 2 reads and can react to.
 * Format: Qwen's `<think>..</think>` and `<tool_call>{"name": .., "arguments": {..}}</tool_call>`; the answer stands
 * bare or in `<answer>..</answer>`.
 */
import { z } from "zod";
import type { ToolFunction } from "../text/tokenizer";

export interface ToolCall {
  name: string;
  /** Arguments that satisfy the tool's schema, `purpose` included. */
  arguments: Record<string, unknown>;
  purpose: string;
}

export type Action =
  | { type: "toolCall"; call: ToolCall }
  | { type: "answer"; text: string }
  /** `message` is for System 2 to read. */
  | { type: "error"; message: string };

export interface ParsedMessage {
  /** Text in `<think>`, and what a model says before a tool call without tags. Trimmed. */
  thought: string;
  action: Action;
}

const THINK = ["<think>", "</think>"] as const;
const CALL = ["<tool_call>", "</tool_call>"] as const;
const ANSWER = ["<answer>", "</answer>"] as const;

/** Parses one message of System 2 against the tools that it may call. Never throws. */
export function parseMessage(text: string, tools: readonly ToolFunction[]): ParsedMessage {
  const { thought, rest, closed } = splitThought(text);
  if (!closed) return { thought, action: error("the thought has no </think>. Close it, then call a tool or answer.") };

  const opened = count(rest, CALL[0]);
  if (opened === 0) {
    if (rest.includes(CALL[1])) return { thought, action: error("</tool_call> without <tool_call>.") };
    return { thought, action: parseAnswer(rest) };
  }
  const start = rest.indexOf(CALL[0]);
  const preface = [thought, rest.slice(0, start).trim()].filter((part) => part !== "").join("\n");
  return { thought: preface, action: parseCall(rest.slice(start), opened, tools) };
}

/**
 * Cuts a model's text into the thought and what follows it. Some templates open the thought in the prompt, so a text
 * may begin inside it and hold only `</think>`. `closed` is false when the text ends inside the thought.
 */
export function splitThought(text: string): { thought: string; rest: string; closed: boolean } {
  const [open, close] = THINK;
  const end = text.indexOf(close);
  const start = text.indexOf(open);
  if (end < 0) {
    if (start < 0) return { thought: "", rest: text.trim(), closed: true };
    return { thought: text.slice(start + open.length).trim(), rest: "", closed: false };
  }
  const from = start >= 0 && start < end ? start + open.length : 0;
  return { thought: text.slice(from, end).trim(), rest: text.slice(end + close.length).trim(), closed: true };
}

function parseAnswer(rest: string): Action {
  const start = rest.indexOf(ANSWER[0]);
  const end = rest.indexOf(ANSWER[1], Math.max(0, start));
  const text = rest.slice(start < 0 ? 0 : start + ANSWER[0].length, end < 0 ? undefined : end).trim();
  if (text === "") return error("the message is empty. Call a tool or give the answer.");
  return { type: "answer", text };
}

function parseCall(rest: string, opened: number, tools: readonly ToolFunction[]): Action {
  if (opened > 1) return error(`the message holds ${opened} tool calls. Make one call at a time.`);
  if (rest.includes(ANSWER[0])) return error("the message holds a tool call and an answer. Give one of them.");
  const end = rest.indexOf(CALL[1]);
  if (end < 0) return error("<tool_call> is not closed by </tool_call>.");

  const body = rest.slice(CALL[0].length, end).trim();
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch (cause) {
    return error(`the tool call is not valid JSON (${(cause as Error).message}).`);
  }
  if (!isRecord(value)) return error('the tool call must be a JSON object with "name" and "arguments".');
  if (typeof value.name !== "string") return error('the tool call has no "name" that is a string.');
  const tool = tools.find((candidate) => candidate.name === value.name);
  if (!tool) {
    const names = tools.map((candidate) => candidate.name).join(", ");
    return error(`there is no tool "${value.name}". Tools: ${names || "none"}.`);
  }
  if (!isRecord(value.arguments)) return error(`the call of ${tool.name} has no "arguments" that are a JSON object.`);
  return parseArguments(value.arguments, tool);
}

function parseArguments(args: Record<string, unknown>, tool: ToolFunction): Action {
  const problems = schemaProblems(args, tool);
  // Every tool has a purpose, whether its schema says so or not: it is what System 1 reads for.
  if (args.purpose === undefined) problems.add(`"purpose" is missing`);
  else if (typeof args.purpose !== "string") problems.add(`"purpose" must be a string`);
  else if (args.purpose.trim() === "") problems.add(`"purpose" is empty`);
  if (problems.size > 0) return error(`arguments of ${tool.name}: ${[...problems].join("; ")}.`);
  return {
    type: "toolCall",
    call: { name: tool.name, arguments: args, purpose: (args.purpose as string).trim() },
  };
}

const validators = new WeakMap<ToolFunction, z.ZodType>();

function schemaProblems(args: Record<string, unknown>, tool: ToolFunction): Set<string> {
  let validator = validators.get(tool);
  if (!validator) {
    validator = z.fromJSONSchema(tool.parameters as z.core.JSONSchema.JSONSchema);
    validators.set(tool, validator);
  }
  const result = validator.safeParse(args);
  return new Set(result.success ? [] : result.error.issues.map((issue) => problemOf(issue, args)));
}

function problemOf(issue: z.core.$ZodIssue, args: Record<string, unknown>): string {
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => `"${key}" is not an argument`).join("; ");
  const [name] = issue.path;
  if (name === undefined) return issue.message;
  const path = `"${issue.path.join(".")}"`;
  if (issue.path.length === 1 && args[String(name)] === undefined) return `${path} is missing`;
  if (issue.code === "invalid_type") return `${path} must be ${article(issue.expected)}`;
  if (issue.code === "too_small" && issue.origin === "string" && issue.minimum === 1) return `${path} is empty`;
  return `${path}: ${issue.message}`;
}

function article(type: string): string {
  const noun = type === "int" ? "integer" : type;
  return `${/^[aeiou]/.test(noun) ? "an" : "a"} ${noun}`;
}

function error(message: string): Action {
  return { type: "error", message: `Error: ${message}` };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function count(text: string, part: string): number {
  return text.split(part).length - 1;
}
