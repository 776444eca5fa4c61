/** Recursions, evaluations and readings of embeddings for the engine: questions of relay for a ring of loaded models. */

import type { LinkSet } from "../links/linkSet";
import { shuffleMessages } from "../links/shuffle";
import type { Ring, ThinkingModel } from "../recursion/agent";
import { conditionOf, evaluateRecursion, needsTraining } from "../recursion/evaluate";
import { chooseLinks, fitInnerLinks, type UnlinkedSystem } from "../recursion/linkChoice";
import { linkSystem } from "../recursion/linkSetSystem";
import { sequentialPattern } from "../recursion/pattern";
import { choosePlainLinks, plainLinkSystem, TAPE_CHOICES } from "../recursion/plainSystem";
import type { RecursionQuestion } from "../recursion/question";
import { relayEvaluationQuestions, relayFitQuestions } from "../recursion/relayEvaluation";
import { relayQuestion } from "../recursion/relayTask";
import { type RecursionOptions, type RecursionResult, runPlainRecursion, runRecursion } from "../recursion/run";
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
    private readonly modelOf: (id: string) => ThinkingModel,
    private readonly shelf: LinkShelf,
  ) {}

  /** The agents of a ring, without links. @throws EngineError when a model is not loaded, or for text only */
  private ring({ agents }: RingSpec): Ring {
    return {
      pattern: sequentialPattern(agents.map(({ role }) => role)),
      agents: agents.map(({ id, role, model }) => ({ id, role, model: this.modelOf(model) })),
    };
  }

  /**
   * As `ring`, on the tape.
   * @param purpose what is to be done there, as the beginning of a sentence
   * @throws EngineError also naming a model on another engine
   */
  tapeRing(spec: RingSpec, purpose: string): UnlinkedSystem {
    const ring = this.ring(spec);
    if (isOnTape(ring)) return ring;
    const other = ring.agents.find(({ model }) => !("decoder" in model));
    throw new EngineError(
      "needsWebGpu",
      `${purpose} on the tape, which our own engine has; ${other?.model.language.id} runs on another one`,
    );
  }

  /** @throws EngineError for links that are missing or do not fit; RangeError for a bad request */
  async run(
    request: RecursionRequest,
    signal: AbortSignal,
    onEvent: (event: RecursionEvent) => void,
  ): Promise<RecursionResult> {
    const { inner, outer, passing, rounds, latentSteps, peeks, temperature, seed, relay } = request;
    const ring = this.ring(request);
    const isLatent = passing === "latent";
    // Without latents links carry nothing.
    const choice = { inner: isLatent ? inner : ("zero" as const), outer: isLatent ? outer : ("zero" as const), seed };
    const questionsFor = (isShuffled: boolean) => {
      const questions = [relayOf(relay, ring)];
      // Messages change places between questions, so that there have to be two.
      if (isShuffled) questions.push(relayOf({ ...relay, seed: relay.seed + 1 }, ring));
      return questions;
    };
    const optionsFor = (questions: readonly RecursionQuestion[], isShuffled: boolean): RecursionOptions => ({
      passing,
      rounds,
      latentSteps,
      peeks,
      sampling: { temperature, seed },
      links: { inner, outer },
      task: "relay",
      signal,
      onEvent: (event) => onEvent(perQuestion(event, questions.length)),
      ...(isShuffled && { order: shuffleMessages(questions.length, seed) }),
    });
    const needsSet = isLatent && [inner, outer].some((own) => TRAINED.includes(own));
    if (!isOnTape(ring)) {
      const tapeChoice = [choice.inner, choice.outer].find((own) => TAPE_CHOICES.includes(own));
      if (tapeChoice) this.tapeRing(request, `links "${tapeChoice}" are computed`);
      const trained = needsSet ? this.link(request, (set) => plainLinkSystem(ring, set)) : undefined;
      const { system, isShuffled } = choosePlainLinks(ring, { ...choice, ...(trained && { trained }) });
      const questions = questionsFor(isShuffled);
      return runPlainRecursion(system, questions, optionsFor(questions, isShuffled));
    }
    const linked = needsSet && this.link(request, (set) => linkSystem(ring, set));
    try {
      const innerFits = choice.inner === "ridge" ? await this.fitOf(ring, latentSteps, signal) : undefined;
      const chosen = await chooseLinks(ring, {
        ...choice,
        ...(linked && { trained: linked.system }),
        ...(innerFits && { innerFits }),
      });
      try {
        const questions = questionsFor(chosen.isShuffled);
        return await runRecursion(chosen.system, questions, optionsFor(questions, chosen.isShuffled));
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
    const system = this.tapeRing(request, "links are compared");
    const conditions = request.conditions.map(conditionOf);
    const linked = conditions.some(needsTraining) && this.link(request, (set) => linkSystem(system, set));
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

  /** The set that a request names, put between its agents. */
  private link<T>({ links }: RingSpec, put: (set: LinkSet) => T): T {
    if (links === undefined) throw new EngineError("linksMissing", "no set of links was named");
    const set = this.shelf.get(links);
    try {
      return put(set);
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

function isOnTape(ring: Ring): ring is UnlinkedSystem {
  return ring.agents.every(({ model }) => "decoder" in model);
}

function relayOf({ seed, hops, deal, chain, holders }: RelaySpec, { pattern }: Ring) {
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
