/** Opens a checkpoint: reads config and headers, and refuses files that do not hold exactly the decoder's tensors. */
import { z } from "zod";
import type { Checkpoint, CheckpointSource, CheckpointTensor } from "./checkpoint";
import { expectedTensors, type ModelConfig, parseConfig } from "./config";
import { firstNotFinite } from "./dtype";
import { CheckpointError, fieldProblem, missingFile, someOf } from "./errors";
import { readSafetensorsHeader, type SafetensorsEntry } from "./safetensors";

export const SINGLE_FILE = "model.safetensors";
export const INDEX_FILE = "model.safetensors.index.json";
const EMBEDDING = "model.embed_tokens.weight";
const HEAD = "lm_head.weight";

/** Buffers that old versions of transformers saved beside the weights and that follow from the configuration. */
const HARMLESS_EXTRA = /^model\.layers\.\d+\.self_attn\.rotary_emb\.inv_freq$/;

/** How much of each end of a tied head is compared with the embedding: enough to tell a copy from another matrix. */
const TIED_SAMPLE_BYTES = 65536;

type Located = SafetensorsEntry & { file: string };

const indexSchema = z.object({ weight_map: z.record(z.string(), z.string()) });

/**
 * Opens the checkpoint of a source: config.json, generation_config.json when there is one, and model.safetensors or the
 * shards of model.safetensors.index.json. Only headers are read; tensors are read when asked for. The tensors of the
 * result are exactly `expectedTensors(config)`, in that order.
 * @throws CheckpointError naming the source and the file, field or tensors: everything of `parseConfig` and
 * `parseSafetensorsHeader`, and tensors that are missing, unused or wrongly shaped (all of them in one message).
 */
export async function openCheckpoint(source: CheckpointSource, signal?: AbortSignal): Promise<Checkpoint> {
  try {
    const config = await readModelConfig(source, signal);
    const stored = await locateTensors(source, signal);
    const tensors = new Map<string, CheckpointTensor>();
    for (const name of checkTensors(config, stored)) {
      tensors.set(name, tensorOf(source, stored.get(name) as Located));
    }
    const head = stored.get(HEAD);
    if (head && config.tieWordEmbeddings) {
      await checkTiedHead(source, head, stored.get(EMBEDDING) as Located, signal);
    }
    return { config, tensors };
  } catch (error) {
    if (error instanceof CheckpointError && !error.message.startsWith(`${source.label}: `)) {
      throw new CheckpointError(`${source.label}: ${error.message}`, { cause: error });
    }
    throw error;
  }
}

/** config.json and generation_config.json of a source. @throws CheckpointError naming the file and the field. */
export async function readModelConfig(source: CheckpointSource, signal?: AbortSignal): Promise<ModelConfig> {
  const config = await readJson(source, "config.json", signal);
  if (config === undefined) {
    throw missingFile(source, "config.json");
  }
  return parseConfig(config, await readJson(source, "generation_config.json", signal));
}

async function readJson(source: CheckpointSource, file: string, signal?: AbortSignal): Promise<unknown> {
  const bytes = await source.file(file, signal);
  if (bytes === undefined) {
    return undefined;
  }
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch (error) {
    throw new CheckpointError(`${file}: not valid JSON: ${(error as Error).message}`);
  }
}

/** Every tensor of the checkpoint's files, by name. As in transformers, a single file goes before an index. */
async function locateTensors(source: CheckpointSource, signal?: AbortSignal): Promise<Map<string, Located>> {
  const located = new Map<string, Located>();
  if ((await source.size(SINGLE_FILE, signal)) !== undefined) {
    for (const entry of await readSafetensorsHeader(source, SINGLE_FILE, signal)) {
      located.set(entry.name, { ...entry, file: SINGLE_FILE });
    }
    return located;
  }
  const weightMap = await readIndex(source, signal);
  for (const file of new Set(weightMap.values())) {
    for (const entry of await readSafetensorsHeader(source, file, signal)) {
      const listed = weightMap.get(entry.name);
      if (listed !== file) {
        const where = listed === undefined ? "not at all" : `in ${listed}`;
        throw new CheckpointError(`${file}: holds tensor "${entry.name}", which ${INDEX_FILE} lists ${where}`);
      }
      located.set(entry.name, { ...entry, file });
    }
  }
  const absent = [...weightMap].filter(([name]) => !located.has(name));
  if (absent.length > 0) {
    const list = someOf(absent.map(([name, file]) => `"${name}" in ${file}`));
    throw new CheckpointError(`${INDEX_FILE}: lists tensors that the files do not hold: ${list}`);
  }
  return located;
}

