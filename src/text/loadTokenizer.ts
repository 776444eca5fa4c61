/** Builds a checkpoint's tokenizer from its files. */
import { Tokenizer } from "@huggingface/tokenizers";
import { z } from "zod";
import type { CheckpointSource } from "../checkpoint/checkpoint";
import { CheckpointError, fieldProblem, missingFile } from "../checkpoint/errors";
import { createChatTemplate } from "./chatTemplate";
import { decodeIds, StreamingDetokenizer } from "./detokenizer";
import { createEncoder } from "./encoder";
import { tokenBytes } from "./tokenBytes";
import type { ModelTokenizer } from "./tokenizer";

export interface TokenizerFiles {
  /** Parsed tokenizer.json. */
  tokenizerJson: unknown;
  /** Parsed tokenizer_config.json. */
  tokenizerConfig: unknown;
  /** Text of chat_template.jinja, where the checkpoint has that file. */
  chatTemplate?: string;
  /** Of the model: a tokenizer with more words belongs to another one. Added tokens may lie beyond it, if unused. */
  vocabSize?: number;
}

/** What the library needs of tokenizer.json; sections that a file leaves out are read as null, as the format says. */
const tokenizerSchema = z.looseObject({
  // Every qwen2, qwen3, llama and mistral tokenizer is one; the library would take unknown types for something else.
  model: z.looseObject({
    type: z.literal("BPE"),
    // Only looked at: copying a hundred thousand entries would take a second.
    vocab: z.custom<object>((vocab) => typeof vocab === "object" && vocab !== null && !Array.isArray(vocab)),
    merges: z.custom<unknown[]>(Array.isArray),
  }),
  added_tokens: z.array(z.looseObject({ id: z.int().nonnegative(), content: z.string() })).default([]),
  normalizer: z.unknown().default(null),
  pre_tokenizer: z.unknown().default(null),
  post_processor: z.unknown().default(null),
  decoder: z.unknown().default(null),
});

/** @throws CheckpointError naming the file, for files that are no tokenizer or of a kind that is not supported. */
export function loadTokenizer({
  tokenizerJson,
  tokenizerConfig,
  chatTemplate,
  vocabSize,
}: TokenizerFiles): ModelTokenizer {
  const parsed = tokenizerSchema.safeParse(tokenizerJson);
  if (!parsed.success) {
    throw new CheckpointError(`tokenizer.json: ${fieldProblem(parsed.error.issues[0] as z.core.$ZodIssue)}`);
  }
  const json = parsed.data;
  const words = Object.keys(json.model.vocab).length;
  if (vocabSize !== undefined && words > vocabSize) {
    const sizes = `${words} words, and the model's vocab_size is ${vocabSize}`;
    throw new CheckpointError(`tokenizer.json: it has ${sizes}: it belongs to another model`);
  }
  const renderChat = createChatTemplate(tokenizerConfig, chatTemplate);
  const tokenizer = buildTokenizer(json, tokenizerConfig as object);
  const addedIds = new Set(json.added_tokens.map(({ id }) => id));
  const tokens = tokenBytes(
    json.decoder,
    (id) => tokenizer.id_to_token(id),
    (id) => addedIds.has(id),
  );
  const encode = createEncoder(json, tokenizer);
  return {
    vocabSize: tokenizer.model?.vocab.length ?? 0,
    encode,
    decode: (ids) => decodeIds(ids, tokens),
    countTokens: (text) => encode(text).length,
    renderChat,
    detokenizer: () => new StreamingDetokenizer(tokens),
  };
}

/**
 * Reads tokenizer.json, tokenizer_config.json and, where they exist, chat_template.jinja of a source.
 * @param vocabSize of the model, where it is known
 * @throws CheckpointError naming the source and the file.
 */
export async function loadTokenizerFrom(
  source: CheckpointSource,
  signal?: AbortSignal,
  vocabSize?: number,
): Promise<ModelTokenizer> {
  try {
    const tokenizerJson = await readText(source, "tokenizer.json", signal);
    if (tokenizerJson === undefined) {
      throw missingFile(source, "tokenizer.json");
    }
    const config = await readText(source, "tokenizer_config.json", signal);
    return loadTokenizer({
      tokenizerJson: parseJson("tokenizer.json", tokenizerJson),
      tokenizerConfig: config === undefined ? {} : parseJson("tokenizer_config.json", config),
      chatTemplate: await readText(source, "chat_template.jinja", signal),
      ...(vocabSize !== undefined && { vocabSize }),
    });
  } catch (error) {
    if (error instanceof CheckpointError && !error.message.startsWith(`${source.label}: `)) {
      throw new CheckpointError(`${source.label}: ${error.message}`, { cause: error });
    }
    throw error;
  }
}

function buildTokenizer(json: object, config: object): Tokenizer {
  try {
    return new Tokenizer(json, config);
  } catch (error) {
    throw new CheckpointError(`tokenizer.json: ${(error as Error).message}`, { cause: error });
  }
}

async function readText(source: CheckpointSource, file: string, signal?: AbortSignal): Promise<string | undefined> {
  const bytes = await source.file(file, signal);
  return bytes && new TextDecoder().decode(bytes);
}

function parseJson(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CheckpointError(`${file}: not valid JSON: ${(error as Error).message}`);
  }
}
