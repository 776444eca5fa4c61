/**
 * What a page and the engine worker say to each other. Calls go through comlink (`EngineApi`); everything that streams
 * (loading progress, loaded models, trace events, loss of the device) comes back on one MessagePort as `EngineMessage`.
 * Nothing throws across the boundary: an outcome carries its problem, so that the page can name it.
 */
import type { Branch } from "../dual/branch";
import type { PackingAlgorithm } from "../packing/pack";
import type { TraceEvent } from "../trace/events";
import type { CorpusId } from "../world/world";
import type { DeviceApi, DeviceMessage } from "./deviceProtocol";
import type { LibraryApi, LibraryMessage } from "./libraryProtocol";
import type { LoadApi, LoadMessage } from "./loadProtocol";
import type {
  EvaluationOutcome,
  EvaluationRequest,
  FileOutcome,
  LinkFile,
  LinksOutcome,
  RecursionMessage,
  RecursionRequest,
  VocabularyOutcome,
} from "./recursionProtocol";
import type { CorpusChoice, DocumentsApi, DocumentsMessage, NetworkChoice, ToolChoice } from "./researchProtocol";
import type { TrainingApi, TrainingMessage } from "./trainingProtocol";

/** Every way in which the engine can fail a visitor; the page has a sentence for each. */
export type ProblemKind =
  | "insecureContext"
  | "noWebGpu"
  | "noAdapter"
  | "selfTestFailed"
  | "needsWebGpu"
  | "textOnly"
  | "deviceLost"
  | "outOfMemory"
  | "modelFilesMissing"
  | "serverBusy"
  | "modelInvalid"
  | "storageFull"
  | "storageBusy"
  | "promptTooLong"
  | "unknownToken"
  | "noTemplate"
  | "linksMissing"
  | "linksInvalid"
  | "linksMisfit"
  | "trainingInvalid"
  | "trainingMissing"
  | "noDocuments"
  | "engineFailed";

export interface EngineProblem {
  kind: ProblemKind;
  /** The technical reason in English, naming the file, field or limit. */
  detail: string;
}

export interface QuestionSummary {
  text: string;
  hops: number;
  kind: "lookup" | "arithmetic";
  gold: string[];
}

export interface WorldSummary {
  seed: number;
  corpus: CorpusId;
  articles: number;
  questions: QuestionSummary[];
}

export interface ResearchRequest {
  /** Id of a loaded model: both systems, unless one is named apart. */
  model: string;
  system1Model?: string;
  system2Model?: string;
  /** Told back with every event, so that a late batch of an earlier run is recognised. */
  run: number;
  /** Seed of the world whose articles or papers are searched. */
  world: number;
  /** Where `search` looks. Default: the encyclopedia. */
  corpus?: CorpusChoice;
  /** Default: search and python. */
  tools?: ToolChoice;
  /** For tools that use the network. */
  network?: NetworkChoice;
  question: string;
  /** Accepted answers, when known. */
  gold?: string[];
  useSystem1: boolean;
  /** Tokens of documents that fit into one bin. Default: what System 1's prompt leaves for them. */
  capacity?: number;
  /** How documents come into bins. Default: First Fit Decreasing. */
  packing?: PackingAlgorithm;
  /** Bins that System 1 reads at once. Default: all. */
  parallel?: number;
  searchResults: number;
  maxTurns: number;
  temperature: number;
  seed: number;
  /** Starts in the middle of another run. */
  branch?: Branch;
}

/** How a run ended; what it found out stands in its events. */
export type RunOutcome = { status: "finished" } | { status: "failed"; problem: EngineProblem };

export type EngineMessage =
  | { type: "events"; run: number; events: TraceEvent[] }
  | LoadMessage
  | LibraryMessage
  | DeviceMessage
  | DocumentsMessage
  | RecursionMessage
  | TrainingMessage;

/** What the engine needs of a MessagePort. */
export interface MessageSink {
  postMessage(message: EngineMessage): void;
}

export interface EngineApi extends LoadApi, LibraryApi, DeviceApi, TrainingApi, DocumentsApi {
  /** Hands over the port on which messages arrive. Call once, first. */
  connect(port: MessageSink): void;
  /** Generates a world from its seed; needs no GPU. */
  world(seed: number, corpus?: CorpusId): WorldSummary;
  /** Runs one question; one at a time. */
  research(request: ResearchRequest): Promise<RunOutcome>;
  /** Ends the run or the evaluation in progress, in the middle of a generation if need be. */
  stop(): void;
  /** Runs one recursion; one at a time. */
  recur(request: RecursionRequest): Promise<RunOutcome>;
  /** Measures ways to pass messages; takes its time, tells how far it is, and `stop` ends it. */
  evaluate(request: EvaluationRequest): Promise<EvaluationOutcome>;
  /** Fetches a set of links from a folder; one that is there already is kept. */
  fetchLinks(id: string, url: string): Promise<LinksOutcome>;
  /** Reads a set of links from a file under a handle of the caller's choice, replacing what had it. */
  openLinks(id: string, file: LinkFile): Promise<LinksOutcome>;
  exportLinks(id: string): Promise<FileOutcome>;
  /** Input embeddings of a loaded model, at most `limit` of them, spread over the vocabulary. */
  vocabulary(model: string, limit: number): Promise<VocabularyOutcome>;
}
