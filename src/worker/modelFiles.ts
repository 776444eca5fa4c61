/** From where a model lies to a source of its files, for every kind of origin. */
import type { CheckpointSource } from "../checkpoint/checkpoint";
import { urlSource } from "../checkpoint/sources";
import type { ModelOrigin } from "./loadProtocol";

/** Where checkpoints are that a visitor has opened or kept. */
export interface FileShelf {
  /** @throws EngineError when it is not open */
  source(handle: string): CheckpointSource;
  /** @throws CheckpointError when it is not there, or not whole */
  keptSource(key: string): Promise<CheckpointSource>;
}

interface OpenFiles {
  fetchFile: typeof fetch;
  shelf: FileShelf;
}

/** @param label what errors call the model */
export async function modelFiles(
  origin: ModelOrigin,
  label: string,
  { fetchFile, shelf }: OpenFiles,
): Promise<CheckpointSource> {
  switch (origin.kind) {
    case "url":
      return urlSource(origin.url, { label, fetchFile, ...(origin.files && { files: origin.files }) });
    case "opened":
      return shelf.source(origin.handle);
    case "store":
      return shelf.keptSource(origin.key);
  }
}
