/**
 * Takes the events of the run in progress out of the worker's batches, keeps the latest ones for export, and publishes
 * a folded view at most ten times a second: React never sees single tokens.
 */
import { RingBuffer } from "./ringBuffer";

const PUBLISH_INTERVAL_MS = 100;
const KEPT_EVENTS = 50_000;

/** The view after `events`, which follow those that made `view`. */
export type Fold<Event, View> = (view: View | undefined, events: readonly Event[]) => View | undefined;

export class EventRecorder<Event, View> {
  private readonly kept = new RingBuffer<Event>(KEPT_EVENTS);
  private pending: Event[] = [];
  private view: View | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly fold: Fold<Event, View>,
    private readonly publish: (view: View | undefined) => void,
  ) {}

  reset(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.pending = [];
    this.view = undefined;
    this.kept.clear();
  }

  push(events: readonly Event[]): void {
    for (const event of events) {
      this.kept.push(event);
      this.pending.push(event);
    }
    this.timer ??= setTimeout(() => this.flush(), PUBLISH_INTERVAL_MS);
  }

  /** Takes over a whole run that is drawn already. */
  fill(events: readonly Event[]): void {
    for (const event of events) this.kept.push(event);
  }

  /** The events of the run, for export. */
  events(): Event[] {
    return this.kept.toArray();
  }

  /** Publishes what is waiting at once: before something is shown that these events are a part of. */
  flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.pending.length === 0) return;
    this.view = this.fold(this.view, this.pending);
    this.pending = [];
    this.publish(this.view);
  }
}
