/** What all scripts share: the repository's root, and the error that says in one line what is missing. */
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");

/** Something outside the repository is missing; the message is one line and names it. */
export class SetupError extends Error {}

/**
 * npm passes SIGTERM to the shell between it and the script only, and the script would live on: end with that shell.
 * A script that was started without npm is left alone.
 */
function endWithParent() {
  if (!process.env.npm_lifecycle_event) return;
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) process.kill(process.pid, "SIGTERM");
  }, 500).unref();
}

/**
 * Runs a script's body; a SetupError ends the process with its one line on standard error and exit code 1.
 * @param {() => void | Promise<void>} body
 */
export async function runScript(body) {
  endWithParent();
  try {
    await body();
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
