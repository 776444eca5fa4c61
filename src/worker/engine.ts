/**
 * The engine behind the worker's protocol: one model at a time, one run at a time, worlds by seed. Knows nothing of
 * workers or of WebGPU itself, so that tests drive it in Node with any model.
 */
import { research } from "../dual/loop";
import type { PythonRunner } from "../dual/tools/python";
import { standardTools } from "../dual/tools/standard";
import type { LanguageModel } from "../model/languageModel";
import type { World } from "../world/types";
import { makeWorld } from "../world/world";
import { EventBatcher } from "./eventBatcher";
import { EngineError, problemOf } from "./problems";
import type {
  DeviceInfo,
  EngineApi,
  EngineProblem,
  LoadOutcome,
  LoadRequest,
  MessageSink,
  ModelInfo,
  ResearchOutcome,
  ResearchRequest,
  WorldSummary,
} from "./protocol";

export interface LoadHooks {
  signal: AbortSignal;
  onDevice: (device: DeviceInfo) => void;
  onProgress: (loadedBytes: number, totalBytes: number) => void;
}

export interface OpenModel {
  model: LanguageModel;
  device: DeviceInfo;
  info: ModelInfo;
  /** Resolves with the reason when the device is lost without having been given up. */
  lost: Promise<EngineProblem>;
  /** Frees the model and its device. */
  close(): void;
}

/** Opens a model. Throws an EngineError for a known failure, the signal's reason after an abort. */
export type ModelOpener = (request: LoadRequest, hooks: LoadHooks) => Promise<OpenModel>;

export class Engine implements EngineApi {
  private port: MessageSink | undefined;
  private open: OpenModel | undefined;
  private loading: AbortController | undefined;
  private running: AbortController | undefined;
  private current: World | undefined;
  private readonly losses = new WeakMap<OpenModel, EngineProblem>();

  constructor(
    private readonly openModel: ModelOpener,
    private readonly python: PythonRunner,
  ) {}

  connect(port: MessageSink): void {
    this.port = port;
  }

  async load(request: LoadRequest): Promise<LoadOutcome> {
    if (this.open?.info.id === request.id) {
      const { device, info } = this.open;
      return { status: "ready", device, model: info };
    }
    this.cancelLoad();
    this.close();
    const controller = new AbortController();
    this.loading = controller;
    try {
      const open = await this.openModel(request, {
        signal: controller.signal,
        onDevice: (device) => this.port?.postMessage({ type: "device", device }),
        onProgress: (loadedBytes, totalBytes) => this.port?.postMessage({ type: "progress", loadedBytes, totalBytes }),
      });
      if (controller.signal.aborted) {
        open.close();
        return { status: "cancelled" };
      }
      this.open = open;
      void open.lost.then((problem) => this.onLost(open, problem));
      return { status: "ready", device: open.device, model: open.info };
    } catch (error) {
      return controller.signal.aborted ? { status: "cancelled" } : { status: "failed", problem: problemOf(error) };
    } finally {
      if (this.loading === controller) this.loading = undefined;
    }
  }

  cancelLoad(): void {
    this.loading?.abort();
  }

  world(seed: number): WorldSummary {
    const { documents, questions } = this.worldOf(seed);
    return {
      seed,
      articles: documents.length,
      questions: questions.map(({ text, hops, kind, gold }) => ({ text, hops, kind, gold })),
    };
  }

  async research(request: ResearchRequest): Promise<ResearchOutcome> {
    const { run, question, gold, useSystem1, capacity, searchResults, maxTurns, temperature, seed } = request;
    const batcher = new EventBatcher((events) => this.port?.postMessage({ type: "events", run, events }));
    const controller = new AbortController();
    const { open } = this;
    try {
      if (!open) throw new EngineError("engineFailed", "no model is loaded");
      if (this.running) throw new EngineError("engineFailed", "another run is in progress");
      this.running = controller;
      const { documents } = this.worldOf(request.world);
      const result = await research(question, {
        system2: open.model,
        tools: standardTools(documents, this.python, searchResults),
        corpus: `world ${request.world}`,
        ...(capacity !== undefined && { capacity }),
        maxTurns,
        useSystem1,
        searchResults,
        sampling: { temperature, seed },
        signal: controller.signal,
        onEvent: (event) => batcher.push(event),
        ...(gold && { gold }),
      });
      if (result.reason !== "error") return { status: "finished" };
      // A lost device may show itself as some other failure first.
      return { status: "failed", problem: this.losses.get(open) ?? problemOf(result.error) };
    } catch (error) {
      return { status: "failed", problem: problemOf(error) };
    } finally {
      batcher.flush();
      if (this.running === controller) this.running = undefined;
    }
  }

  stop(): void {
    this.running?.abort();
  }

  /** The world of a seed; the last one is kept, with the search index that belongs to its documents. */
  private worldOf(seed: number): World {
    if (this.current?.seed !== seed) this.current = makeWorld(seed);
    return this.current;
  }

  private onLost(open: OpenModel, problem: EngineProblem): void {
    if (this.open !== open) return;
    this.losses.set(open, problem);
    this.close();
    this.port?.postMessage({ type: "deviceLost", problem });
  }

  private close(): void {
    const { open } = this;
    this.open = undefined;
    open?.close();
  }
}
