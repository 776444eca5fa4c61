/** What a command of the command line is, and what it gets to work with. */
import type { Checkpoint, CheckpointSource } from "../checkpoint/checkpoint";
import type { ModelConfig } from "../checkpoint/config";
import type { Quantization } from "../checkpoint/quantize";
import type { PythonRunner } from "../dual/tools/python";
import type { Engine } from "../model/engines";
import type { LanguageModel } from "../model/languageModel";
import type { LatentModel } from "../recursion/agent";
import type { ModelTokenizer } from "../text/tokenizer";
import type { OptionTable, Values } from "./options";

export interface CliContext {
  /** Writes to standard output. */
  out(text: string): void;
  /** Writes to standard error. */
  err(text: string): void;
  /** Whether a person sees standard error. */
  errIsTerminal: boolean;
  models: ModelFinder;
  /** Runs the programs of the python tool; starts on its first call. */
  python: PythonRunner & { close(): void };
  web: WebAccess;
}

/** What tools that use the network get; whether they may use it, the command's options say. */
export interface WebAccess {
  /** Default: the platform's. */
  fetch?: typeof fetch;
  /** Sites ask programs to say what they are. */
  headers?: Readonly<Record<string, string>>;
  /** The person's key for OpenAlex. */
  openAlexKey?: string;
}

export interface ModelFinder {
  /**
   * Reads configuration and tokenizer of a model by id (a folder of public/models) or by folder; `undefined` is the
   * shipped agent. No device is touched yet, so that arguments can be checked against the model first.
   * @throws UsageError when there is no such folder or it lacks a file; CheckpointError for bad files
   */
  find(name: string | undefined, options?: FindOptions): Promise<FoundModel>;
  /** Releases all models and the device. */
  close(): Promise<void> | void;
}

export interface FindOptions {
  /** False: config.json and safetensors suffice, and the tokenizer throws when used. Default true. */
  tokenizer?: boolean;
  /** Default "wgsl". The others also take folders that hold an .onnx file, and such files themselves. */
  engine?: Engine;
  /** How the matrices of a checkpoint are kept. Default "stored", which is f32 in onnxruntime-web. */
  weights?: Quantization;
}

export interface FoundModel {
  config: ModelConfig;
  tokenizer: ModelTokenizer;
  /** The files; none of a model that is an .onnx file. */
  files?: { source: CheckpointSource; checkpoint: Checkpoint };
  /**
   * Uploads the model. With `batched`, calls of `generate` that come while another runs are joined into the next batch.
   * @throws whatever a missing device or bad weights throw
   */
  load(options?: { batched?: boolean }): Promise<LanguageModel>;
  /** Uploads the model for recursions; all models of a finder that are loaded so share one tape. Our own engine only. @throws as `load` */
  loadLatent(): Promise<LatentModel>;
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
