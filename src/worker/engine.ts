/**
 * The engine behind the worker's protocol: one device with its models, one run at a time, worlds by seed. Knows nothing
 * of workers or of WebGPU itself, so that tests drive it in Node with any model.
 */

import type { FileSource } from "../corpus/source";
import type { PythonRunner } from "../dual/tools/python";
import type { LanguageModel } from "../model/languageModel";
import type { LatentModel } from "../recursion/agent";
import type { TraceEvent } from "../trace/events";
import type { RecursionEvent } from "../trace/recursionEvents";
import type { CorpusId } from "../world/world";
import { meteredFetch } from "./downloadMeter";
import { EventBatcher } from "./eventBatcher";
import { LinkShelf } from "./linkShelf";
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

import { RecursionDesk } from "./recursionDesk";
import type {
  EvaluationOutcome,
  EvaluationRequest,
  FileOutcome,
  LinkFile,
  LinksOutcome,
  RecursionRequest,
  VocabularyOutcome,
} from "./recursionProtocol";
import { ResearchDesk } from "./researchDesk";
import type {
  BatchOutcome,
  BatchRequest,
  MeasureOutcome,
  MeasureRequest,
  OwnCorpus,
  ReadOutcome,
  ReadRequest,
  Site,
  SourceView,
} from "./researchProtocol";
import type { TrainingArchive } from "./trainingArchive";
import { TrainingDesk } from "./trainingDesk";
import type {
  ImportOutcome,
  Outcome,
  ResumeRequest,
  SavedOutcome,
  TrainingEnd,
  TrainingOutcome,
  TrainRequest,
} from "./trainingProtocol";

export interface LoadHooks {
  signal: AbortSignal;
  /** Counts the bytes of weights as they arrive. */
  fetchFile: typeof fetch;
}

export interface LoadedModel {
  model: LanguageModel;
  /** The same weights for latent thoughts, where they were asked for. */
  latent?: LatentModel;
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

interface Failed {
  status: "failed";
  problem: EngineProblem;
}

export class Engine implements EngineApi {
  private port: MessageSink | undefined;
  private device: OpenDevice | undefined;
  private opening: Promise<OpenDevice> | undefined;
  private readonly models = new Map<string, LoadedModel>();
  private loading: AbortController | undefined;
  private running: AbortController | undefined;
  private readonly links = new LinkShelf();
  private readonly recursions = new RecursionDesk((id) => this.latentModel(id), this.links);
  private readonly losses = new WeakMap<OpenDevice, EngineProblem>();

  private readonly training: TrainingDesk;
  private readonly researches: ResearchDesk;

  constructor(
    private readonly openDevice: DeviceOpener,
    python: PythonRunner,
    private readonly archive: TrainingArchive,
    readCMap?: (name: string) => Promise<Uint8Array>,
  ) {
    this.researches = new ResearchDesk(
      (id) => this.loadedModel(id).model,
      python,
      (message) => this.port?.postMessage(message),
      readCMap,
    );
    this.training = new TrainingDesk(
      (spec) => this.recursions.ring(spec),
      this.links,
      archive,
      (message) => this.port?.postMessage(message),
    );
  }

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
    if (known && (known.latent || !source.latent)) return known.info;
    const loaded = await device.load(source, hooks);
    if (hooks.signal.aborted) {
      loaded.dispose();
      hooks.signal.throwIfAborted();
    }
    known?.dispose();
    this.models.set(source.id, loaded);
    return loaded.info;
  }

  cancelLoad(): void {
    this.loading?.abort();
  }

  world(seed: number, corpus: CorpusId = "encyclopedia"): WorldSummary {
    return this.researches.world(seed, corpus);
  }

  async research(request: ResearchRequest): Promise<RunOutcome> {
    const { run } = request;
    const batcher = new EventBatcher<TraceEvent>((events) => this.port?.postMessage({ type: "events", run, events }));
    return this.job(batcher, async (signal) => {
      const result = await this.researches.run(request, signal, (event) => batcher.push(event));
      if (result.reason === "error") throw result.error;
      return { status: "finished" } as const;
    });
  }

  researchBatch(request: BatchRequest): Promise<BatchOutcome> {
    return this.stoppable(async (signal) => {
      await this.researches.batch(request, signal);
      return { status: "finished" } as const;
    });
  }

  measurePacking(request: MeasureRequest): Promise<MeasureOutcome> {
    return this.stoppable((signal) => this.researches.measure(request, signal));
  }

  readDocuments(request: ReadRequest): Promise<ReadOutcome> {
    return this.outcome(() => this.researches.read(request));
  }

  cancelReading(): void {
    this.researches.cancelReading();
  }

  removeDocuments(name?: string): OwnCorpus {
    return this.researches.remove(name);
  }

  viewSource(source: FileSource, quote?: string): SourceView | undefined {
    return this.researches.viewSource(source, quote);
  }

