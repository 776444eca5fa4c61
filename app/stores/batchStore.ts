/** Batches of questions: each with its settings and what has been answered so far; several are drawn together. */
import { create } from "zustand";
import type { BatchQuestion, BatchResult } from "../../src/index";
import type { EngineProblem, ResearchRequest } from "../../src/worker/protocol";
import type { BatchOutcome, BatchRequest } from "../../src/worker/researchProtocol";
import { engine, loadEngine, onEngineMessage, useEngine } from "./engineStore";
import { releaseEngine, takeEngine } from "./jobStore";

export interface Batch {
  id: number;
  /** Where the questions are from: a seed, or a file. */
  source: { seed: number } | { file: string };
  settings: Omit<ResearchRequest, "run" | "question">;
  total: number;
  /** In the order in which they were finished. */
  results: readonly BatchResult[];
  isOver: boolean;
}

export interface BatchState {
  phase: "idle" | "waiting" | "running" | "stopping";
  /** Oldest first. */
  batches: readonly Batch[];
  problem?: EngineProblem | undefined;
}

export const useBatches = create<BatchState>(() => ({ phase: "idle", batches: [] }));

const KEPT_BATCHES = 6;

let current = 0;
onEngineMessage("batchResult", ({ run, result }) => {
  if (run === current) change(run, ({ results }) => ({ results: [...results, result] }));
});

useBatches.subscribe(({ phase }) => phase === "idle" && releaseEngine("batch"));

// A worker that crashed never answers.
useEngine.subscribe(({ status }) => {
  if (status !== "failed" || useBatches.getState().phase === "idle") return;
  end(current, undefined);
  current++;
});

function change(id: number, to: (batch: Batch) => Partial<Batch>): void {
  useBatches.setState(({ batches }) => ({
    batches: batches.map((batch) => (batch.id === id ? { ...batch, ...to(batch) } : batch)),
  }));
}

/** A batch without a single answer leaves no trace. */
function end(id: number, problem: EngineProblem | undefined): void {
  useBatches.setState(({ batches }) => ({
    phase: "idle",
    problem,
    batches: batches
      .filter((batch) => batch.id !== id || batch.results.length > 0)
      .map((batch) => (batch.id === id ? { ...batch, isOver: true } : batch)),
  }));
}

export type BatchSource = { seed: number; count: number } | { file: string; questions: BatchQuestion[] };

/** Researches many questions once the models are there. Does nothing while the engine works for others. */
export async function runBatch(settings: Batch["settings"], source: BatchSource): Promise<void> {
  if (useBatches.getState().phase !== "idle" || !takeEngine("batch", stopBatch)) return;
  useBatches.setState({ phase: "waiting", problem: undefined });
  const id = ++current;
  const ready = await loadEngine();
  if (id !== current) return;
  if (!ready) {
    useBatches.setState({ phase: "idle" });
    return;
  }
  const isFile = "file" in source;
  const batch: Batch = {
    id,
    source: isFile ? { file: source.file } : { seed: source.seed },
    settings,
    total: isFile ? source.questions.length : source.count,
    results: [],
    isOver: false,
  };
  useBatches.setState(({ batches }) => ({ phase: "running", batches: [...batches, batch].slice(-KEPT_BATCHES) }));
  const questions: BatchRequest["questions"] = isFile ? { given: source.questions } : { generated: source.count };
  let outcome: BatchOutcome;
  try {
    outcome = await engine().researchBatch({ settings: { ...settings, run: id, question: "" }, questions });
  } catch (error) {
    outcome = { status: "failed", problem: { kind: "engineFailed", detail: String(error) } };
  }
  if (id === current) end(id, outcome.status === "failed" ? outcome.problem : undefined);
}

export function stopBatch(): void {
  const { phase } = useBatches.getState();
  if (phase === "waiting") {
    current++;
    useBatches.setState({ phase: "idle" });
  } else if (phase === "running") {
    useBatches.setState({ phase: "stopping" });
    void engine().stop();
  }
}

export function removeBatch(id: number): void {
  useBatches.setState(({ batches }) => ({ batches: batches.filter((batch) => batch.id !== id || !batch.isOver) }));
}
