/** Models of the command line on onnxruntime-web: checkpoints, of which a graph is made, and .onnx files of others. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { availableParallelism } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import type { Checkpoint, CheckpointSource } from "../checkpoint/checkpoint";
import { readModelConfig } from "../checkpoint/load";
import { folderSource } from "../checkpoint/nodeFolder";
import type { Quantization } from "../checkpoint/quantize";
import { batchRequests } from "../model/batching";
import type { Engine } from "../model/engines";
import type { LanguageModel } from "../model/languageModel";
import type { OnnxRuntime } from "../onnx/runtime";
import { MAX_THREADS } from "../onnx/threads";
import type { ModelTokenizer } from "../text/tokenizer";
import type { FoundModel } from "./command";
import { UsageError } from "./options";

type OnnxEngine = Exclude<Engine, "wgsl">;

const MAX_BATCH = 256;

/** An .onnx file, and the folder with the model's config.json. */
export interface OnnxPlace {
  folder: string;
  graphFolder: string;
  file: string;
}

/**
 * The .onnx file that a name means: that file itself, or that of a folder without a checkpoint: beside config.json, or in
 * its folder `onnx` as on the hub.
 * @returns `undefined` when the name is no such file and no such folder
 * @throws UsageError when there are several and none is called model.onnx, or a file that is named is missing
 */
export function findOnnxFile(name: string | undefined): OnnxPlace | undefined {
  if (name === undefined) return undefined;
  const path = resolve(name);
  if (name.endsWith(".onnx") && !existsSync(path)) throw new UsageError(`--model: there is no file ${name}`);
  if (name.endsWith(".onnx") && statSync(path).isFile()) {
    const graphFolder = dirname(path);
    const isBeside = existsSync(join(graphFolder, "config.json")) || basename(graphFolder) !== "onnx";
    return { folder: isBeside ? graphFolder : dirname(graphFolder), graphFolder, file: basename(path) };
  }
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return undefined;
  if (readdirSync(path).some((file) => file.startsWith("model.safetensors"))) return undefined;
  for (const graphFolder of [path, join(path, "onnx")]) {
    if (!existsSync(graphFolder)) continue;
    const files = readdirSync(graphFolder).filter((file) => file.endsWith(".onnx"));
    const file = files.includes("model.onnx") ? "model.onnx" : files[0];
    if (file === undefined) continue;
    if (file !== "model.onnx" && files.length > 1) {
      throw new UsageError(`--model: ${graphFolder} holds ${files.sort().join(", ")}; name one of them`);
    }
    return { folder: path, graphFolder, file };
  }
  return undefined;
}

interface Common {
  id: string;
  source: CheckpointSource;
  tokenizer: ModelTokenizer;
  engine: OnnxEngine;
}

/** onnxruntime-web loads on the first `load`. */
export function nodeOnnxModels() {
  const models: LanguageModel[] = [];
  const runtimes = new Map<OnnxEngine, Promise<OnnxRuntime>>();
  const runtimeOf = (engine: OnnxEngine) => {
    const known = runtimes.get(engine);
    if (known) return known;
    const opening = import("../onnx/nodeRuntime").then(({ nodeOnnxRuntime }) => {
      const threads = Math.max(1, Math.min(MAX_THREADS, availableParallelism() - 1));
      return nodeOnnxRuntime(engine === "onnx-wasm" ? "wasm" : "webgpu", { threads });
    });
    runtimes.set(engine, opening);
    return opening;
  };
  const loader = (engine: OnnxEngine, open: (runtime: OnnxRuntime) => Promise<LanguageModel>) => ({
    async load({ batched = false } = {}) {
      const model = await open(await runtimeOf(engine));
      models.push(model);
      return batched ? batchRequests(model, { maxBatch: MAX_BATCH }) : model;
    },
    async loadLatent() {
      throw new UsageError(`--engine: links are trained on wgsl, not on ${engine}`);
    },
  });
  return {
    ofCheckpoint({
      id,
      source,
      checkpoint,
      tokenizer,
      engine,
      weights,
    }: Common & { checkpoint: Checkpoint; weights: Quantization }): FoundModel {
      const { load, loadLatent } = loader(engine, async (runtime) => {
        const { loadOnnxModel } = await import("../onnx/load");
        return loadOnnxModel({ id, runtime, checkpoint, tokenizer, weights: weights === "stored" ? "f32" : weights });
      });
      return { config: checkpoint.config, tokenizer, files: { source, checkpoint }, load, loadLatent };
    },
    async ofFile({ id, place, source, tokenizer, engine }: Common & { place: OnnxPlace }): Promise<FoundModel> {
      const config = await readModelConfig(source);
      const { load, loadLatent } = loader(engine, async (runtime) => {
        const { loadOnnxExport } = await import("../onnx/load");
        const graphSource = folderSource(place.graphFolder, id);
        return loadOnnxExport({ id, runtime, source, tokenizer, graphSource, file: place.file });
      });
      return { config, tokenizer, load, loadLatent };
    },
    close() {
      for (const model of models.splice(0)) model.dispose();
    },
  };
}
