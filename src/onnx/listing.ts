/** What an export in ONNX consists of, found out before its weights are fetched. */
import type { CheckpointSource } from "../checkpoint/checkpoint";
import type { ModelConfig } from "../checkpoint/config";
import { CheckpointError, missingFile } from "../checkpoint/errors";
import { OTHER_FILES } from "../checkpoint/hub";
import type { ListedFile } from "../checkpoint/listing";
import { readModelConfig } from "../checkpoint/load";
import { inspectOnnx } from "./protobuf";

export interface ExportListing {
  /** Configuration, tokenizer and template first, then the graph and the files of its weights. */
  files: ListedFile[];
  totalBytes: number;
  config: ModelConfig;
}

export interface GraphContents {
  producer: string;
  files: string[];
}

/** A graph up to this size is read to see which files hold its weights; a larger one holds them itself. */
const READ_BYTES = 2 ** 26;

/**
 * @param file the .onnx file
 * @throws CheckpointError naming what is missing, no ONNX model, or of an architecture that is not known
 */
export async function listOnnxExport(
  source: CheckpointSource,
  file: string,
  signal?: AbortSignal,
): Promise<ExportListing> {
  const config = await readModelConfig(source, signal).catch((error) => {
    if (!(error instanceof CheckpointError) || error.message.startsWith(`${source.label}: `)) throw error;
    throw new CheckpointError(`${source.label}: ${error.message}`, { cause: error });
  });
  const graphBytes = await source.size(file, signal);
  if (graphBytes === undefined) throw new CheckpointError(`${source.label}: ${missingFile(source, file).message}`);
  const graph = graphBytes > READ_BYTES ? undefined : await source.file(file, signal);
  const data = graph ? inspectGraph(source, file, graph).files : [];
  const files: ListedFile[] = [];
  for (const name of [...OTHER_FILES, file, ...data]) {
    const bytes = await source.size(name, signal);
    const version = source.version?.(name);
    if (bytes !== undefined) files.push({ name, bytes, ...(version !== undefined && { version }) });
    else if (name === "tokenizer.json" || data.includes(name)) {
      throw new CheckpointError(`${source.label}: ${missingFile(source, name).message}`);
    }
  }
  return { files, totalBytes: files.reduce((sum, { bytes }) => sum + bytes, 0), config };
}

/** Who made a graph, and the names of the files beside it that hold its weights. @throws CheckpointError */
export function inspectGraph({ label }: CheckpointSource, file: string, graph: Uint8Array): GraphContents {
  let contents: ReturnType<typeof inspectOnnx>;
  try {
    contents = inspectOnnx(graph);
  } catch (error) {
    throw new CheckpointError(`${label}: ${file}: ${(error as Error).message}`, { cause: error });
  }
  const files = [...contents.files];
  // They lie beside the graph; anything else could point outside the model.
  const foreign = files.find((name) => !/^[\w.-]+$/.test(name) || /^\.+$/.test(name));
  if (foreign !== undefined) {
    throw new CheckpointError(`${label}: ${file}: its weights are in "${foreign}", which is no plain file name`);
  }
  return { producer: contents.producer, files };
}
