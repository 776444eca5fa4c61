/** Opens a model of a URL on WebGPU: device, checkpoint, tokenizer, weights. */
import type { Checkpoint } from "../checkpoint/checkpoint";
import { openCheckpoint } from "../checkpoint/load";
import { urlSource } from "../checkpoint/sources";
import { type Gpu, openGpu } from "../gpu/device";
import { loadWgslModel } from "../model/wgslModel";
import { loadTokenizerFrom } from "../text/loadTokenizer";
import { meteredFetch } from "./downloadMeter";
import type { LoadHooks, OpenModel } from "./engine";
import { problemOf } from "./problems";
import type { LoadRequest } from "./protocol";

/** A model with a device of its own. Whatever is thrown has a kind in `problemOf`; nothing stays open then. */
export async function openUrlModel(request: LoadRequest, hooks: LoadHooks): Promise<OpenModel> {
  const gpu = await openGpu();
  try {
    return await openOn(gpu, request, hooks);
  } catch (error) {
    gpu.close();
    throw error;
  }
}

async function openOn(gpu: Gpu, { url, id }: LoadRequest, { signal, onDevice, onProgress }: LoadHooks) {
  signal.throwIfAborted();
  const device = { name: gpu.name, software: gpu.isSoftware };
  onDevice(device);
  const source = urlSource(url, { label: id, fetchFile: meteredFetch(onProgress) });
  const [checkpoint, tokenizer] = await Promise.all([
    openCheckpoint(source, signal),
    loadTokenizerFrom(source, signal),
  ]);
  const model = await loadWgslModel({ id, gpu, checkpoint, tokenizer, signal });
  return {
    model,
    device,
    info: { id, parameters: parametersOf(checkpoint), liveBytes: model.liveBytes },
    lost: gpu.lost.then(problemOf),
    close() {
      model.dispose();
      gpu.close();
    },
  };
}

function parametersOf({ tensors }: Checkpoint): number {
  let sum = 0;
  for (const { shape } of tensors.values()) sum += shape.reduce((product, length) => product * length, 1);
  return sum;
}
