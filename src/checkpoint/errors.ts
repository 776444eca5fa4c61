import type { CheckpointSource } from "./checkpoint";

/** The one error that checkpoint code throws for bad files; its message names the file and the field or tensor. */
export class CheckpointError extends Error {
  override readonly name = "CheckpointError";
}

/** "x is missing", with the source's reason where it has one. */
export function missingFile(source: Pick<CheckpointSource, "absence">, name: string): CheckpointError {
  const why = source.absence?.(name);
  return new CheckpointError(`${name} is missing${why ? `: ${why}` : ""}`);
}

/** @throws CheckpointError when [start, end) does not lie within a file of `fileBytes` bytes. */
export function checkRange(label: string, name: string, start: number, end: number, fileBytes: number): void {
  if (!(0 <= start && start <= end && end <= fileBytes)) {
    throw new CheckpointError(`${label}: ${name} has ${fileBytes} bytes, and bytes ${start} to ${end} were asked for`);
  }
}
