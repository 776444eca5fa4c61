/**
 * A checkpoint's own chat template, rendered as transformers' apply_chat_template does: Jinja with trimmed blocks, the
 * special tokens as variables, tools as OpenAI-style function objects, `tojson` without HTML escaping.
 */
import { Template } from "@huggingface/jinja";
import { z } from "zod";
import { CheckpointError, fieldProblem } from "../checkpoint/errors";
import type { ChatMessage, ChatTemplateOptions } from "./tokenizer";

/** A template that is not there, or that does not write these messages. Without a chat the model works. */
export class ChatTemplateError extends CheckpointError {}

export type RenderChat = (messages: readonly ChatMessage[], options?: ChatTemplateOptions) => string;

/** Names under which transformers hands special tokens to templates. */
const SPECIAL_TOKENS = ["bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"];

const tokenSchema = z.union([z.string(), z.looseObject({ content: z.string() })]);
const templateSchema = z.union([z.string(), z.array(z.object({ name: z.string(), template: z.string() }))]).nullish();
const configSchema = z.looseObject({
  chat_template: templateSchema,
  additional_special_tokens: z.array(tokenSchema).nullish(),
  ...Object.fromEntries(SPECIAL_TOKENS.map((name) => [name, tokenSchema.nullish()])),
});

/**
 * @param tokenizerConfig parsed tokenizer_config.json
 * @param templateFile text of chat_template.jinja, which goes before the one in the configuration
 * @throws CheckpointError for a configuration of the wrong form, or a template that is not Jinja. A missing template,
 * an error within one, and `raise_exception` are thrown when messages are rendered.
 */
export function createChatTemplate(tokenizerConfig: unknown, templateFile?: string): RenderChat {
  const parsed = configSchema.safeParse(tokenizerConfig);
  if (!parsed.success) {
    throw new CheckpointError(`tokenizer_config.json: ${fieldProblem(parsed.error.issues[0] as z.core.$ZodIssue)}`);
  }
  const config = parsed.data;
  const templates = new Map<string, Template>();
  if (templateFile !== undefined) {
    templates.set("default", compile("chat_template.jinja", templateFile));
  } else if (typeof config.chat_template === "string") {
    templates.set("default", compile("tokenizer_config.json: chat_template", config.chat_template));
  } else {
    for (const { name, template } of config.chat_template ?? []) {
      templates.set(name, compile(`tokenizer_config.json: chat_template "${name}"`, template));
    }
  }
  const specialTokens = specialTokensOf(config);

  return (messages, { tools = [], enableThinking, addGenerationPrompt = true } = {}) => {
    const template = (tools.length > 0 ? templates.get("tool_use") : undefined) ?? templates.get("default");
    if (!template) {
      throw new ChatTemplateError("this checkpoint has no chat template");
    }
    const variables: Record<string, unknown> = {
      ...specialTokens,
      messages: messages.map(({ role, content }) => ({ role, content })),
      tools:
        tools.length > 0
          ? tools.map(({ name, description, parameters }) => toolJson(name, description, parameters))
          : null,
      add_generation_prompt: addGenerationPrompt,
    };
    if (enableThinking !== undefined) {
      variables.enable_thinking = enableThinking;
    }
    try {
      return template.render(variables);
    } catch (error) {
      throw new ChatTemplateError(`chat template: ${(error as Error).message}`, { cause: error });
    }
  };
}

function compile(where: string, source: string): Template {
  try {
    return new Template(source);
  } catch (error) {
    throw new CheckpointError(`${where}: ${(error as Error).message}`, { cause: error });
  }
}

function toolJson(name: string, description: string, parameters: Record<string, unknown>): unknown {
  // Through JSON, so that `undefined` members vanish instead of being written as null.
  return JSON.parse(JSON.stringify({ type: "function", function: { name, description, parameters } }));
}

/** Only tokens that the checkpoint has: to a template, the others are undefined. */
function specialTokensOf(config: Record<string, unknown>): Record<string, unknown> {
  const text = (token: unknown) => (typeof token === "string" ? token : (token as { content: string }).content);
  const tokens: Record<string, unknown> = {};
  for (const name of SPECIAL_TOKENS) {
    if (config[name] !== undefined && config[name] !== null) {
      tokens[name] = text(config[name]);
    }
  }
  if (Array.isArray(config.additional_special_tokens)) {
    tokens.additional_special_tokens = config.additional_special_tokens.map(text);
  }
  return tokens;
}
