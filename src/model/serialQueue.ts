/** Runs asynchronous work one after the other, in the order in which it was asked for. */
export class SerialQueue {
  private tail: Promise<unknown> = Promise.resolve();
  private pending = 0;

  /** True when nothing runs or waits. */
  get isIdle(): boolean {
    return this.pending === 0;
  }

  /** Resolves or rejects as `work` does; a failure does not stop what comes after. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    this.pending++;
    const before = this.tail;
    let end = () => {};
    this.tail = new Promise<void>((resolve) => {
      end = resolve;
    });
    await before;
    try {
      return await work();
    } finally {
      this.pending--;
      end();
    }
  }
}
