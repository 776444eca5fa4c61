/** Files that commands write. */
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { UsageError } from "./options";

/** Refuses a path that cannot become a file, before any work is done. @throws UsageError that names the option */
export async function checkWritable(path: string, option: string): Promise<void> {
  const folder = await stat(dirname(path)).catch(() => undefined);
  if (!folder?.isDirectory()) throw new UsageError(`--${option}: there is no folder ${dirname(path)}`);
  const existing = await stat(path).catch(() => undefined);
  if (existing?.isDirectory()) throw new UsageError(`--${option}: ${path} is a folder`);
}
