/** Runs a study in slices, so that the page stays alive; tells how far it is, and can be stopped. */
import type { PackingStudy } from "../../../src/index";

export interface StudyRunOptions {
  signal: AbortSignal;
  onProgress: () => void;
  /** Milliseconds of work before the page gets its turn. */
  sliceMs?: number;
  /** Milliseconds between two messages. */
  reportMs?: number;
  now?: () => number;
  /** Gives the page its turn. */
  rest?: () => Promise<void>;
}

const nextTask = () => new Promise<void>((resolve) => setTimeout(resolve));

/** Resolves to whether the study was finished. @throws what the study throws */
export async function runStudy(study: PackingStudy, options: StudyRunOptions): Promise<boolean> {
  const { signal, onProgress, sliceMs = 10, reportMs = 100, now = () => performance.now(), rest = nextTask } = options;
  let reported = now();
  while (!study.finished) {
    if (signal.aborted) return false;
    const start = now();
    do study.next();
    while (!study.finished && now() - start < sliceMs);
    if (now() - reported >= reportMs) {
      reported = now();
      onProgress();
    }
    await rest();
  }
  return !signal.aborted;
}
