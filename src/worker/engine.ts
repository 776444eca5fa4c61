/**
 * The engine behind the worker's protocol: one device with its models, one run at a time, worlds by seed. Knows nothing
 * of workers or of WebGPU itself, so that tests drive it in Node with any model.
 */
import { research } from "../dual/loop";
import type { PythonRunner } from "../dual/tools/python";
import { standardTools } from "../dual/tools/standard";
import type { LanguageModel } from "../model/languageModel";
import type { World } from "../world/types";
import { makeWorld } from "../world/world";
import { meteredFetch } from "./downloadMeter";
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
  ModelSource,
  ResearchRequest,
  RunOutcome,
  WorldSummary,
} from "./protocol";

export interface LoadHooks {
  signal: AbortSignal;
  /** Counts the bytes of weights as they arrive. */
  fetchFile: typeof fetch;
}

export interface LoadedModel {
  model: LanguageModel;
  info: ModelInfo;
  dispose(): void;
}

/** The device that all models live on. */
export interface OpenDevice {
  info: DeviceInfo;
  /** Resolves with the reason when the device is lost without having been given up. */
  lost: Promise<EngineProblem>;
  /** Throws what `problemOf` knows; the signal's reason after an abort. Nothing stays allocated then. */
  load(source: ModelSource, hooks: LoadHooks): Promise<LoadedModel>;
  /** Frees everything. */
  close(): void;
}

/** Throws what `problemOf` knows. */
export type DeviceOpener = () => Promise<OpenDevice>;

export class Engine implements EngineApi {
  private port: MessageSink | undefined;
  private device: OpenDevice | undefined;
  private opening: Promise<OpenDevice> | undefined;
  private readonly models = new Map<string, LoadedModel>();
  private loading: AbortController | undefined;
  private running: AbortController | undefined;
  private current: World | undefined;
  private readonly losses = new WeakMap<OpenDevice, EngineProblem>();

  constructor(
    private readonly openDevice: DeviceOpener,
    private readonly python: PythonRunner,
  ) {}

  connect(port: MessageSink): void {
    this.port = port;
  }

  async load({ models }: LoadRequest): Promise<LoadOutcome> {
    this.cancelLoad();
    const controller = new AbortController();
    this.loading = controller;
    const { signal } = controller;
    try {
      const device = await this.opened();
      signal.throwIfAborted();
      const fetchFile = meteredFetch((loadedBytes, totalBytes) => {
        if (!signal.aborted) this.port?.postMessage({ type: "progress", loadedBytes, totalBytes });
      });
      const loads = models.map((source) => this.loaded(device, source, { signal, fetchFile }));
      return { status: "ready", device: device.info, models: await Promise.all(loads) };
    } catch (error) {
      if (signal.aborted) return { status: "cancelled" };
      // What else was being loaded is of no use without the model that failed.
      controller.abort();
      const problem = (this.device && this.losses.get(this.device)) ?? problemOf(error);
      // A device that refused a command once refuses all of them.
      if (problem.kind === "engineFailed" || this.models.size === 0) this.close();
      return { status: "failed", problem };
    } finally {
      if (this.loading === controller) this.loading = undefined;
    }
  }

  /** The device; it is opened with the first use, once for all who ask meanwhile. */
  private async opened(): Promise<OpenDevice> {
    if (this.device) return this.device;
    this.opening ??= this.openDevice().finally(() => {
      this.opening = undefined;
    });
    const device = await this.opening;
    if (!this.device) {
      this.device = device;
      this.port?.postMessage({ type: "device", device: device.info });
      void device.lost.then((problem) => this.onLost(device, problem));
    }
    return device;
  }

  private async loaded(device: OpenDevice, source: ModelSource, hooks: LoadHooks): Promise<ModelInfo> {
    const known = this.models.get(source.id);
    if (known) return known.info;
    const loaded = await device.load(source, hooks);
    if (hooks.signal.aborted) {
      loaded.dispose();
      hooks.signal.throwIfAborted();
    }
    this.models.set(source.id, loaded);
    return loaded.info;
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

  async research(request: ResearchRequest): Promise<RunOutcome> {
    const { run, question, gold, useSystem1, capacity, searchResults, maxTurns, temperature, seed } = request;
    const batcher = new EventBatcher((events) => this.port?.postMessage({ type: "events", run, events }));
    const controller = new AbortController();
    const { device } = this;
    try {
      const { model } = this.modelOf(request.model);
      if (this.running) throw new EngineError("engineFailed", "another run is in progress");
      this.running = controller;
      const { documents } = this.worldOf(request.world);
      const result = await research(question, {
        system2: model,
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
      return { status: "failed", problem: this.problemOn(device, result.error) };
    } catch (error) {
      return { status: "failed", problem: this.problemOn(device, error) };
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

  private modelOf(id: string): LoadedModel {
    const loaded = this.models.get(id);
    if (!loaded) throw new EngineError("engineFailed", `the model ${id} is not loaded`);
    return loaded;
  }

  /** What went wrong on a device; its loss may show itself as some other failure first. */
  private problemOn(device: OpenDevice | undefined, error: unknown): EngineProblem {
    return (device && this.losses.get(device)) ?? problemOf(error);
  }

  private onLost(device: OpenDevice, problem: EngineProblem): void {
    if (this.device !== device) return;
    this.losses.set(device, problem);
    this.close();
    this.port?.postMessage({ type: "deviceLost", problem });
  }

  private close(): void {
    const { device } = this;
    this.device = undefined;
    for (const { dispose } of this.models.values()) dispose();
    this.models.clear();
    device?.close();
  }
}
