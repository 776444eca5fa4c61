/**
 * What a checkpoint consists of, found out before its weights are fetched: the configuration and the headers of the
 * weight files are read (some hundred kilobytes), so that sizes are known and a checkpoint that the decoder cannot run
 * is refused before a gigabyte has arrived.
 */
import { z } from "zod";
import type { Checkpoint, CheckpointSource, TensorDtype } from "./checkpoint";
import { BYTES_PER_ELEMENT } from "./dtype";
import { CheckpointError, missingFile } from "./errors";
import { OTHER_FILES } from "./hub";
import { INDEX_FILE, openCheckpoint, SINGLE_FILE } from "./load";

export interface ListedFile {
  name: string;
  bytes: number;
  /** Tells this content from others of its size, where that is known. */
  version?: string;
}

export interface CheckpointListing {
  /** Configuration, tokenizer and template first, then the weights. */
  files: ListedFile[];
  totalBytes: number;
  parameters: number;
  /** The number format of most weights. */
  stored: TensorDtype;
  checkpoint: Checkpoint;
}

/**
 * Lists the files that loading reads.
 * @throws CheckpointError as `openCheckpoint`, and naming a file that is missing
 */
export async function listCheckpoint(source: CheckpointSource, signal?: AbortSignal): Promise<CheckpointListing> {
  const checkpoint = await openCheckpoint(source, signal);
  const names = [...OTHER_FILES, ...(await weightFiles(source, signal))];
  const sizes = await Promise.all(names.map((name) => source.size(name, signal)));
  const files: ListedFile[] = [];
  for (const [i, name] of names.entries()) {
    const bytes = sizes[i];
    if (bytes !== undefined) {
      const version = source.version?.(name);
      files.push({ name, bytes, ...(version !== undefined && { version }) });
    } else if (name === "tokenizer.json" || name.endsWith(".safetensors")) {
      throw new CheckpointError(`${source.label}: ${missingFile(source, name).message}`);
    }
  }
  return {
    files,
    totalBytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    checkpoint,
    ...contentsOf(checkpoint),
  };
}

/** Elements of all tensors, and the number format that most bytes have. */
export function contentsOf({ tensors }: Checkpoint): { parameters: number; stored: TensorDtype } {
  const bytesOf = new Map<TensorDtype, number>();
  let parameters = 0;
  for (const { dtype, shape } of tensors.values()) {
    const elements = shape.reduce((product, length) => product * length, 1);
    parameters += elements;
    bytesOf.set(dtype, (bytesOf.get(dtype) ?? 0) + elements * BYTES_PER_ELEMENT[dtype]);
  }
  const [stored] = [...bytesOf].sort(([, a], [, b]) => b - a)[0] ?? ["F32"];
  return { parameters, stored };
}

const indexSchema = z.object({ weight_map: z.record(z.string(), z.string()) });

/** `openCheckpoint` has read the index before and found it sound. */
async function weightFiles(source: CheckpointSource, signal?: AbortSignal): Promise<string[]> {
  if ((await source.size(SINGLE_FILE, signal)) !== undefined) return [SINGLE_FILE];
  const index = await source.file(INDEX_FILE, signal);
  if (index === undefined) throw new CheckpointError(`${source.label}: ${missingFile(source, INDEX_FILE).message}`);
  const { weight_map } = indexSchema.parse(JSON.parse(new TextDecoder().decode(index)));
  return [INDEX_FILE, ...new Set(Object.values(weight_map))];
}
