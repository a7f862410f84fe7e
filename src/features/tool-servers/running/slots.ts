/** Calls of one server at once on this node; further ones wait in their order. */

/** Calls of one server that wait on this node; further ones are told that it is busy. */
const mostWaiting = 1_000;

export class CallSlots {
  #taken = 0;
  readonly #waiting: (() => void)[] = [];

  /** @param limit asked for each call: it may change */
  constructor(readonly limit: () => number) {}

  /** @returns what gives the slot back; null: too many wait already @throws the signal's reason once it aborts */
  async take(signal: AbortSignal): Promise<(() => void) | null> {
    signal.throwIfAborted();
    if (this.#waiting.length >= mostWaiting) return null;
    if (this.#taken >= this.limit() || this.#waiting.length > 0) await this.#turn(signal);
    this.#taken += 1;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#taken -= 1;
      this.#next();
    };
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const go = () => {
        signal.removeEventListener("abort", gone);
        resolve();
      };
      const gone = () => {
        this.#waiting.splice(this.#waiting.indexOf(go), 1);
        reject(signal.reason);
      };
      this.#waiting.push(go);
      signal.addEventListener("abort", gone, { once: true });
    });
  }

  #next(): void {
    if (this.#taken < this.limit()) this.#waiting.shift()?.();
  }
}
