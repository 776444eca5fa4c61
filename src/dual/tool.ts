/** What a tool of System 2 is: a name, a schema, and a run that returns several documents. One file per tool in tools/. */
import type { DocumentSource } from "../corpus/source";
import type { ToolFunction } from "../text/tokenizer";

export interface ToolDocument {
  id: string;
  title: string;
  text: string;
  /** The tool's own relevance score, when it has one. */
  score?: number;
  /** Where the text comes from, when it is known. */
  source?: DocumentSource;
}

/** What a call can cost, told before it is made. */
export interface ToolCost {
  /** Milliseconds after which a call ends by itself; absent for a tool that only looks things up in memory. */
  limitMs?: number;
  /** Requests over the network that one call makes, repetitions after failures not counted. */
  requests: number;
  /** Bytes that the first call loads, from the page's own host. */
  firstLoadBytes?: number;
}

/** What a tool sends to others. It stays off until a person who has read this switches it on. */
export interface ToolNetwork {
  /** Names of the hosts that get to see it. */
  hosts: readonly string[];
  /** What is sent and to whom, in a sentence or two. */
  notice: string;
}

export interface Tool {
  /** Name, description and JSON schema, as the chat template shows them to System 2. `purpose` is part of the schema. */
  readonly function: ToolFunction;
  readonly cost: ToolCost;
  /** Absent for a tool that sends nothing anywhere. */
  readonly network?: ToolNetwork;
  /** Runs with validated arguments. Throws an Error whose message System 2 can read. */
  run(args: Record<string, unknown>, signal?: AbortSignal): Promise<ToolDocument[]>;
}

/** A failure inside the loop that System 2 can do something about; its message is what System 2 reads. */
export class ReadableError extends Error {
  override name = "ReadableError";
}
