/** Recursions, evaluations and readings of embeddings for the engine: questions of relay for a ring of loaded models. */
import { shuffleMessages } from "../links/shuffle";
import type { LatentModel } from "../recursion/agent";
import { conditionOf, evaluateRecursion, needsTraining } from "../recursion/evaluate";
import { chooseLinks, fitInnerLinks, type UnlinkedSystem } from "../recursion/linkChoice";
import { type LinkedSystem, linkSystem } from "../recursion/linkSetSystem";
import { sequentialPattern } from "../recursion/pattern";
import { relayEvaluationQuestions, relayFitQuestions } from "../recursion/relayEvaluation";
import { relayQuestion } from "../recursion/relayTask";
import { type RecursionResult, runRecursion } from "../recursion/run";
import type { LinkChoice, RecursionEvent, RecursionLedger } from "../trace/recursionEvents";
import type { LinkShelf } from "./linkShelf";
import { EngineError } from "./problems";
import type {
  EvaluationRequest,
  EvaluationRow,
  RecursionRequest,
  RelaySpec,
  RingSpec,
  VocabularySample,
} from "./recursionProtocol";

/** Questions that least-squares links are fitted on. */
const FIT_QUESTIONS = 192;

const TRAINED: readonly LinkChoice[] = ["trained", "shuffled", "swapped"];

export class RecursionDesk {
  /** The last fit of inner links and what it was made for. */
  private fit: { key: string; matrices: readonly Float64Array[] } | undefined;

  constructor(
    private readonly modelOf: (id: string) => LatentModel,
    private readonly shelf: LinkShelf,
  ) {}

  /** The agents of a ring, without links. @throws EngineError when a model is not loaded */
  ring({ agents }: RingSpec): UnlinkedSystem {
    return {
      pattern: sequentialPattern(agents.map(({ role }) => role)),
      agents: agents.map(({ id, role, model }) => ({ id, role, model: this.modelOf(model) })),
    };
  }

  /** @throws EngineError for links that are missing or do not fit; RangeError for a bad request */
  async run(
    request: RecursionRequest,
    signal: AbortSignal,
    onEvent: (event: RecursionEvent) => void,
  ): Promise<RecursionResult> {
    const { inner, outer, passing, rounds, latentSteps, peeks, temperature, seed, relay } = request;
    const system = this.ring(request);
    const isLatent = passing === "latent";
    const linked = isLatent && [inner, outer].some((choice) => TRAINED.includes(choice)) && this.link(system, request);
    try {
      const innerFits = isLatent && inner === "ridge" ? await this.fitOf(system, latentSteps, signal) : undefined;
      const chosen = await chooseLinks(system, {
        // Without latents links carry nothing.
        inner: isLatent ? inner : "zero",
        outer: isLatent ? outer : "zero",
        ...(linked && { trained: linked.system }),
        ...(innerFits && { innerFits }),
        seed,
      });
      try {
        const questions = [relayOf(relay, system)];
        // Messages change places between questions, so that there have to be two.
        if (chosen.isShuffled) questions.push(relayOf({ ...relay, seed: relay.seed + 1 }, system));
        return await runRecursion(chosen.system, questions, {
          passing,
          rounds,
          latentSteps,
          peeks,
          sampling: { temperature, seed },
          links: { inner, outer },
          task: "relay",
          signal,
          onEvent: (event) => onEvent(perQuestion(event, questions.length)),
          ...(chosen.isShuffled && { order: shuffleMessages(questions.length, seed) }),
        });
      } finally {
        chosen.dispose();
      }
    } finally {
      if (linked) linked.dispose();
    }
  }

  /** @throws as `run`; the signal's reason after an abort */
  async evaluate(
    request: EvaluationRequest,
    signal: AbortSignal,
    onProgress: (progress: { links: string; done: number; n: number }) => void,
  ): Promise<EvaluationRow[]> {
    const { n, rounds, latentSteps, seed } = request;
    const system = this.ring(request);
    const conditions = request.conditions.map(conditionOf);
    const linked = conditions.some(needsTraining) && this.link(system, request);
    try {
      const { results } = await evaluateRecursion({
        system,
        ...(linked && { trained: linked.system }),
        questions: relayEvaluationQuestions(seed, n, { pattern: system.pattern }),
        fitQuestions: relayFitQuestions(seed, FIT_QUESTIONS, { pattern: system.pattern }),
        conditions,
        rounds,
        latentSteps,
        task: "relay",
        seed,
        signal,
        onProgress,
      });
      return results.map((row) => ({
        links: row.links,
        rounds: row.rounds,
        n: row.n,
        accuracy: row.accuracy,
        ci95: row.ci95,
        textTokens: row.textTokens,
        latentSteps: row.latentSteps,
        ms: row.ms,
        byRoundsNeeded: row.byRoundsNeeded,
      }));
    } finally {
      if (linked) linked.dispose();
    }
  }

  async vocabulary(id: string, limit: number): Promise<VocabularySample> {
    const { language } = this.modelOf(id);
    const { vocabSize, hiddenSize } = language.config;
    const stride = Math.max(1, Math.ceil(vocabSize / limit));
    const ids = Array.from({ length: Math.ceil(vocabSize / stride) }, (_, i) => i * stride);
    const vectors = (await language.embed(ids)) as Float32Array<ArrayBuffer>;
    return { model: id, hiddenSize, texts: ids.map((own) => language.tokenizer.decode([own])), vectors };
  }

  private link(system: UnlinkedSystem, { links }: RingSpec): LinkedSystem {
    if (links === undefined) throw new EngineError("linksMissing", "no set of links was named");
    const set = this.shelf.get(links);
    try {
      return linkSystem(system, set);
    } catch (error) {
      if (error instanceof RangeError) throw new EngineError("linksMisfit", error.message, { cause: error });
      throw error;
    }
  }

  private async fitOf(system: UnlinkedSystem, latentSteps: number, signal: AbortSignal) {
    const key = JSON.stringify([latentSteps, system.agents.map(({ role, model }) => [role, model.language.id])]);
    if (this.fit?.key !== key) {
      const questions = relayFitQuestions(0, FIT_QUESTIONS, { pattern: system.pattern });
      this.fit = { key, matrices: await fitInnerLinks(system, questions, { latentSteps, signal }) };
    }
    return this.fit.matrices;
  }
}

function relayOf({ seed, hops, deal, chain, holders }: RelaySpec, { pattern }: UnlinkedSystem) {
  return relayQuestion(seed, { pattern, hops, deal, ...(chain && { chain }), ...(holders && { holders }) });
}

/** What a run of several questions side by side costs one of them; times stay those of the run. */
function perQuestion(event: RecursionEvent, questions: number): RecursionEvent {
  if (questions === 1 || event.type !== "recursionFinished") return event;
  const { promptTokens, textTokens, latentSteps, multiplyAdds, ms } = event.ledger;
  const { body, head, link } = multiplyAdds;
  const ledger: RecursionLedger = {
    promptTokens: Math.round(promptTokens / questions),
    textTokens: Math.round(textTokens / questions),
    latentSteps: Math.round(latentSteps / questions),
    multiplyAdds: { body: body / questions, head: head / questions, link: link / questions },
    ms,
  };
  return { ...event, ledger };
}
