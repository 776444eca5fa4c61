/** The one error that checkpoint code throws for bad files; its message names the file and the field or tensor. */
export class CheckpointError extends Error {
  override readonly name = "CheckpointError";
}