  allowSite(site: Site, allowed: boolean): void {
    this.researches.allow(site, allowed);
  }

  async recur(request: RecursionRequest): Promise<RunOutcome> {
    const { run } = request;
    const batcher = new EventBatcher<RecursionEvent>((events) =>
      this.port?.postMessage({ type: "recursionEvents", run, events }),
    );
    return this.job(batcher, async (signal) => {
      const result = await this.recursions.run(request, signal, (event) => batcher.push(event));
      if (result.reason === "error") throw result.error;
      return { status: "finished" } as const;
    });
  }

  async evaluate(request: EvaluationRequest): Promise<EvaluationOutcome> {
    const { run } = request;
    return this.stoppable(async (signal) => {
      const results = await this.recursions.evaluate(request, signal, (progress) =>
        this.port?.postMessage({ type: "evaluationProgress", run, ...progress }),
      );
      return { status: "finished", results } as const;
    });
  }

  async fetchLinks(id: string, url: string): Promise<LinksOutcome> {
    return this.outcome(async () => ({ status: "ready", info: await this.links.fetch(id, url) }) as const);
  }

  async openLinks(id: string, file: LinkFile): Promise<LinksOutcome> {
    return this.outcome(() => ({ status: "ready", info: this.links.read(id, file) }) as const);
  }

  async exportLinks(id: string): Promise<FileOutcome> {
    return this.outcome(() => ({ status: "ready", file: this.links.export(id) }) as const);
  }

  async vocabulary(model: string, limit: number): Promise<VocabularyOutcome> {
    return this.outcome(
      async () => ({ status: "ready", sample: await this.recursions.vocabulary(model, limit) }) as const,
    );
  }

  stop(): void {
    this.running?.abort();
  }

  train(request: TrainRequest): Promise<TrainingOutcome> {
    return this.trained(() => this.training.train(request));
  }

  resumeTraining(request: ResumeRequest): Promise<TrainingOutcome> {
    return this.trained(() => this.training.resume(request));
  }

  pauseTraining(): Promise<Outcome> {
    return this.done(() => this.training.pause());
  }

  continueTraining(): Promise<Outcome> {
    return this.done(() => {
      this.checkFree();
      this.training.continue();
    });
  }

  stepTraining(): Promise<Outcome> {
    return this.done(() => {
      this.checkFree();
      return this.training.step();
    });
  }

  stopTraining(): void {
    this.training.stop();
  }

  savedTraining(): Promise<SavedOutcome> {
    return this.outcome(async () => ({ status: "ready", saved: await this.training.saved() }) as const);
  }

  discardTraining(): Promise<Outcome> {
    return this.done(() => this.archive.clear());
  }

  importTraining(file: LinkFile): Promise<ImportOutcome> {
    return this.outcome(() => this.training.import(file));
  }

  exportTraining(): Promise<FileOutcome> {
    return this.outcome(async () => ({ status: "ready", file: await this.training.export() }) as const);
  }

  /** One run at a time; what it throws becomes its outcome. */
  private async job<T>(
    batcher: { flush(): void } | undefined,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T | Failed> {
    const controller = new AbortController();
    return this.outcome(async () => {
      this.checkFree();
      this.running = controller;
      return work(controller.signal);
    }).finally(() => {
      batcher?.flush();
      if (this.running === controller) this.running = undefined;
    });
  }

  /** A job that throws when it is stopped. */
  private stoppable<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T | Failed | { status: "stopped" }> {
    return this.job(undefined, async (signal) => {
      try {
        return await work(signal);
      } catch (error) {
        if (signal.aborted) return { status: "stopped" } as const;
        throw error;
      }
    });
  }

  private trained(work: () => Promise<TrainingEnd>): Promise<TrainingOutcome> {
    return this.outcome(async () => {
      this.checkFree();
      return { status: "finished", reason: await work() } as const;
    });
  }

  private done(work: () => void | Promise<void>): Promise<Outcome> {
    return this.outcome(async () => {
      await work();
      return { status: "done" } as const;
    });
  }

  /** @throws EngineError when the device is at work; a training run that is halted leaves it free */
  private checkFree(): void {
    if (this.running) throw new EngineError("engineFailed", "another run is in progress");
    if (this.training.isWorking) throw new EngineError("engineFailed", "a training run is in progress");
  }

  private async outcome<T>(work: () => T | Promise<T>): Promise<T | Failed> {
    const { device } = this;
    try {
      return await work();
    } catch (error) {
      return { status: "failed", problem: this.problemOn(device, error) };
    }
  }

  private latentModel(id: string): LatentModel {
    const { latent } = this.loadedModel(id);
    if (!latent) throw new EngineError("engineFailed", `the model ${id} was loaded for text only`);
    return latent;
  }

  private loadedModel(id: string): LoadedModel {
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
    this.training.forget();
    for (const { dispose } of this.models.values()) dispose();
    this.models.clear();
    device?.close();
  }
}
