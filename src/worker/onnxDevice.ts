/** onnxruntime-web as a device of the worker: checkpoints, of which it makes graphs, and exports of others. */
import type { LanguageModel } from "../model/languageModel";
import type { OnnxRuntime } from "../onnx/runtime";
import { loadTokenizerFrom } from "../text/loadTokenizer";
import { loadedFrom, openFiles } from "./loadedModel";
import type { DeviceInfo, ModelSource } from "./loadProtocol";
import type { LoadHooks, OpenDevice } from "./modelDesk";
import { modelFiles } from "./modelFiles";

export interface OnnxDeviceOptions {
  info: DeviceInfo;
  /** Called for each model; what takes long is up to it. @param fetchFile for parts that are fetched */
  runtime(fetchFile: typeof fetch): Promise<OnnxRuntime>;
}

export function onnxDevice({ info, runtime }: OnnxDeviceOptions): OpenDevice {
  const models = new Set<LanguageModel>();
  return {
    info,
    // Where it runs on WebGPU, that device is onnxruntime-web's own: its calls fail when it is lost.
    lost: new Promise(() => {}),
    survivesFailures: info.engine === "onnx-wasm",
    async load(source, hooks) {
      const model = await open(source, hooks, runtime(hooks.fetchFile));
      models.add(model);
      const loaded = await loadedFrom(info.engine, source, model, hooks.signal);
      return {
        ...loaded,
        dispose() {
          models.delete(model);
          loaded.dispose();
        },
      };
    },
    close() {
      for (const model of models) model.dispose();
      models.clear();
    },
  };
}

async function open(source: ModelSource, hooks: LoadHooks, opening: Promise<OnnxRuntime>): Promise<LanguageModel> {
  const { id, origin, weights = "stored", onnx } = source;
  const { signal } = hooks;
  // What comes over `fetchFile` is counted there, as it arrives.
  const progress = origin.kind === "url" ? {} : { onProgress: hooks.onProgress };
  // Side by side: the files of a model do not need the engine. The writer of graphs is a part that only this one needs.
  const loaders = import("../onnx/load");
  if (onnx) {
    const files = await modelFiles(origin, id, hooks);
    const graphSource = onnx.origin ? await modelFiles(onnx.origin, id, hooks) : files;
    const [tokenizer, runtime, { loadOnnxExport }] = await Promise.all([
      loadTokenizerFrom(files, signal),
      opening,
      loaders,
    ]);
    const { file } = onnx;
    const { context } = source;
    return loadOnnxExport({
      id,
      runtime,
      source: files,
      graphSource,
      tokenizer,
      signal,
      ...progress,
      ...(file && { file }),
      ...(context !== undefined && { context }),
    });
  }
  const [{ checkpoint, tokenizer }, runtime, { loadOnnxModel }] = await Promise.all([
    openFiles(source, hooks),
    opening,
    loaders,
  ]);
  const format = weights === "stored" ? "f32" : weights;
  return loadOnnxModel({ id, runtime, checkpoint, tokenizer, signal, weights: format, ...progress });
}
