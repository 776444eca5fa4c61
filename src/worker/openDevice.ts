/** The engine's device on WebGPU: models of URLs, each with its checkpoint, tokenizer and weights. */
import type { Checkpoint } from "../checkpoint/checkpoint";
import { openCheckpoint } from "../checkpoint/load";
import { urlSource } from "../checkpoint/sources";
import { type Gpu, openGpu } from "../gpu/device";
import { loadWgslModel } from "../model/wgslModel";
import { loadTokenizerFrom } from "../text/loadTokenizer";
import type { LoadedModel, LoadHooks, OpenDevice } from "./engine";
import { problemOf } from "./problems";
import type { ModelSource } from "./protocol";

/** Opens the device of this worker. Whatever is thrown has a kind in `problemOf`. */
export async function openWebGpu(): Promise<OpenDevice> {
  const gpu = await openGpu();
  return {
    info: { name: gpu.name, software: gpu.isSoftware },
    lost: gpu.lost.then(problemOf),
    load: (source, hooks) => loadModel(gpu, source, hooks),
    close: () => gpu.close(),
  };
}

async function loadModel(gpu: Gpu, { url, id }: ModelSource, { signal, fetchFile }: LoadHooks): Promise<LoadedModel> {
  const source = urlSource(url, { label: id, fetchFile });
  const [checkpoint, tokenizer] = await Promise.all([
    openCheckpoint(source, signal),
    loadTokenizerFrom(source, signal),
  ]);
  const model = await loadWgslModel({ id, gpu, checkpoint, tokenizer, signal });
  const { layers, hiddenSize } = checkpoint.config;
  return {
    model,
    info: { id, parameters: parametersOf(checkpoint), layers, hiddenSize, liveBytes: model.liveBytes },
    dispose: () => model.dispose(),
  };
}

function parametersOf({ tensors }: Checkpoint): number {
  let sum = 0;
  for (const { shape } of tensors.values()) sum += shape.reduce((product, length) => product * length, 1);
  return sum;
}
