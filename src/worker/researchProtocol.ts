/** What a page can choose about a research run's documents and tools, and calls about own documents; see protocol.ts. */
import type { CorpusProgress, SkippedFile } from "../corpus/readCorpus";
import type { FileSource } from "../corpus/source";
import type { BatchQuestion, BatchResult } from "../dual/batch";
import type { PackingMeasurement } from "../dual/measurePacking";
import type { PackingAlgorithm } from "../packing/pack";
import type { EngineProblem, ResearchRequest } from "./protocol";

/**
 * Where the tool `search` looks: the shipped encyclopedia or papers of the world's seed, the visitor's own documents, or
 * live on the network under the name that the shipped agents know.
 */
export const CORPORA = ["encyclopedia", "papers", "own", "wikipedia", "openalex"] as const;
export type CorpusChoice = (typeof CORPORA)[number];

export const SCHOLAR_SOURCES = ["off", "papers", "openalex"] as const;

/** Which tools System 2's prompt lists. */
export interface ToolChoice {
  search: boolean;
  python: boolean;
  scholar: (typeof SCHOLAR_SOURCES)[number];
  wikipedia: boolean;
}

/** Sites that a tool can send to; each is forbidden until the visitor allows it. */
export const SITES = ["openalex", "wikipedia"] as const;
export type Site = (typeof SITES)[number];

export interface NetworkChoice {
  /** Which Wikipedia, by the first part of its address. Default "en". */
  language?: string;
  /** Milliseconds of one request. Default 10,000. */
  timeoutMs?: number;
  /** The visitor's own key for OpenAlex. */
  openAlexKey?: string;
}

export interface ReadRequest {
  /** Id of a loaded model: passages are as long as its System 1 can read. */
  model: string;
  /** Tokens of one bin, as in the run. */
  capacity?: number;
  /** With folders in their names. */
  files: { name: string; file: File }[];
}

/** A file of the visitor's own that can be searched. */
export interface OwnFile {
  name: string;
  title: string;
  kind: string;
  bytes: number;
  passages: number;
  /** What was lost or guessed. */
  warnings: string[];
}

export interface OwnCorpus {
  files: OwnFile[];
  skipped: SkippedFile[];
  passages: number;
  /** Tokens of one passage, at most; 0 before anything was read. */
  maxTokens: number;
}

export type ReadOutcome =
  | { status: "read"; corpus: OwnCorpus }
  | { status: "cancelled"; corpus: OwnCorpus }
  | { status: "failed"; problem: EngineProblem };

/** A stretch of one of the visitor's files, around a passage. Offsets count characters of `text`. */
export interface SourceView {
  file: string;
  title: string;
  text: string;
  /** Characters of the file's readable text before and after `text`. */
  before: number;
  after: number;
  passage: [start: number, end: number];
  /** Absent when the passage does not hold these words. */
  quote?: [start: number, end: number];
  /** Line, page or row of the quote, or else of the passage. */
  place?: { unit: "line" | "page" | "row"; number: number };
}

export type DocumentsMessage =
  | { type: "readingProgress"; progress: CorpusProgress }
  | { type: "batchResult"; run: number; result: BatchResult }
  | { type: "measureProgress"; run: number; done: number; total: number };

/** Many questions with the settings of one run; its question, gold and branch are not used. */
export interface BatchRequest {
  settings: ResearchRequest;
  /** Generated with the world's seed, or given. */
  questions: { generated: number } | { given: BatchQuestion[] };
}

export type BatchOutcome =
  | { status: "finished" }
  /** What was told before stays true. */
  | { status: "stopped" }
  | { status: "failed"; problem: EngineProblem };

export interface MeasureRequest {
  /** Id of a loaded model. */
  model: string;
  /** Told back with progress. */
  run: number;
  /** Tokens of every document. */
  lengths: number[];
  /** Tokens of one bin. */
  capacity: number;
  algorithms: PackingAlgorithm[];
  /** Bins read at once. Default: all. */
  parallel?: number;
  repetitions: number;
}

export type MeasureOutcome =
  | { status: "finished"; rows: PackingMeasurement[] }
  /** The model reads bins of at most `most` tokens. */
  | { status: "tooLarge"; most: number }
  | { status: "stopped" }
  | { status: "failed"; problem: EngineProblem };

export interface DocumentsApi {
  /** Researches many questions; tells each result as it comes, and `stop` ends it. */
  researchBatch(request: BatchRequest): Promise<BatchOutcome>;
  /** Lets System 1 really read packings of documents of given lengths; `stop` ends it. */
  measurePacking(request: MeasureRequest): Promise<MeasureOutcome>;
  /** Reads files and adds them to the visitor's own corpus; a later call ends an earlier one. */
  readDocuments(request: ReadRequest): Promise<ReadOutcome>;
  /** Ends the reading; what was read before it stays. */
  cancelReading(): void;
  /** Takes one file out of the corpus, or all. */
  removeDocuments(name?: string): OwnCorpus;
  /** A passage of the visitor's file in its place, with a quote; undefined when the file is not at hand any more. */
  viewSource(source: FileSource, quote?: string): SourceView | undefined;
  /** Allows a site to be asked, or forbids it; requests under way end. */
  allowSite(site: Site, allowed: boolean): void;
}
