/** The devices of a browser's worker, one an engine: our own kernels on WebGPU, and onnxruntime-web. */
import type { Checkpoint } from "../checkpoint/checkpoint";
import { expectedTensors, type ModelConfig } from "../checkpoint/config";
import { openCheckpoint } from "../checkpoint/load";
import { type Gpu, openGpu } from "../gpu/device";
import { GpuUnavailableError } from "../gpu/errors";
import type { Engine } from "../model/engines";
import type { LanguageModel } from "../model/languageModel";
import { loadWgslModel } from "../model/wgslModel";
import { openOnnxExport, openOnnxModel } from "../onnx/browserModels";
import type { OnnxProvider } from "../onnx/runtime";
import { wasmThreads } from "../onnx/threads";
import { openLatentModel, thinkingModel } from "../recursion/agent";
import { Tape } from "../tensor/tape";
import { loadTokenizerFrom } from "../text/loadTokenizer";
import { inspectionOf } from "./gpuInspection";
import type { ModelInfo, ModelSource } from "./loadProtocol";
import type { LoadedModel, LoadHooks, OpenDevice } from "./modelDesk";
import { modelFiles } from "./modelFiles";
import { problemOf } from "./problems";

/** Opens the device of an engine. Whatever is thrown has a kind in `problemOf`. */
export async function openBrowserDevice(engine: Engine): Promise<OpenDevice> {
  if (engine === "wgsl") return deviceOf(await openGpu());
  return openOnnx(engine === "onnx-wasm" ? "wasm" : "webgpu", engine);
}

/** Of our own engine, on a device that was opened already, in Node perhaps. */
export function deviceOf(gpu: Gpu): OpenDevice {
  const tape = new Tape(gpu);
  return {
    info: { engine: "wgsl", name: gpu.name, software: gpu.isSoftware },
    lost: gpu.lost.then(problemOf),
    survivesFailures: false,
    inspection: inspectionOf(tape),
    load: (source, hooks) => loadOurs(tape, source, hooks),
    close: () => gpu.close(),
  };
}

async function loadOurs(tape: Tape, source: ModelSource, hooks: LoadHooks): Promise<LoadedModel> {
  const { id, latent = false, weights: quantization = "stored", cache: kvDtype = "f32", origin } = source;
  const { checkpoint, tokenizer, signal } = await openFiles(source, hooks);
  // What comes over `fetchFile` is counted there, as it arrives.
  const onProgress = origin.kind === "url" ? undefined : hooks.onProgress;
  const options = { id, checkpoint, tokenizer, signal, quantization, kvDtype, ...(onProgress && { onProgress }) };
  if (latent && quantization === "stored") {
    const model = await openLatentModel({ ...options, tape });
    const info = {
      ...infoOf("wgsl", source, model.language),
      latent: true,
      gradients: true,
      liveBytes: model.liveBytes,
    };
    const bytes = () => {
      const own = model.language.bytes;
      return { ...own, weights: own.weights + model.liveBytes - model.language.liveBytes };
    };
    return { model: model.language, latent: model, info, bytes, dispose: () => model.dispose() };
  }
  // The tape takes weights as they are stored; in fewer bits thoughts pass through the plain loop.
  const model = await loadWgslModel({ ...options, gpu: tape.gpu });
  return { ...(await loadedFrom("wgsl", source, model, signal)), bytes: () => model.bytes };
}

/** What a model of any engine can do: text, and where it was asked for and can be, latent thoughts. */
async function loadedFrom(
  engine: Engine,
  source: ModelSource,
  model: LanguageModel,
  signal: AbortSignal,
): Promise<LoadedModel> {
  const { embeddingsIn, hiddenStates } = model.capabilities;
  try {
    const latent = source.latent && embeddingsIn && hiddenStates ? await thinkingModel(model, signal) : undefined;
    const info = { ...infoOf(engine, source, model), latent: latent !== undefined };
    return { model, info, dispose: () => model.dispose(), ...(latent && { latent }) };
  } catch (error) {
    model.dispose();
    throw error;
  }
}

