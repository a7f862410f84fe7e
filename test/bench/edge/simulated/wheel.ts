/** One timer for thousands of things that come due: precise to a tick, which is enough for heartbeats. */
const tickMs = 100;

export class Wheel<Item> {
  readonly #slots: Item[][];
  #at = 0;

  /** @param longestMs that anything waits */
  constructor(longestMs: number, due: (item: Item) => void) {
    this.#slots = Array.from({ length: Math.ceil(longestMs / tickMs) + 2 }, () => []);
    setInterval(() => {
      this.#at = (this.#at + 1) % this.#slots.length;
      for (const item of this.#slots[this.#at]?.splice(0) ?? []) due(item);
    }, tickMs);
  }

  add(item: Item, inMs: number): void {
    const ticks = Math.min(this.#slots.length - 1, Math.max(1, Math.round(inMs / tickMs)));
    this.#slots[(this.#at + ticks) % this.#slots.length]?.push(item);
  }
}
