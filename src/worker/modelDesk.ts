/**
 * Engines and models of the worker: which engine a model runs on, the devices, what is loaded, and what happens when a
 * device is lost. Knows nothing of WebGPU or onnxruntime-web itself, so that tests drive it with any model.
 */
import type { Engine } from "../model/engines";
import type { LanguageModel } from "../model/languageModel";
import type { ModelBytes } from "../model/wgslModel";
import type { ThinkingModel } from "../recursion/agent";
import { meteredFetch } from "./downloadMeter";
import type { GpuInspection } from "./gpuInspection";
import type {
  DeviceInfo,
  EngineVerdict,
  LoadMessage,
  LoadOutcome,
  LoadRequest,
  ModelInfo,
  ModelOrigin,
  ModelSource,
} from "./loadProtocol";
import type { FileShelf } from "./modelFiles";
import { EngineError, problemOf } from "./problems";
import type { EngineProblem, ProblemKind } from "./protocol";
import { runSelfTest } from "./selfTest";

export interface LoadHooks {
  signal: AbortSignal;
  /** Counts the bytes of weights as they arrive. */
  fetchFile: typeof fetch;
  /** Told of weights that reach the device without `fetchFile`. */
  onProgress(loadedBytes: number, totalBytes: number): void;
  /** Checkpoints of the visitor's own. */
  shelf: FileShelf;
}

export interface LoadedModel {
  model: LanguageModel;
  /** The same weights for latent thoughts, where they were asked for and the model can do it; on the tape, if ours. */
  latent?: ThinkingModel;
  info: ModelInfo;
  /** What it holds now, where its engine tells. */
  bytes?(): ModelBytes;
  dispose(): void;
}

/** What all models of an engine live on. */
export interface OpenDevice {
  info: DeviceInfo;
  /** Resolves with the reason when the device is lost without having been given up. */
  lost: Promise<EngineProblem>;
  /** Whether it can be used after a failure of its own: what refused a command once may refuse all of them. */
  survivesFailures: boolean;
  /** Of a device on WebGPU that is ours. */
  inspection?: GpuInspection;
  /** Throws what `problemOf` knows; the signal's reason after an abort. Nothing stays allocated then. */
  load(source: ModelSource, hooks: LoadHooks): Promise<LoadedModel>;
  /** Frees everything. */
  close(): void;
}

/** Throws what `problemOf` knows. */
export type DeviceOpener = (engine: Engine) => Promise<OpenDevice>;

interface Entry extends LoadedModel {
  /** As it was asked for; the engine may have been unable. */
  source: ModelSource;
}

/** Without these files no engine helps. */
const FILE_PROBLEMS: readonly ProblemKind[] = ["modelFilesMissing", "serverBusy", "modelInvalid"];

export interface ModelDeskHooks {
  post(message: LoadMessage): void;
  /** A model is about to be unloaded or replaced. @throws EngineError when a run is in progress */
  release(model: LoadedModel): void | Promise<void>;
  /** Models are gone with their device. */
  lost(models: readonly LoadedModel[]): void;
}

export class ModelDesk {
  private readonly devices = new Map<Engine, OpenDevice>();
  private readonly opening = new Map<Engine, Promise<OpenDevice>>();
  private readonly models = new Map<string, Entry>();
  private readonly losses = new WeakMap<OpenDevice, EngineProblem>();
  private readonly passed = new WeakSet<OpenDevice>();
  /** Why "auto" does not mean our engine in this worker. */
  private rejection: EngineProblem | undefined;
  private loading: AbortController | undefined;

  constructor(
    private readonly openDevice: DeviceOpener,
    private readonly hooks: ModelDeskHooks,
    private readonly shelf: FileShelf,
  ) {}