async function openOnnx(provider: OnnxProvider, engine: Engine): Promise<OpenDevice> {
  if (provider === "webgpu") await checkAdapter();
  const models = new Set<LanguageModel>();
  return {
    info: { engine, name: provider === "wasm" ? threadsOf(wasmThreads()) : "WebGPU", software: provider === "wasm" },
    // Its WebGPU device belongs to onnxruntime-web, whose calls fail when it is lost.
    lost: new Promise(() => {}),
    survivesFailures: provider === "wasm",
    async load(source, hooks) {
      const loaded = await loadOnnx(provider, engine, source, hooks);
      models.add(loaded.model);
      return loaded;
    },
    close() {
      for (const model of models) model.dispose();
    },
  };
}

const threadsOf = (count: number) => (count === 1 ? "1 thread" : `${count} threads`);

/** onnxruntime-web would say less. @throws GpuUnavailableError */
async function checkAdapter(): Promise<void> {
  const { gpu } = navigator as Partial<Navigator>;
  if (!gpu) throw new GpuUnavailableError("noWebGpu", "this browser has no WebGPU, or it is switched off");
  if (!(await gpu.requestAdapter())) throw new GpuUnavailableError("noAdapter", "WebGPU offers no graphics adapter");
}

async function loadOnnx(
  provider: OnnxProvider,
  engine: Engine,
  source: ModelSource,
  hooks: LoadHooks,
): Promise<LoadedModel> {
  const { id, weights = "stored", onnx } = source;
  const { signal } = hooks;
  if (onnx) {
    const files = await modelFiles(source.origin, id, hooks);
    const graphs = onnx.origin ? await modelFiles(onnx.origin, id, hooks) : files;
    const tokenizer = await loadTokenizerFrom(files, signal);
    const own = { id, source: files, graphSource: graphs, tokenizer, signal, ...(onnx.file && { file: onnx.file }) };
    const model = await openOnnxExport(provider, own);
    return { model, info: infoOf(engine, source, model), dispose: () => model.dispose() };
  }
  const { checkpoint, tokenizer } = await openFiles(source, hooks);
  const format = weights === "stored" ? "f32" : weights;
  const model = await openOnnxModel(provider, { id, checkpoint, tokenizer, signal, weights: format });
  return loadedFrom(engine, source, model, signal);
}

async function openFiles({ origin, id, context }: ModelSource, hooks: LoadHooks) {
  const { signal } = hooks;
  const files = await modelFiles(origin, id, hooks);
  const [checkpoint, tokenizer] = await Promise.all([openCheckpoint(files, signal), loadTokenizerFrom(files, signal)]);
  return { checkpoint: context === undefined ? checkpoint : shortened(checkpoint, context), tokenizer, signal };
}

/** A checkpoint with fewer positions: no text may be longer, and so no cache larger. */
function shortened({ config, tensors }: Checkpoint, context: number): Checkpoint {
  return { config: { ...config, maxPositions: Math.min(config.maxPositions, context) }, tensors };
}

function infoOf(
  engine: Engine,
  { id, weights = "stored" }: ModelSource,
  { config, liveBytes }: Pick<LanguageModel, "config" | "liveBytes">,
): ModelInfo {
  const { layers, hiddenSize, vocabSize, maxPositions } = config;
  const sizes = { parameters: parametersOf(config), layers, hiddenSize, vocabSize, maxPositions };
  return { id, engine, weights, ...sizes, latent: false, gradients: false, liveBytes };
}

/** Of the decoder of a configuration, which is all that any of its checkpoints and exports holds. */
function parametersOf(config: ModelConfig): number {
  const shapes = [...expectedTensors(config).values()];
  return shapes.reduce((sum, shape) => sum + shape.reduce((product, length) => product * length, 1), 0);
}
