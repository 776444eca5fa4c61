/** A scope of the tape around work whose results are no tensors. */
import type { Tape } from "../tensor/tape";

/** As `Tape.scope`, for any result. */
export function inScope<T>(tape: Tape, fn: () => T): T {
  let result: { value: T } | undefined;
  tape.scope(() => {
    result = { value: fn() };
  });
  return (result as { value: T }).value;
}
