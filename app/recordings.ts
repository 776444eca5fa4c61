/**
 * The runs that the page is shipped with, as requests to the engine, for `node scripts/recordTraces.mjs`: what they ask
 * is what the rooms ask when nothing was changed.
 */
import { makeWorld, type RecursionEvent, type TraceEvent } from "../src/index";
import type { EngineApi } from "../src/worker/protocol";
import { parseDualTrace, writeDualTrace } from "./engine/dualTrace";
import { writeRecursionTrace } from "./engine/recursionTrace";
import { RELAY_MODELS, RESEARCH_AGENT, SHIPPED_LINKS } from "./models";
import { RECORDED_RUNS } from "./rooms/dualSystem/recorded";
import * as dualSystem from "./rooms/dualSystem/search";
import * as latentRecursion from "./rooms/latentRecursion/search";

/** File under public/, as app/stores/recursionStore.ts has it. */
const RECURSION_TRACE = "traces/latent-recursion.json";

/** What a recorder offers: an engine that has loaded models and links, and the events of the run in progress. */
export interface Recorder {
  engine: Pick<EngineApi, "research" | "recur">;
  device: string;
  /** SHA-256 of the weights of each of the recording's models. */
  weights: readonly string[];
  /** Takes the events that have arrived. */
  taken(): { research: TraceEvent[]; recursion: RecursionEvent[] };
}

export interface Recording {
  /** Under public/. */
  file: string;
  models: readonly string[];
  /** Handle and folder of links that are needed. */
  links?: { id: string; folder: string };
  /** Resolves to the file's text. @throws Error naming why the run cannot be shown to visitors */
  record(recorder: Recorder): Promise<string>;
}

const research: Recording[] = RECORDED_RUNS.map(({ file, search: changes }) => ({
  file,
  models: [RESEARCH_AGENT],
  async record({ engine, device, weights, taken }) {
    const search = dualSystem.searchSchema.parse(changes);
    const question = dualSystem.questionOf(search, makeWorld(search.world).questions);
    if (!question) throw new Error(`${file}: world ${search.world} has no such question`);
    const outcome = await engine.research({ ...dualSystem.toRequest(search, question), run: 1 });
    if (outcome.status === "failed") throw new Error(`${file}: ${outcome.problem.detail}`);
    const events = taken().research;
    const answer = events.find((event) => event.type === "answer");
    // The picture of two systems has to end well; that of one shows whatever happens.
    if (search.system1 && answer?.correct !== true) {
      throw new Error(
        `${file}: the agent does not answer "${question.text}" rightly any more; choose another HOME_ITEM in ` +
          "app/rooms/dualSystem/search.ts, best one that it answers with System 1 and not without",
      );
    }
    const text = writeDualTrace({ search: { ...dualSystem.runSearch(search) }, device, weights: weights[0], events });
    parseDualTrace(text);
    return text;
  },
}));

const recursion: Recording = {
  file: RECURSION_TRACE,
  models: RELAY_MODELS,
  links: { id: latentRecursion.DEFAULTS.links, folder: SHIPPED_LINKS },
  async record({ engine, taken }) {
    const search = latentRecursion.searchSchema.parse({});
    const outcome = await engine.recur({ ...latentRecursion.toRequest(search), run: 1 });
    if (outcome.status === "failed") throw new Error(`${RECURSION_TRACE}: ${outcome.problem.detail}`);
    const events = taken().recursion;
    const answer = events.find((event) => event.type === "recursionAnswer");
    if (answer?.correct !== true) {
      throw new Error(`${RECURSION_TRACE}: the ring does not answer rightly any more; choose another seed in its room`);
    }
    return writeRecursionTrace(latentRecursion.relaySpec(search), events);
  },
};

export const RECORDINGS: readonly Recording[] = [...research, recursion];
