/** Models of the command line: checkpoints from folders, on our engine through Dawn or on onnxruntime-web. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { openCheckpoint } from "../checkpoint/load";
import { folderSource } from "../checkpoint/nodeFolder";
import type { Gpu } from "../gpu/device";
import { openNodeGpu } from "../gpu/nodeDevice";
import { batchRequests } from "../model/batching";
import type { LanguageModel } from "../model/languageModel";
import { loadWgslModel } from "../model/wgslModel";
import { openLatentModel } from "../recursion/agent";
import { Tape } from "../tensor/tape";
import { loadTokenizerFrom } from "../text/loadTokenizer";
import type { ModelTokenizer } from "../text/tokenizer";
import type { ModelFinder } from "./command";
import { findOnnxFile, nodeOnnxModels } from "./nodeOnnxModels";
import { UsageError } from "./options";

const SHIPPED = fileURLToPath(new URL("../../public/models", import.meta.url));

/** One of them holds the weights or says where they are. */
const WEIGHT_FILES = ["model.safetensors", "model.safetensors.index.json"];

/** Sequences read side by side: enough to fill any device, few enough for the cache of a small one. */
const MAX_BATCH = 256;

export function nodeModels(): ModelFinder {
  let gpu: Gpu | undefined;
  let tape: Tape | undefined;
  const models: Pick<LanguageModel, "dispose">[] = [];
  const onnx = nodeOnnxModels();
  return {
    async find(name, { tokenizer: needsTokenizer = true, engine = "wgsl", weights = "stored" } = {}) {
      const needed = needsTokenizer ? ["config.json", "tokenizer.json"] : ["config.json"];
      const place = findOnnxFile(name);
      if (place) {
        if (engine === "wgsl") {
          throw new UsageError(
            `--model: ${name} is an ONNX model, which runs with --engine onnx-wasm or onnx-webgpu; anything else needs safetensors`,
          );
        }
        if (weights !== "stored") {
          throw new UsageError(`--model: ${place.file} has its weights as they are; q8 and q4 need safetensors`);
        }
        const id = basename(place.folder);
        checkFiles(place.folder, needed);
        const source = folderSource(place.folder, id);
        const tokenizer = needsTokenizer ? await loadTokenizerFrom(source) : withoutTokenizer(id);
        return onnx.ofFile({ id, place, source, tokenizer, engine });
      }
      const folder = modelFolder(name, needed);
      const id = basename(folder);
      const source = folderSource(folder, id);
      const checkpoint = await openCheckpoint(source);
      const { vocabSize } = checkpoint.config;
      const tokenizer = needsTokenizer ? await loadTokenizerFrom(source, undefined, vocabSize) : withoutTokenizer(id);
      if (engine !== "wgsl") return onnx.ofCheckpoint({ id, source, checkpoint, tokenizer, engine, weights });
      return {
        config: checkpoint.config,
        tokenizer,
        files: { source, checkpoint },
        async load({ batched = false } = {}) {
          gpu ??= await openNodeGpu();
          const model = await loadWgslModel({ id, gpu, checkpoint, tokenizer, quantization: weights });
          models.push(model);
          return batched ? batchRequests(model, { maxBatch: MAX_BATCH }) : model;
        },
        async loadLatent() {
          gpu ??= await openNodeGpu();
          tape ??= new Tape(gpu);
          const model = await openLatentModel({ id, tape, checkpoint, tokenizer });
          models.push(model);
          return model;
        },
      };
    },
    close() {
      for (const model of models.splice(0)) model.dispose();
      onnx.close();
      tape?.dispose();
      tape = undefined;
      gpu?.close();
      gpu = undefined;
    },
  };
}

/**
 * The folder that a name means: one of public/models, or any other. Without a name, the shipped agent.
 * @throws UsageError when it does not exist or lacks a file
 */
export function modelFolder(name: string | undefined, files: readonly string[], shipped = SHIPPED): string {
  const ids = shippedIds(shipped);
  if (name === undefined && ids[0] === undefined) throw new UsageError("there is no shipped agent; name a --model");
  const folder = name === undefined || ids.includes(name) ? join(shipped, name ?? (ids[0] as string)) : resolve(name);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new UsageError(`--model: "${name}" is no folder, and no shipped agent (${ids.join(", ") || "none"})`);
  }
  checkFiles(folder, files);
  if (!WEIGHT_FILES.some((file) => existsSync(join(folder, file)))) {
    throw new UsageError(`--model: there is no ${WEIGHT_FILES.join(" or ")} in ${folder}`);
  }
  return folder;
}

/** @throws UsageError naming the first file that a folder lacks */
function checkFiles(folder: string, files: readonly string[]): void {
  for (const file of files) {
    if (!existsSync(join(folder, file))) throw new UsageError(`--model: there is no ${file} in ${folder}`);
  }
}

function shippedIds(shipped: string): string[] {
  if (!existsSync(shipped)) return [];
  const entries = readdirSync(shipped, { withFileTypes: true });
  return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).sort();
}

/** Stands where token ids are given; a checkpoint need not have tokenizer files then. */
function withoutTokenizer(id: string): ModelTokenizer {
  const fail = () => {
    throw new Error(`${id} was opened without its tokenizer`);
  };
  return { vocabSize: 0, encode: fail, decode: fail, countTokens: fail, renderChat: fail, detokenizer: fail };
}
