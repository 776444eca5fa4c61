/**
 * The shipped agents' chat format as plain strings, and the Jinja template that renders the same. It is Qwen's format
 * (ChatML roles, <tool_call> JSON, <tool_response> in a user message) with a tool list cut to the names, which keeps
 * the prompts of a tiny model short.
 */
import type { ChatMessage } from "../src/text/tokenizer";

export const CHAT_TEMPLATE = `{%- for message in messages %}
{%- if message.role == 'system' %}{{ '<|im_start|>system\\n' + message.content }}
{%- if tools %}{{ '\\n\\n<tools>' }}{% for tool in tools %}{{ '\\n' + tool.function.name }}{% endfor %}{{ '\\n</tools>' }}{% endif %}
{{- '<|im_end|>\\n' }}
{%- elif message.role == 'tool' %}{{ '<|im_start|>user\\n<tool_response>\\n' + message.content + '\\n</tool_response><|im_end|>\\n' }}
{%- else %}{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}`;

/** A stretch of a training sequence; `learn` marks what the assistant says and is trained to say. */
export interface Span {
  text: string;
  learn: boolean;
  /** Marks the words of another agent. */
  message?: boolean;
}

/** Renders messages as CHAT_TEMPLATE does, the assistant's words (with their end token) marked as targets. */
export function renderSpans(messages: readonly ChatMessage[], tools: readonly string[] = []): Span[] {
  return messages.flatMap(({ role, content }): Span[] => {
    if (role === "system") {
      const list = tools.length > 0 ? `\n\n<tools>${tools.map((tool) => `\n${tool}`).join("")}\n</tools>` : "";
      return [{ text: `<|im_start|>system\n${content}${list}<|im_end|>\n`, learn: false }];
    }
    if (role === "tool") {
      return [{ text: `<|im_start|>user\n<tool_response>\n${content}\n</tool_response><|im_end|>\n`, learn: false }];
    }
    if (role === "user") return [{ text: `<|im_start|>user\n${content}<|im_end|>\n`, learn: false }];
    return [
      { text: "<|im_start|>assistant\n", learn: false },
      { text: `${content}<|im_end|>`, learn: true },
      { text: "\n", learn: false },
    ];
  });
}
