/** What System 1 of a checkpoint can read, known from its tokenizer and configuration alone: no weights, no device. */
import type { CheckpointSource } from "../checkpoint/checkpoint";
import { parseConfig } from "../checkpoint/config";
import { CheckpointError } from "../checkpoint/errors";
import { loadTokenizerFrom } from "../text/loadTokenizer";
import { binCapacity, formatDocuments } from "./system1";
import type { ToolDocument } from "./tool";

export interface Reader {
  /** Tokens of template and instruction, which every call repeats; the purpose comes on top. */
  instructionTokens: number;
  /** Tokens of documents that one call holds by default, with the shortest purpose. */
  capacity: number;
  /** Tokens of each document as System 1 reads it: numbered by its place, with its title. */
  documentTokens(documents: readonly ToolDocument[]): number[];
}

/** @throws CheckpointError naming the source and the file */
export async function openReader(source: CheckpointSource, signal?: AbortSignal): Promise<Reader> {
  const [tokenizer, bytes] = await Promise.all([loadTokenizerFrom(source, signal), source.file("config.json", signal)]);
  if (!bytes) throw new CheckpointError(`${source.label}: config.json is missing`);
  const model = { config: parseConfig(JSON.parse(new TextDecoder().decode(bytes))), tokenizer };
  return {
    // What a prompt of one token would lack.
    instructionTokens: 1 - binCapacity("", { model, promptBudget: 1 }),
    capacity: binCapacity("", { model }),
    documentTokens: (documents) => formatDocuments(documents, tokenizer).map(({ tokens }) => tokens),
  };
}
