/** The service's time on this machine, and whether this machine's own clock has been moved or has stood still. */

export interface Clocks {
  /** Unix ms, as the machine says. */
  readonly wall: () => number;
  /** Milliseconds that only go forward. */
  readonly steady: () => number;
}

export const machineClocks: Clocks = { wall: () => Date.now(), steady: () => performance.now() };

/** How far the two clocks of the machine may come apart during a connection, ms. */
const mostApart = 5_000;

export class ServiceClock {
  #offset: number | null = null;
  #apart = 0;

  constructor(private readonly clocks: Clocks = machineClocks) {}

  /** @param serverTime of a verified welcome, as it has just come */
  set(serverTime: string): void {
    this.#offset = Date.parse(serverTime) - this.clocks.steady();
    this.#apart = this.clocks.wall() - this.clocks.steady();
  }

  /** Unix ms by the service's clock; by this machine's before the first welcome. */
  now(): number {
    return this.#offset === null ? this.clocks.wall() : Math.round(this.clocks.steady() + this.#offset);
  }

  /** The machine slept, was restored, or its clock was set: what the service last said is no longer to be relied on. */
  hasJumped(): boolean {
    return Math.abs(this.clocks.wall() - this.clocks.steady() - this.#apart) > mostApart;
  }

  steady(): number {
    return this.clocks.steady();
  }

  wall(): number {
    return this.clocks.wall();
  }
}