  async load({ models, selfTest }: LoadRequest): Promise<LoadOutcome> {
    this.cancel();
    const controller = new AbortController();
    this.loading = controller;
    const { signal } = controller;
    const devices = this.openDevices;
    try {
      const onProgress = (loadedBytes: number, totalBytes: number) => {
        if (!signal.aborted) this.hooks.post({ type: "progress", loadedBytes, totalBytes });
      };
      const hooks = { signal, fetchFile: meteredFetch(onProgress), onProgress, shelf: this.shelf };
      const auto = models.some(isLeftToUs) ? await this.decide(selfTest, hooks) : undefined;
      signal.throwIfAborted();
      const infos = await Promise.all(models.map((source) => this.loaded(source, engineOf(source, auto), hooks)));
      const engines = new Set(infos.map(({ engine }) => engine));
      const used = [...engines].flatMap((engine) => this.devices.get(engine)?.info ?? []);
      return { status: "ready", devices: used, ...(auto && { auto }), models: infos };
    } catch (error) {
      if (signal.aborted) return { status: "cancelled" };
      // What else was being loaded is of no use without the model that failed.
      controller.abort();
      return { status: "failed", problem: this.problemOf([...devices, ...this.openDevices], error) };
    } finally {
      if (this.loading === controller) this.loading = undefined;
    }
  }

  cancel(): void {
    this.loading?.abort();
  }

  /** @throws EngineError when a run is in progress */
  async unload(id: string): Promise<void> {
    const entry = this.models.get(id);
    if (!entry) return;
    await this.hooks.release(entry);
    if (this.models.get(id) !== entry) return;
    this.models.delete(id);
    entry.dispose();
    this.tell();
  }

  /** @throws EngineError */
  model(id: string): LoadedModel {
    const loaded = this.models.get(id);
    if (!loaded) throw new EngineError("engineFailed", `the model ${id} is not loaded`);
    return loaded;
  }

  /**
   * The files of a loaded model once more on its engine, as stored and for text, for as long as `work` takes.
   * @param onProgress told the share of its weights that is there, 0 to 1
   * @throws EngineError when it is not loaded; what loading and `work` throw
   */
  async asStored<T>(
    id: string,
    { signal, onProgress }: { signal: AbortSignal; onProgress(share: number): void },
    work: (model: LanguageModel) => Promise<T>,
  ): Promise<T> {
    const entry = this.models.get(id);
    if (!entry) throw new EngineError("engineFailed", `the model ${id} is not loaded`);
    const device = await this.opened(entry.info.engine);
    const tell = (loadedBytes: number, totalBytes: number) => onProgress(totalBytes > 0 ? loadedBytes / totalBytes : 0);
    const hooks = { signal, fetchFile: meteredFetch(tell), onProgress: tell, shelf: this.shelf };
    const loaded = await device.load({ ...entry.source, weights: "stored", latent: false }, hooks);
    try {
      return await work(loaded.model);
    } finally {
      loaded.dispose();
    }
  }

  /** All that is loaded. */
  loadedModels(): LoadedModel[] {
    return [...this.models.values()];
  }

  /** The device of an engine, opened if need be. @throws what opening it throws */
  device(engine: Engine): Promise<OpenDevice> {
    return this.opened(engine);
  }

  get openDevices(): OpenDevice[] {
    return [...this.devices.values()];
  }

  /** What went wrong; the loss of one of these devices may have shown itself as some other failure first. */
  problemOf(devices: readonly OpenDevice[], error: unknown): EngineProblem {
    for (const device of devices) {
      const loss = this.losses.get(device);
      if (loss) return loss;
    }
    return problemOf(error);
  }

  /** What "auto" means. @throws what opening the test's agent throws for its files; the signal's reason */
  private async decide(selfTest: ModelOrigin | undefined, hooks: LoadHooks): Promise<EngineVerdict> {
    if (!this.rejection) {
      let device: OpenDevice | undefined;
      try {
        device = await this.opened("wgsl");
        hooks.signal.throwIfAborted();
        if (selfTest && !this.passed.has(device)) await runSelfTest(device, selfTest, hooks);
        this.passed.add(device);
        return { engine: "wgsl" };
      } catch (error) {
        hooks.signal.throwIfAborted();
        const problem = this.problemOf(device ? [device] : [], error);
        if (FILE_PROBLEMS.includes(problem.kind)) throw error;
        this.rejection = problem;
        if (!this.isUsed("wgsl")) this.close("wgsl");
      }
    }
    return { engine: "onnx-wasm", problem: this.rejection };
  }

