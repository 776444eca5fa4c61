/** The devices of a browser's worker, one an engine: our own kernels on WebGPU, and onnxruntime-web. */
import { type Gpu, openGpu } from "../gpu/device";
import { GpuUnavailableError } from "../gpu/errors";
import type { Engine } from "../model/engines";
import { loadWgslModel } from "../model/wgslModel";
import { wasmThreads } from "../onnx/threads";
import { openLatentModel } from "../recursion/agent";
import { Tape } from "../tensor/tape";
import { inspectionOf } from "./gpuInspection";
import { infoOf, loadedFrom, openFiles } from "./loadedModel";
import type { ModelSource } from "./loadProtocol";
import type { LoadedModel, LoadHooks, OpenDevice } from "./modelDesk";
import { onnxDevice } from "./onnxDevice";
import { problemOf } from "./problems";

/** Opens the device of an engine. Whatever is thrown has a kind in `problemOf`. */
export async function openBrowserDevice(engine: Engine): Promise<OpenDevice> {
  if (engine === "wgsl") return deviceOf(await openGpu());
  const isWasm = engine === "onnx-wasm";
  if (!isWasm) await checkAdapter();
  return onnxDevice({
    info: { engine, name: isWasm ? threadsOf(wasmThreads()) : "WebGPU", software: isWasm },
    // 14 MB and more: fetched when a model is loaded.
    async runtime(fetchFile) {
      const { browserOnnxRuntime } = await import("../onnx/browserRuntime");
      return browserOnnxRuntime(isWasm ? "wasm" : "webgpu", fetchFile);
    },
  });
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

const threadsOf = (count: number) => (count === 1 ? "1 thread" : `${count} threads`);

/** onnxruntime-web would say less. @throws GpuUnavailableError */
async function checkAdapter(): Promise<void> {
  const { gpu } = navigator as Partial<Navigator>;
  if (!gpu) throw new GpuUnavailableError("noWebGpu", "this browser has no WebGPU, or it is switched off");
  if (!(await gpu.requestAdapter())) throw new GpuUnavailableError("noAdapter", "WebGPU offers no graphics adapter");
}
