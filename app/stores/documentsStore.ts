/** The visitor's own documents as the worker has them, and which sites may be asked. Neither leaves this tab. */
import { create } from "zustand";
import type { CorpusProgress } from "../../src/index";
import type { EngineProblem } from "../../src/worker/protocol";
import type { OwnCorpus, ReadOutcome, Site } from "../../src/worker/researchProtocol";
import type { PickedFiles } from "../engine/droppedFiles";
import { engine, loadEngine, onEngineMessage } from "./engineStore";

export interface DocumentsState {
  corpus: OwnCorpus;
  /** "waiting" is the time until the agent is loaded, whose tokens size the passages. */
  phase: "idle" | "waiting" | "reading";
  progress?: CorpusProgress | undefined;
  /** Hidden files and folders that were left out of the last choice. */
  hidden: number;
  /** How the last reading ended, when it was not by its end. */
  ended?: "cancelled" | undefined;
  problem?: EngineProblem | undefined;
  /** Whether the visitor allowed it in this tab: no link can. */
  sites: Record<Site, boolean>;
  /** Kept in memory only. */
  openAlexKey: string;
}

const NOTHING: OwnCorpus = { files: [], skipped: [], passages: 0, maxTokens: 0 };

export const useDocuments = create<DocumentsState>(() => ({
  corpus: NOTHING,
  phase: "idle",
  hidden: 0,
  sites: { openalex: false, wikipedia: false },
  openAlexKey: "",
}));

onEngineMessage("readingProgress", ({ progress }) => {
  if (useDocuments.getState().phase === "reading") useDocuments.setState({ progress });
});

let current = 0;

/**
 * Adds files to the corpus, once the agent is there.
 * @param model id of the model that reads; passages are as long as its System 1 can take
 */
export async function addDocuments(picked: PickedFiles, model: string, capacity: number | undefined): Promise<void> {
  const ticket = ++current;
  const { files, hidden } = picked;
  useDocuments.setState({ phase: "waiting", hidden, progress: undefined, problem: undefined, ended: undefined });
  const ready = await loadEngine();
  if (ticket !== current) return;
  if (!ready) {
    useDocuments.setState({ phase: "idle" });
    return;
  }
  useDocuments.setState({ phase: "reading" });
  let outcome: ReadOutcome;
  try {
    outcome = await engine().readDocuments({ model, files, ...(capacity !== undefined && { capacity }) });
  } catch (error) {
    outcome = { status: "failed", problem: { kind: "engineFailed", detail: String(error) } };
  }
  if (ticket !== current) return;
  useDocuments.setState({
    phase: "idle",
    progress: undefined,
    ...(outcome.status === "failed" ? { problem: outcome.problem } : { corpus: outcome.corpus }),
    ...(outcome.status === "cancelled" && { ended: "cancelled" }),
  });
}

export function cancelReading(): void {
  if (useDocuments.getState().phase === "waiting") {
    current++;
    useDocuments.setState({ phase: "idle", ended: "cancelled" });
  } else void engine().cancelReading();
}

/** Takes out one file, or all. */
export async function removeDocuments(name?: string): Promise<void> {
  const corpus = await engine().removeDocuments(name);
  useDocuments.setState({ corpus, hidden: 0, ended: undefined });
}

/** The visitor's word on a site; forbidding it ends requests under way. */
export function allowSite(site: Site, allowed: boolean): void {
  useDocuments.setState(({ sites }) => ({ sites: { ...sites, [site]: allowed } }));
  void engine().allowSite(site, allowed);
}
