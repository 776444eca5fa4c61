/** Comparisons of links on questions that nobody trained on: what was measured, and how far a measurement is. */
import { create } from "zustand";
import type { EngineProblem } from "../../src/worker/protocol";
import type { EvaluationOutcome, EvaluationRow } from "../../src/worker/recursionProtocol";
import { engine, loadEngine, onEngineMessage, useEngine } from "./engineStore";
import { releaseEngine, takeEngine } from "./jobStore";
import { ringAgents } from "./ringStore";

/** One way to pass messages: a set of links, or none where the condition needs none. */
export interface Contender {
  /** Handle of a set; also of one that the condition does not need. */
  links?: string;
  /** Name of a condition of the library. */
  condition: string;
}

export interface EvaluationSettings {
  n: number;
  rounds: number[];
  latentSteps: number;
  seed: number;
}

export interface Measured extends Contender {
  rows: EvaluationRow[];
}

export interface EvaluationState {
  phase: "idle" | "waiting" | "running" | "stopping";
  contenders: readonly Contender[];
  measured: readonly Measured[];
  /** Of what was measured. */
  settings?: EvaluationSettings;
  /** Questions that the contender at hand has answered. */
  done: number;
  problem?: EngineProblem | undefined;
}

export const useEvaluation = create<EvaluationState>(() => ({ phase: "idle", contenders: [], measured: [], done: 0 }));

let current = 0;
onEngineMessage("evaluationProgress", ({ run, done }) => {
  if (run === current) useEvaluation.setState({ done });
});

useEvaluation.subscribe(({ phase }) => phase === "idle" && releaseEngine("evaluation"));

useEngine.subscribe(({ status }) => {
  if (status !== "failed" || useEvaluation.getState().phase === "idle") return;
  current++;
  useEvaluation.setState({ phase: "idle" });
});

/** Measures one contender after the other, all on the same questions. */
export async function evaluateLinks(contenders: readonly Contender[], settings: EvaluationSettings): Promise<void> {
  if (useEvaluation.getState().phase !== "idle" || !takeEngine("evaluation", stopEvaluation)) return;
  useEvaluation.setState({ phase: "waiting", contenders, measured: [], settings, done: 0, problem: undefined });
  const ticket = ++current;
  const ready = await loadEngine();
  if (ticket !== current) return;
  if (ready) {
    useEvaluation.setState({ phase: "running" });
    for (const contender of contenders) if (!(await measure(contender, settings))) break;
  }
  useEvaluation.setState({ phase: "idle" });
}

/** Resolves to whether the next one may be measured. */
async function measure(contender: Contender, settings: EvaluationSettings): Promise<boolean> {
  const run = ++current;
  useEvaluation.setState({ done: 0 });
  let outcome: EvaluationOutcome;
  try {
    const { links, condition } = contender;
    const ring = { agents: ringAgents(), ...(links !== undefined && { links }) };
    outcome = await engine().evaluate({ ...settings, ...ring, run, conditions: [condition] });
  } catch (error) {
    outcome = { status: "failed", problem: { kind: "engineFailed", detail: String(error) } };
  }
  if (run !== current) return false;
  if (outcome.status === "failed") useEvaluation.setState({ problem: outcome.problem });
  if (outcome.status !== "finished") return false;
  const { results } = outcome;
  useEvaluation.setState(({ measured }) => ({ measured: [...measured, { ...contender, rows: results }] }));
  return useEvaluation.getState().phase === "running";
}

export function stopEvaluation(): void {
  const { phase } = useEvaluation.getState();
  if (phase === "waiting") {
    current++;
    useEvaluation.setState({ phase: "idle" });
  } else if (phase === "running") {
    useEvaluation.setState({ phase: "stopping" });
    void engine().stop();
  }
}
