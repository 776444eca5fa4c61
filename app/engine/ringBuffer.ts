/** Keeps the latest `capacity` items. Lives outside React: what fills a thousand times a second must not render. */
export class RingBuffer<T> {
  private readonly items: T[] = [];
  private next = 0;

  constructor(private readonly capacity: number) {
    if (!Number.isInteger(capacity) || capacity < 1)
      throw new RangeError(`capacity must be at least 1, not ${capacity}`);
  }

  push(item: T): void {
    this.items[this.next] = item;
    this.next = (this.next + 1) % this.capacity;
  }

  clear(): void {
    this.items.length = 0;
    this.next = 0;
  }

  /** Oldest first. */
  toArray(): T[] {
    return this.items.length < this.capacity
      ? [...this.items]
      : [...this.items.slice(this.next), ...this.items.slice(0, this.next)];
  }
}