async function readIndex(source: CheckpointSource, signal?: AbortSignal): Promise<Map<string, string>> {
  const json = await readJson(source, INDEX_FILE, signal);
  if (json === undefined) {
    const why = source.absence?.(SINGLE_FILE);
    throw new CheckpointError(`neither ${SINGLE_FILE} nor ${INDEX_FILE} is there${why ? `: ${why}` : ""}`);
  }
  const parsed = indexSchema.safeParse(json);
  if (!parsed.success) {
    throw new CheckpointError(`${INDEX_FILE}: ${fieldProblem(parsed.error.issues[0] as z.core.$ZodIssue)}`);
  }
  const weightMap = new Map(Object.entries(parsed.data.weight_map));
  for (const [name, file] of weightMap) {
    // Shards lie beside their index; anything else could point outside the checkpoint.
    if (!/^[\w.-]+\.safetensors$/.test(file)) {
      throw new CheckpointError(`${INDEX_FILE}: tensor "${name}" is in "${file}", which is no plain shard name`);
    }
  }
  return weightMap;
}

/** Names of the tensors to use. @throws CheckpointError naming all tensors that are missing, unused or wrongly shaped. */
function checkTensors(config: ModelConfig, stored: ReadonlyMap<string, Located>): string[] {
  const expected = expectedTensors(config);
  const isTiedHead = (name: string) => config.tieWordEmbeddings && name === HEAD;
  const missing = [...expected.keys()].filter((name) => !stored.has(name));
  const unused = [...stored.keys()].filter(
    (name) => !expected.has(name) && !HARMLESS_EXTRA.test(name) && !isTiedHead(name),
  );
  const misshapen: string[] = [];
  for (const { name, shape } of stored.values()) {
    const wanted = expected.get(isTiedHead(name) ? EMBEDDING : name);
    if (wanted && (wanted.length !== shape.length || wanted.some((length, axis) => length !== shape[axis]))) {
      misshapen.push(`${name} is [${shape.join(", ")}] instead of [${wanted.join(", ")}]`);
    }
  }
  const problems = [
    missing.length > 0 ? `missing tensors: ${someOf(missing)}` : "",
    unused.length > 0 ? `unused tensors: ${someOf(unused)}` : "",
    misshapen.length > 0 ? `wrong shapes: ${someOf(misshapen)}` : "",
  ].filter((problem) => problem !== "");
  if (problems.length > 0) {
    throw new CheckpointError(`does not fit its ${config.modelType} configuration: ${problems.join("; ")}`);
  }
  return [...expected.keys()];
}

/**
 * A head stored beside the embedding it is tied to is a copy, and the embedding is used, as transformers does. Another
 * matrix means that `tie_word_embeddings` is wrong.
 */
async function checkTiedHead(source: CheckpointSource, head: Located, embedding: Located, signal?: AbortSignal) {
  if (head.dtype !== embedding.dtype) {
    return;
  }
  const bytes = head.end - head.start;
  const sample = Math.min(bytes, TIED_SAMPLE_BYTES);
  for (const offset of new Set([0, bytes - sample])) {
    const read = (at: Located) => source.range(at.file, at.start + offset, at.start + offset + sample, signal);
    const [headBytes, embeddingBytes] = [await read(head), await read(embedding)];
    if (headBytes.some((byte, i) => byte !== embeddingBytes[i])) {
      throw new CheckpointError(`${HEAD} differs from ${EMBEDDING}, although tie_word_embeddings is true`);
    }
  }
}

function tensorOf(source: CheckpointSource, { name, dtype, shape, file, start, end }: Located): CheckpointTensor {
  return {
    name,
    dtype,
    shape,
    async read(signal) {
      const bytes = await source.range(file, start, end, signal);
      if (bytes.length !== end - start) {
        throw new CheckpointError(
          `${source.label}: ${file}: got ${bytes.length} of ${end - start} bytes of tensor "${name}"`,
        );
      }
      // Files need not align tensors, but typed-array views need it.
      const aligned = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
      const index = firstNotFinite(dtype, aligned);
      if (index !== undefined) {
        throw new CheckpointError(
          `${source.label}: ${file}: tensor "${name}" is damaged: value ${index} is infinite or not a number`,
        );
      }
      return aligned;
    },
  };
}
