/** What loading has in common on all engines: the files, and what a page is told of the model. */
import type { Checkpoint } from "../checkpoint/checkpoint";
import { expectedTensors, type ModelConfig } from "../checkpoint/config";
import { openCheckpoint } from "../checkpoint/load";
import type { Engine } from "../model/engines";
import type { LanguageModel } from "../model/languageModel";
import { thinkingModel } from "../recursion/agent";
import { loadTokenizerFrom } from "../text/loadTokenizer";
import type { ModelInfo, ModelSource } from "./loadProtocol";
import type { LoadedModel, LoadHooks } from "./modelDesk";
import { modelFiles } from "./modelFiles";

/** What a model of any engine can do: text, and where it was asked for and can be, latent thoughts. */
export async function loadedFrom(
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

/** The checkpoint and the tokenizer of a source. */
export async function openFiles({ origin, id, context }: ModelSource, hooks: LoadHooks) {
  const { signal } = hooks;
  const files = await modelFiles(origin, id, hooks);
  const checkpoint = await openCheckpoint(files, signal);
  const tokenizer = await loadTokenizerFrom(files, signal, checkpoint.config.vocabSize);
  return { checkpoint: context === undefined ? checkpoint : shortened(checkpoint, context), tokenizer, signal };
}

/** A checkpoint with fewer positions: no text may be longer, and so no cache larger. */
function shortened({ config, tensors }: Checkpoint, context: number): Checkpoint {
  return { config: { ...config, maxPositions: Math.min(config.maxPositions, context) }, tensors };
}

/** What a page is told of a model that gives text. */
export function infoOf(
  engine: Engine,
  { id, weights = "stored", onnx }: ModelSource,
  { config, liveBytes }: Pick<LanguageModel, "config" | "liveBytes">,
): ModelInfo {
  const { layers, hiddenSize, vocabSize, maxPositions, sampling } = config;
  const sizes = { parameters: parametersOf(config), layers, hiddenSize, vocabSize, maxPositions };
  const abilities = { isExport: onnx !== undefined, latent: false, gradients: false };
  return { id, engine, weights, ...sizes, ...abilities, ...(sampling && { sampling }), liveBytes };
}

/** Of the decoder of a configuration, which is all that any of its checkpoints and exports holds. */
export function parametersOf(config: ModelConfig): number {
  const shapes = [...expectedTensors(config).values()];
  return shapes.reduce((sum, shape) => sum + shape.reduce((product, length) => product * length, 1), 0);
}
