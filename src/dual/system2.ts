/**
 * System 2: reads the whole conversation and writes one message: a thought and a tool call, or the answer. It needs
 * nothing but generation and a tokenizer, so a remote text-only model can take this part.
 */
import type { FinishReason, LanguageModel, SamplingOptions } from "../model/languageModel";
import { randomU32 } from "../random/random";
import type { ChatMessage, ToolFunction } from "../text/tokenizer";

/** By default one message, thought included, takes at most this share of the model's context, within a limit. */
const OUTPUT_SHARE = 1 / 8;
const LONGEST_OUTPUT = 2048;

export interface System2Settings {
  model: LanguageModel;
  tools: readonly ToolFunction[];
  /** New tokens of one message. Default: an eighth of the model's context, at most 2048. */
  maxTokens?: number;
  /** Tokens of prompt and output together. Default: the model's maximum of positions. */
  contextTokens?: number;
  sampling?: SamplingOptions;
}

export interface System2Prompt {
  text: string;
  ids: number[];
  /** Tokens that the context has left for the message; 0 or less when the conversation fills it. */
  room: number;
}

export interface System2Message {
  /** What System 2 wrote, verbatim. */
  text: string;
  outputTokens: number;
  ms: number;
  finishReason: FinishReason;
  /** The message was cut because the context is full, not because it reached maxTokens. */
  contextFull: boolean;
}

/** The conversation as System 2 reads it next. */
export function system2Prompt(messages: readonly ChatMessage[], settings: System2Settings): System2Prompt {
  const { model, tools } = settings;
  const text = model.tokenizer.renderChat(messages, { tools, enableThinking: true });
  const ids = model.tokenizer.encode(text);
  return { text, ids, room: (settings.contextTokens ?? model.config.maxPositions) - ids.length };
}

/** Tokens of a conversation without the opening of a further message. */
export function conversationTokens(messages: readonly ChatMessage[], settings: System2Settings): number {
  const { model, tools } = settings;
  const options = { tools, enableThinking: true, addGenerationPrompt: false };
  return model.tokenizer.countTokens(model.tokenizer.renderChat(messages, options));
}

/** Lets System 2 write its next message. `prompt.room` must be at least 1. */
export async function speak(
  prompt: System2Prompt,
  settings: System2Settings,
  hooks: { turn: number; signal?: AbortSignal; now: () => number; onToken?: (text: string) => void },
): Promise<System2Message> {
  const { model, sampling = {} } = settings;
  const share = Math.min(LONGEST_OUTPUT, Math.ceil(model.config.maxPositions * OUTPUT_SHARE));
  const maxTokens = settings.maxTokens ?? share;
  const start = hooks.now();
  const { onToken } = hooks;
  const [result] = await model.generate(
    [
      {
        ...sampling,
        seed: randomU32(sampling.seed ?? 0, hooks.turn, 0),
        input: { ids: prompt.ids },
        maxTokens: Math.min(maxTokens, prompt.room),
      },
    ],
    { signal: hooks.signal, ...(onToken && { onToken: ({ text }) => onToken(text) }) },
  );
  if (!result) throw new Error(`${model.id} returned no result`);
  return {
    text: result.text,
    outputTokens: result.ids.length,
    ms: hooks.now() - start,
    finishReason: result.finishReason,
    contextFull: result.finishReason === "length" && prompt.room <= maxTokens,
  };
}
