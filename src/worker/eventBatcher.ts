/**
 * Collects trace events and hands them on in batches, so that a run of thousands of tokens costs the page a few
 * messages a second. The first event of a quiet period leaves at the end of its interval, never later.
 */

export class EventBatcher<Event> {
  private pending: Event[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** `send` gets each batch; `intervalMs` is the longest time that an event waits. */
  constructor(
    private readonly send: (events: Event[]) => void,
    private readonly intervalMs = 50,
  ) {}

  push(event: Event): void {
    this.pending.push(event);
    this.timer ??= setTimeout(() => this.flush(), this.intervalMs);
  }

  /** Sends what is waiting at once. */
  flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.pending.length === 0) return;
    const batch = this.pending;
    this.pending = [];
    this.send(batch);
  }
}
