/** Who has the engine: one run, evaluation or training at a time, whichever room began it. */
import { create } from "zustand";

export type Job =
  | "research"
  | "recursion"
  | "evaluation"
  | "training"
  | "batch"
  | "measurement"
  | "kernelTest"
  | "trial"
  | "weightError";

export interface JobState {
  job?: Job | undefined;
  /** Ends the job, or halts it so that it can go on later. */
  halt?: (() => void) | undefined;
}

export const useJob = create<JobState>(() => ({}));

/** Takes the engine for a job, which `halt` ends. False when another job has it. */
export function takeEngine(job: Job, halt: () => void): boolean {
  const { job: current } = useJob.getState();
  if (current !== undefined && current !== job) return false;
  useJob.setState({ job, halt });
  return true;
}

/** Gives the engine back, if this job has it. */
export function releaseEngine(job: Job): void {
  if (useJob.getState().job === job) useJob.setState({ job: undefined, halt: undefined });
}
