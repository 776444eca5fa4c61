/**
 * Waiting for the device. Firefox (153) looks whether work is done every 100 ms, and besides at every submit: a token
 * would take 100 ms however small the model. Where a device answers that late, empty submits while something is awaited
 * let it look sooner.
 */

/** Of an idle device that is asked whether it is done. */
const LATE_MS = 20;
/** Between two empty submits. */
const NUDGE_MS = 2;

export class Completion {
  private isLate = false;

  constructor(private readonly queue: GPUQueue) {}

  /** Finds out how late the device answers, while it is idle. */
  async measure(): Promise<void> {
    // The first answer comes whenever the interval ends that is running now.
    await this.queue.onSubmittedWorkDone();
    const begun = performance.now();
    await this.queue.onSubmittedWorkDone();
    this.isLate = performance.now() - begun > LATE_MS;
  }

  /** What `work` resolves to, which waits for the device. */
  async of<T>(work: Promise<T>): Promise<T> {
    if (!this.isLate) return work;
    const timer = setInterval(() => this.queue.submit([]), NUDGE_MS);
    try {
      return await work;
    } finally {
      clearInterval(timer);
    }
  }
}
