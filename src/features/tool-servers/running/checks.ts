/** When the tools of one connection are listed anew: every so often, and soon after the server says that they changed. */

export interface ChecksOptions {
  /** Lists them. @param counts whether a failure is one of health. Must not throw. */
  readonly look: (counts: boolean) => Promise<void>;
  /** Between two checks of health, ms; asked each time, for it may change. */
  readonly everyMs: () => number;
}

/** A server that announces all the time is not listed all the time, ms. */
const atLeastMs = 1_000;

export class Checks {
  #isOn = false;
  /** It was announced since the last listing began. */
  #isOld = false;
  #begunAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | null = null;
  #health: ReturnType<typeof setTimeout> | undefined;
  #soon: ReturnType<typeof setTimeout> | undefined;

  constructor(readonly options: ChecksOptions) {}

  /** A listing begins, here or while the connection is made: what is announced from now on it may not show. */
  begun(): void {
    this.#isOld = false;
    this.#begunAt = performance.now();
  }

  /** The server says that its tools changed. */
  announced(): void {
    this.#isOld = true;
    this.#lookSoon();
  }

  /** The connection is in use. */
  start(): void {
    this.#isOn = true;
    this.#lookLater();
    this.#lookSoon();
  }

  stop(): void {
    this.#isOn = false;
    clearTimeout(this.#health);
    clearTimeout(this.#soon);
  }

  #lookLater(): void {
    clearTimeout(this.#health);
    this.#health = setTimeout(
      () => void this.#look(true).finally(() => this.#isOn && this.#lookLater()),
      this.options.everyMs(),
    );
    this.#health.unref();
  }

  #lookSoon(): void {
    // One that is under way looks again at its end.
    if (!this.#isOn || !this.#isOld || this.#looking !== null) return;
    clearTimeout(this.#soon);
    this.#soon = setTimeout(() => void this.#look(false), Math.max(0, this.#begunAt + atLeastMs - performance.now()));
    this.#soon.unref();
  }

  #look(counts: boolean): Promise<void> {
    this.#looking ??= this.options.look(counts).finally(() => {
      this.#looking = null;
      this.#lookSoon();
    });
    return this.#looking;
  }
}
