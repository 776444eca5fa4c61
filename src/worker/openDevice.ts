/** The engine's device on WebGPU: models of URLs, each with its checkpoint, tokenizer and weights. */
import type { Checkpoint } from "../checkpoint/checkpoint";
import { openCheckpoint } from "../checkpoint/load";
import { urlSource } from "../checkpoint/sources";
import { type Gpu, openGpu } from "../gpu/device";
import { loadWgslModel } from "../model/wgslModel";
import { openLatentModel } from "../recursion/agent";
import { Tape } from "../tensor/tape";
import { loadTokenizerFrom } from "../text/loadTokenizer";
import type { LoadedModel, LoadHooks, OpenDevice } from "./engine";
import { problemOf } from "./problems";
import type { ModelSource } from "./protocol";

/** Opens the device of this worker. Whatever is thrown has a kind in `problemOf`. */
export async function openWebGpu(): Promise<OpenDevice> {
  return deviceOf(await openGpu());
}

/** A device that was opened already, in Node perhaps. */
export function deviceOf(gpu: Gpu): OpenDevice {
  const tape = new Tape(gpu);
  return {
    info: { name: gpu.name, software: gpu.isSoftware },
    lost: gpu.lost.then(problemOf),
    load: (source, hooks) => loadModel(tape, source, hooks),
    close: () => gpu.close(),
  };
}

async function loadModel(
  tape: Tape,
  { url, id, latent = false }: ModelSource,
  { signal, fetchFile }: LoadHooks,
): Promise<LoadedModel> {
  const source = urlSource(url, { label: id, fetchFile });
  const [checkpoint, tokenizer] = await Promise.all([
    openCheckpoint(source, signal),
    loadTokenizerFrom(source, signal),
  ]);
  const { layers, hiddenSize } = checkpoint.config;
  const infoOf = (liveBytes: number) => ({ id, parameters: parametersOf(checkpoint), layers, hiddenSize, liveBytes });
  if (latent) {
    const model = await openLatentModel({ id, tape, checkpoint, tokenizer, signal });
    return { model: model.language, latent: model, info: infoOf(model.liveBytes), dispose: () => model.dispose() };
  }
  const model = await loadWgslModel({ id, gpu: tape.gpu, checkpoint, tokenizer, signal });
  return { model, info: infoOf(model.liveBytes), dispose: () => model.dispose() };
}

function parametersOf({ tensors }: Checkpoint): number {
  let sum = 0;
  for (const { shape } of tensors.values()) sum += shape.reduce((product, length) => product * length, 1);
  return sum;
}
