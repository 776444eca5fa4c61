import type { CheckpointSource } from "./checkpoint";

/** The one error that checkpoint code throws for bad files; its message names the file and the field or tensor. */
export class CheckpointError extends Error {
  override readonly name = "CheckpointError";
}

/** The store has no room left, or another tab holds its files: the checkpoint itself is in order. */
export class StorageError extends CheckpointError {
  constructor(
    readonly reason: "full" | "busy",
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** A server that refused what it was asked for, or could not answer just now: nothing was found out about the files. */
export class DeliveryError extends CheckpointError {
  readonly reason: "refused" | "later";

  constructor(status: number, message: string) {
    super(message);
    this.reason = status === 408 || status === 429 || status >= 500 ? "later" : "refused";
  }
}

/** "x is missing", with the source's reason where it has one. */
export function missingFile(source: Pick<CheckpointSource, "absence">, name: string): CheckpointError {
  const why = source.absence?.(name);
  return new CheckpointError(`${name} is missing${why ? `: ${why}` : ""}`);
}

/** What a schema finds wrong, with the field where it is not the whole. */
export function fieldProblem({ path, message }: { path: PropertyKey[]; message: string }): string {
  return path.length === 0 ? message : `field "${path.join(".")}": ${message}`;
}

/** The first names of a list, and how many more there are: a damaged file can have a hundred thousand wrong ones. */
export function someOf(names: readonly string[], most = 20): string {
  const more = names.length - most;
  return names.slice(0, most).join(", ") + (more > 0 ? `, and ${more} more` : "");
}

const FOREIGN: readonly [beginning: string, what: string][] = [
  ["GGUF", "this is a GGUF file"],
  ["PK\x03\x04", "this is an archive, as PyTorch writes them"],
  ["\x80\x02", "this is a pickle, as PyTorch writes them"],
  ["version ", "this is a pointer of Git LFS in place of the file, which `git lfs pull` fetches"],
  ["<", "this is a web page, or XML"],
];

/** What a file is that begins with these bytes, where that is known. */
export function foreignFile(beginning: Uint8Array): string | undefined {
  const text = Array.from(beginning, (byte) => String.fromCharCode(byte)).join("");
  return FOREIGN.find(([start]) => text.startsWith(start))?.[1];
}

/** Names that look like weights, of formats that are read and others. */
export function weightLike(names: Iterable<string>): string[] {
  return [...names].filter((name) =>
    /\.(?:safetensors|onnx|gguf|ggml|bin|pth?|ckpt|h5|msgpack|npz|tflite)$/.test(name),
  );
}

/** @throws CheckpointError when [start, end) does not lie within a file of `fileBytes` bytes. */
export function checkRange(label: string, name: string, start: number, end: number, fileBytes: number): void {
  if (!(0 <= start && start <= end && end <= fileBytes)) {
    throw new CheckpointError(`${label}: ${name} has ${fileBytes} bytes, and bytes ${start} to ${end} were asked for`);
  }
}
