/**
 * The last turn of deliberation: the tool-caller, with the reflector's thoughts in its prompt, answers in the
 * dual-system loop: it thinks, calls tools with a purpose, and System 1 refines what they return.
 * Source: RecursiveMAS's deliberation pattern (tools run in the final text stage only, at most five times); the loop is
 * MARS's (src/dual).
 */
import { DEFAULT_MAX_TURNS, type ResearchOptions, type ResearchResult, research } from "../dual/loop";
import type { SamplingOptions } from "../model/languageModel";
import type { TraceEvent } from "../trace/events";
import type { Agent } from "./agent";
import type { PromptView } from "./latentEngine";
import { SLOT } from "./prompts";
import type { QuestionBatch } from "./questionBatch";
import { LATENT_MARKER, slottedModel } from "./slottedModel";

/** Turns of the last agent by default: five calls and an answer. */
export const DEFAULT_TOOL_TURNS = Math.min(6, DEFAULT_MAX_TURNS);

/** Tools and settings of the loop. System 1 is the last agent's model by default, without latent messages. */
export type ToolStage = Omit<ResearchOptions, "system2" | "onEvent" | "signal" | "sampling" | "gold" | "now">;

export interface ToolStageHooks {
  sampling?: SamplingOptions;
  signal?: AbortSignal;
  /** Of the first question. */
  onEvent?: (event: TraceEvent) => void;
}

/**
 * Answers all questions side by side.
 * @throws whatever an engine throws
 */
export async function answerWithTools(
  batch: QuestionBatch,
  round: number,
  prompt: PromptView,
  { sampling, signal, onEvent, ...stage }: ToolStage & ToolStageHooks,
): Promise<ResearchResult[]> {
  const agent = batch.system.agents.length - 1;
  const { language } = (batch.system.agents[agent] as Agent).model;
  const results = batch.questions.map(async (question, index) => {
    const messages = question.messages({ agent, round, register: batch.register });
    const asked = messages.filter(({ role }) => role === "user").map(({ content }) => content);
    const contents = await prompt.contents(index);
    const vectors = contents.filter((content) => content instanceof Float32Array);
    let slot = 0;
    const text = asked.join("\n").replaceAll(SLOT, () => {
      const content = contents[slot++] ?? [];
      return content instanceof Float32Array ? LATENT_MARKER : language.tokenizer.decode(content);
    });
    const result = await research(text, {
      system1: language,
      maxTurns: DEFAULT_TOOL_TURNS,
      ...stage,
      system2: slottedModel(language, vectors),
      ...(sampling && { sampling: { ...sampling, seed: (sampling.seed ?? 0) + index } }),
      ...(signal && { signal }),
      ...(onEvent && index === 0 && { onEvent }),
    });
    if (result.reason === "error") throw result.error;
    return result;
  });
  return Promise.all(results);
}
