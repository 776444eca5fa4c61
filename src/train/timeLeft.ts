/** How long the rest of a run takes: a moving median, which one slow step does not move. */

const WINDOW = 15;

export class TimeLeft {
  private readonly recent: number[] = [];
  private seen = 0;

  /** Adds the time of a step. The first one is left out: it compiles the kernels. */
  add(ms: number): void {
    if (this.seen++ === 0) return;
    this.recent.push(ms);
    if (this.recent.length > WINDOW) this.recent.shift();
  }

  /** Milliseconds of a usual step; undefined before the second one. */
  get medianMs(): number | undefined {
    if (this.recent.length === 0) return undefined;
    const sorted = [...this.recent].sort((a, b) => a - b);
    const middle = (sorted.length - 1) / 2;
    return ((sorted[Math.floor(middle)] as number) + (sorted[Math.ceil(middle)] as number)) / 2;
  }

  /** Seconds that so many steps take; after a single step by that step's time. */
  seconds(steps: number, lastMs: number): number {
    return ((this.medianMs ?? lastMs) * steps) / 1000;
  }
}
