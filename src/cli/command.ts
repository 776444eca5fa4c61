/** What a command of the command line is, and what it gets to work with. */
import type { LanguageModel } from "../model/languageModel";
import type { OptionTable, Values } from "./options";

export interface CliContext {
  /** Writes to standard output. */
  out(text: string): void;
  /** Writes to standard error. */
  err(text: string): void;
  /** Whether a person sees standard error. */
  errIsTerminal: boolean;
  models: ModelOpener;
}

export interface ModelOpener {
  /**
   * Opens a model by id (a folder of public/models) or by folder; `undefined` is the shipped agent. Models that are
   * opened stand until `close`.
   * @throws UsageError when there is no such folder; whatever a bad checkpoint or a missing device throws
   */
  open(name: string | undefined, options?: OpenOptions): Promise<LanguageModel>;
  /** Releases all models and the device. */
  close(): Promise<void> | void;
}

export interface OpenOptions {
  /** False: config.json and safetensors suffice, and the tokenizer throws when used. Default true. */
  tokenizer?: boolean;
  /** Calls of `generate` that come while another runs are joined into the next batch. Default false. */
  batched?: boolean;
}

export interface Command<O extends OptionTable = OptionTable> {
  /** As typed, for instance "eval dual". */
  name: string;
  /** One line for the list of commands. */
  summary: string;
  /** Examples for `--help`, without the program's name. */
  examples: readonly string[];
  options: O;
  /** Prints its result. @throws UsageError or any Error */
  run(values: Values<O>, context: CliContext): Promise<void>;
}

/** Gives `run` the types of the option table. */
export function command<O extends OptionTable>(definition: Command<O>): Command {
  return definition as unknown as Command;
}