  /** The device of an engine; it is opened with the first use, once for all who ask meanwhile. */
  private async opened(engine: Engine): Promise<OpenDevice> {
    const known = this.devices.get(engine);
    if (known) return known;
    let opening = this.opening.get(engine);
    if (!opening) {
      opening = this.openDevice(engine).finally(() => this.opening.delete(engine));
      this.opening.set(engine, opening);
    }
    const device = await opening;
    if (!this.devices.has(engine)) {
      this.devices.set(engine, device);
      void device.lost.then((problem) => this.onLost(engine, device, problem));
    }
    return device;
  }

  private async loaded(source: ModelSource, engine: Engine, hooks: LoadHooks): Promise<ModelInfo> {
    const { id } = source;
    const known = this.models.get(id);
    if (known && known.info.engine === engine && serves(known.source, source)) return known.info;
    const device = await this.opened(engine);
    let loaded: LoadedModel;
    try {
      loaded = await device.load(source, hooks);
    } catch (error) {
      if (!hooks.signal.aborted && this.devices.get(engine) === device) {
        const isBroken = !device.survivesFailures && this.problemOf([device], error).kind === "engineFailed";
        if (isBroken || !this.isUsed(engine)) this.close(engine);
      }
      throw error;
    }
    try {
      hooks.signal.throwIfAborted();
      // What a run uses stays; the new model is not needed then.
      if (known) await this.hooks.release(known);
      hooks.signal.throwIfAborted();
    } catch (error) {
      loaded.dispose();
      throw error;
    }
    known?.dispose();
    this.models.set(id, { ...loaded, source });
    this.tell();
    return loaded.info;
  }

  private isUsed(engine: Engine): boolean {
    return [...this.models.values()].some(({ info }) => info.engine === engine);
  }

  private onLost(engine: Engine, device: OpenDevice, problem: EngineProblem): void {
    if (this.devices.get(engine) !== device) return;
    this.losses.set(device, problem);
    // Told first: whoever hears of it still knows which models were there.
    this.hooks.post({ type: "deviceLost", engine, problem });
    this.close(engine);
  }

  private close(engine: Engine): void {
    const device = this.devices.get(engine);
    if (!device) return;
    this.devices.delete(engine);
    const gone = [...this.models.values()].filter(({ info }) => info.engine === engine);
    this.hooks.lost(gone);
    for (const { info, dispose } of gone) {
      this.models.delete(info.id);
      dispose();
    }
    device.close();
    if (gone.length > 0) this.tell();
  }

  private tell(): void {
    this.hooks.post({ type: "models", models: [...this.models.values()].map(({ info }) => info) });
  }
}

/** Whether a model that was loaded as `loaded` does what is asked for now, on the same engine. */
function serves(loaded: ModelSource, wanted: ModelSource): boolean {
  const isSame =
    (loaded.weights ?? "stored") === (wanted.weights ?? "stored") &&
    (loaded.cache ?? "f32") === (wanted.cache ?? "f32") &&
    loaded.context === wanted.context;
  return isSame && (loaded.latent === true || wanted.latent !== true);
}

const isLeftToUs = ({ engine = "auto", onnx }: ModelSource) => engine === "auto" && !onnx;

function engineOf({ id, engine = "auto", onnx }: ModelSource, auto: EngineVerdict | undefined): Engine {
  if (onnx && engine === "wgsl") {
    throw new EngineError("modelInvalid", `${id}: an export in ONNX runs on onnxruntime-web, not on our engine`);
  }
  if (engine !== "auto") return engine;
  return onnx ? "onnx-wasm" : (auto?.engine ?? "onnx-wasm");
}
