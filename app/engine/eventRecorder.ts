/**
 * Takes the events of the run in progress out of the worker's batches, keeps the latest ones for export, and publishes
 * a folded view at most ten times a second: React never sees single tokens.
 */
import type { TraceEvent } from "../../src/index";
import { RingBuffer } from "./ringBuffer";
import { foldEvents, type RunView } from "./runView";

const PUBLISH_INTERVAL_MS = 100;
const KEPT_EVENTS = 50_000;

export class RunRecorder {
  private readonly kept = new RingBuffer<TraceEvent>(KEPT_EVENTS);
  private pending: TraceEvent[] = [];
  private view: RunView | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly publish: (view: RunView | undefined) => void) {}

  reset(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.pending = [];
    this.view = undefined;
    this.kept.clear();
  }

  push(events: readonly TraceEvent[]): void {
    for (const event of events) {
      this.kept.push(event);
      this.pending.push(event);
    }
    this.timer ??= setTimeout(() => this.flush(), PUBLISH_INTERVAL_MS);
  }

  /** The events of the run, for export. */
  events(): TraceEvent[] {
    return this.kept.toArray();
  }

  private flush(): void {
    this.timer = undefined;
    this.view = foldEvents(this.view, this.pending);
    this.pending = [];
    this.publish(this.view);
  }
}
