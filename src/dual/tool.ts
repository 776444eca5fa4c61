/** What a tool of System 2 is: a name, a schema, and a run that returns several documents. One file per tool in tools/. */
import type { ToolFunction } from "../text/tokenizer";

export interface ToolDocument {
  id: string;
  title: string;
  text: string;
  /** The tool's own relevance score, when it has one. */
  score?: number;
}

export interface Tool {
  /** Name, description and JSON schema, as the chat template shows them to System 2. `purpose` is part of the schema. */
  readonly function: ToolFunction;
  /** Runs with validated arguments. Throws an Error whose message System 2 can read. */
  run(args: Record<string, unknown>, signal?: AbortSignal): Promise<ToolDocument[]>;
}

/** A failure inside the loop that System 2 can do something about; its message is what System 2 reads. */
export class ReadableError extends Error {
  override name = "ReadableError";
}
