/**
 * The engine behind the worker's protocol: models on their devices, one run at a time, worlds by seed. Knows nothing of
 * workers or of WebGPU itself, so that tests drive it in Node with any model.
 */

import { CheckpointStore } from "../checkpoint/store";
import type { FileSource } from "../corpus/source";
import type { PythonRunner } from "../dual/tools/python";
import type { ThinkingModel } from "../recursion/agent";
import type { TraceEvent } from "../trace/events";
import type { RecursionEvent } from "../trace/recursionEvents";
import type { CorpusId } from "../world/world";
import type { AdapterOutcome, KernelTestDepth, KernelTestOutcome } from "./deviceProtocol";
import { EventBatcher } from "./eventBatcher";
import type { GpuInspection } from "./gpuInspection";
import { LibraryDesk, type LibraryDeskOptions } from "./libraryDesk";
import type {
  CheckpointOrigin,
  ContinueOutcome,
  ContinueRequest,
  KeepOutcome,
  OpenOutcome,
  StoreReport,
  WeightErrorOutcome,
} from "./libraryProtocol";
import { LinkShelf } from "./linkShelf";
import type { LoadOutcome, LoadRequest } from "./loadProtocol";
import { type DeviceOpener, type LoadedModel, ModelDesk } from "./modelDesk";
import { EngineError } from "./problems";
import type { EngineApi, EngineProblem, MessageSink, ResearchRequest, RunOutcome, WorldSummary } from "./protocol";

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
import { measureWeightError } from "./weightError";

/** Where nothing can be kept: outside of browsers. */
const NO_STORE = new CheckpointStore(async () => {
  throw new Error("there is no store of checkpoints here");
});

interface Failed {
  status: "failed";
  problem: EngineProblem;
}

export class Engine implements EngineApi {
  private port: MessageSink | undefined;
  private readonly desk: ModelDesk;
  private readonly library: LibraryDesk;
  private running: AbortController | undefined;
  private readonly links = new LinkShelf();
  private readonly recursions = new RecursionDesk((id) => this.latentModel(id), this.links);
  private readonly training: TrainingDesk;
  private readonly researches: ResearchDesk;

  constructor(
    openDevice: DeviceOpener,
    python: PythonRunner,
    private readonly archive: TrainingArchive,
    readCMap?: (name: string) => Promise<Uint8Array>,
    library: Omit<LibraryDeskOptions, "post"> = { store: NO_STORE },
  ) {
    this.library = new LibraryDesk({ ...library, post: (message) => this.port?.postMessage(message) });
    this.desk = new ModelDesk(
      openDevice,
      {
        post: (message) => this.port?.postMessage(message),
        release: (model) => this.release(model),
        lost: (models) => {
          if (models.some(({ latent }) => latent && this.training.uses(latent))) this.training.forget();
        },
      },
      this.library,
    );
    this.researches = new ResearchDesk(
      (id) => this.desk.model(id).model,
      python,
      (message) => this.port?.postMessage(message),
      readCMap,
    );
    this.training = new TrainingDesk(
      (spec) => this.recursions.tapeRing(spec, "links are trained by gradients, and gradients are computed"),
      this.links,
      archive,
      (message) => this.port?.postMessage(message),
    );
  }

  connect(port: MessageSink): void {
    this.port = port;
  }

  load(request: LoadRequest): Promise<LoadOutcome> {
    return this.desk.load(request);
  }

  cancelLoad(): void {
    this.desk.cancel();
  }

  unload(id: string): Promise<Outcome> {
    return this.done(() => this.desk.unload(id));
  }

  openCheckpoint(origin: CheckpointOrigin): Promise<OpenOutcome> {
    return this.library.open(origin);
  }

  openKept(key: string): Promise<OpenOutcome> {
    return this.library.openKept(key);
  }

  keepCheckpoint(handle: string): Promise<KeepOutcome> {
    return this.library.keep(handle);
  }

  cancelLibrary(): void {
    this.library.cancel();
  }

  storeReport(): Promise<StoreReport> {
    return this.library.report();
  }

  deleteKept(key: string): Promise<Outcome> {
    return this.done(() => this.library.remove(key));
  }

  continueText({ model: id, prompt, chat, thinking, sampled, maxTokens }: ContinueRequest): Promise<ContinueOutcome> {
    return this.job(undefined, async (signal) => {
      const { model } = this.desk.model(id);
      const { tokenizer, config } = model;
      const options = thinking === undefined ? {} : { enableThinking: thinking };
      const ids = tokenizer.encode(chat ? tokenizer.renderChat([{ role: "user", content: prompt }], options) : prompt);
      const start = performance.now();
      const room = Math.max(0, Math.min(maxTokens, config.maxPositions - ids.length));
      const sampling = sampled ? config.sampling : undefined;
      const [result] = await model.generate([{ ...sampling, input: { ids }, maxTokens: room }], { signal });
      const milliseconds = performance.now() - start;
      const { text = "", ids: written = [], promptTokens = 0 } = result ?? {};
      return { status: "finished", text, ids: written, promptTokens, milliseconds } as const;
    });
  }

  measureWeights(id: string): Promise<WeightErrorOutcome> {
    return this.stoppable(async (signal) => {
      const { model } = this.desk.model(id);
      const onProgress = (share: number) => this.port?.postMessage({ type: "measuring", share });
      const error = await measureWeightError(
        model,
        (onLoad, work) => this.desk.asStored(id, { signal, onProgress: onLoad }, work),
        { signal, onProgress },
      );
      return { status: "finished", error } as const;
    });
  }

  adapter(): Promise<AdapterOutcome> {
    return this.outcome(async () => {
      const { inspection } = await this.inspected();
      const models = this.desk.loadedModels().flatMap(({ info, bytes }) => (bytes ? { id: info.id, ...bytes() } : []));
      return { status: "ready", adapter: inspection.report(), models } as const;
    });
  }

  testKernels(depth: KernelTestDepth): Promise<KernelTestOutcome> {
    return this.job(undefined, async (signal) => {
      const { inspection, info } = await this.inspected();
      const start = performance.now();
      try {
        const cases = await inspection.test(depth, signal, (done, total, latest) =>
          this.port?.postMessage({ type: "kernelTest", done, total, latest }),
        );
        const passed = cases.every((own) => own.passed);
        const milliseconds = performance.now() - start;
        const report = { device: info.name, software: info.software, depth, passed, milliseconds, cases };
        return { status: "finished", report } as const;
      } catch (error) {
        if (signal.aborted) return { status: "stopped" } as const;
        throw error;
      }
    });
  }

  loseDevice(): Promise<Outcome> {
    return this.done(async () => {
      this.checkFree();
      const { inspection, lost } = await this.inspected();
      inspection.lose();
      await lost;
    });
  }

  /** @throws what opening WebGPU throws */
  private async inspected() {
    const device = await this.desk.device("wgsl");
    return { ...device, inspection: device.inspection as GpuInspection };
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
    const devices = this.desk.openDevices;
    try {
      return await work();
    } catch (error) {
      return { status: "failed", problem: this.desk.problemOf(devices, error) };
    }
  }

  private latentModel(id: string): ThinkingModel {
    const { latent } = this.desk.model(id);
    if (!latent) throw new EngineError("textOnly", `the model ${id} was loaded for text only`);
    return latent;
  }

  /** A halted training run is saved; it ends when a model of its agents goes. */
  private async release({ latent }: LoadedModel): Promise<void> {
    this.checkFree();
    if (latent && this.training.uses(latent)) await this.training.drop();
  }
}
