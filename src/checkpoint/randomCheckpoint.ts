/** Small checkpoints with random weights, for tests: real files of any configuration, number format and sharding. */
import { Random } from "../random/random";
import type { CheckpointSource, TensorDtype } from "./checkpoint";
import { configToJson, expectedTensors, type ModelConfig } from "./config";
import { encodeTensor } from "./dtype";
import { type SafetensorsTensor, writeSafetensors } from "./safetensors";
import { memorySource } from "./sources";

export interface RandomCheckpointOptions {
  /** Default "F32". */
  dtype?: TensorDtype;
  /** Default 0. */
  seed?: number;
  /** More than 1 spreads the tensors over that many files with an index. Default 1. */
  shards?: number;
}

/** The same configuration and options give the same bytes. */
export function randomCheckpoint(config: ModelConfig, options: RandomCheckpointOptions = {}): CheckpointSource {
  return memorySource(randomCheckpointFiles(config, options), "random checkpoint");
}

/** The files of `randomCheckpoint` by name, for tests that damage them. */
export function randomCheckpointFiles(
  config: ModelConfig,
  { dtype = "F32", seed = 0, shards = 1 }: RandomCheckpointOptions = {},
): Record<string, Uint8Array<ArrayBuffer>> {
  const tensors = [...expectedTensors(config)].map(([name, shape], stream) => ({
    name,
    dtype,
    shape,
    bytes: encodeTensor(dtype, randomValues(name, shape, new Random(seed, stream))),
  }));
  const files: Record<string, Uint8Array<ArrayBuffer>> = { "config.json": jsonBytes(configToJson(config)) };
  if (shards === 1) {
    files["model.safetensors"] = writeSafetensors(tensors, { format: "pt" });
    return files;
  }
  const weightMap: Record<string, string> = {};
  for (let shard = 0; shard < shards; shard++) {
    const file = `model-${fiveDigits(shard + 1)}-of-${fiveDigits(shards)}.safetensors`;
    const own: SafetensorsTensor[] = tensors.filter((_, index) => index % shards === shard);
    files[file] = writeSafetensors(own, { format: "pt" });
    for (const { name } of own) {
      weightMap[name] = file;
    }
  }
  const totalBytes = tensors.reduce((sum, { bytes }) => sum + bytes.length, 0);
  files["model.safetensors.index.json"] = jsonBytes({ metadata: { total_size: totalBytes }, weight_map: weightMap });
  return files;
}

/** Scales that keep activations near 1, so that every part of the model moves the logits. */
function randomValues(name: string, shape: readonly number[], random: Random): Float64Array {
  const count = shape.reduce((product, length) => product * length, 1);
  const isNorm = name.endsWith("norm.weight");
  const isMatrix = shape.length === 2 && name !== "model.embed_tokens.weight";
  const scale = isMatrix ? 1 / Math.sqrt(shape[1] as number) : isNorm ? 0.2 : 0.5;
  return Float64Array.from({ length: count }, () => (isNorm ? 1 : 0) + scale * random.normal());
}

function jsonBytes(value: unknown): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(JSON.stringify(value, null, 2));
}

function fiveDigits(value: number): string {
  return String(value).padStart(5, "0");
}
