/**
 * What a loaded checkpoint is, whatever it was read from. Tensors are described at once and read one by one, so that
 * no second whole copy of the weights ever stands in memory.
 */
import type { ModelConfig } from "./config";

export type TensorDtype = "F32" | "BF16" | "F16";

export interface CheckpointTensor {
  name: string;
  dtype: TensorDtype;
  shape: readonly number[];
  /** The tensor's bytes, little-endian, row-major. */
  read(signal?: AbortSignal): Promise<Uint8Array>;
}

export interface Checkpoint {
  config: ModelConfig;
  tensors: ReadonlyMap<string, CheckpointTensor>;
}

/** Where a checkpoint's files come from: a URL prefix, a folder, dropped files, memory. */
export interface CheckpointSource {
  /** What errors call it. */
  readonly label: string;
  /** The whole file; `undefined` when it does not exist. */
  file(name: string, signal?: AbortSignal): Promise<Uint8Array | undefined>;
  /** Bytes [start, end) of a file, and its full size; throws when the file does not exist. */
  range(name: string, start: number, end: number, signal?: AbortSignal): Promise<Uint8Array>;
  /** Size in bytes; `undefined` when the file does not exist. */
  size(name: string, signal?: AbortSignal): Promise<number | undefined>;
  /** The whole file as it arrives, for copies that never stand in memory; throws when the file does not exist. */
  stream?(name: string, signal?: AbortSignal): Promise<ReadableStream<Uint8Array>>;
  /** What tells this content of a file from others of its size (a hash, an ETag), where that is known by now. */
  version?(name: string): string | undefined;
  /** Why a file that was asked for does not exist, as "the server answered 404", where there is a reason. */
  absence?(name: string): string | undefined;
}
