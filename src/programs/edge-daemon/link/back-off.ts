/** How long to wait before the next connection, by how the last one ended. */
import { closes, retryAfterMs } from "../../../../actors/edge/frames.ts";

/** How a connection ended. */
export interface Ending {
  /** Close code; 1006 where the connection was lost, or never came about. */
  readonly code: number;
  readonly reason: string;
  /** How long it was welcomed, ms; 0: never. */
  readonly welcomedMs: number;
  /** What a refused upgrade asked for, ms. */
  readonly retryAfterMs?: number;
  /** The daemon itself wants a new connection now. */
  readonly isOwnWish?: boolean;
}

/** A link that has held so long begins anew with the first step. */
const healthyMs = 60_000;
const leavingMs = 5_000;
/** What a service that asks for less, or for none, gets. */
const shortestAskedMs = 100;
const longestWaitMs = 3_600_000;

export class BackOff {
  #step = 0;

  /** @param steps seconds @param random from 0 to below 1 */
  constructor(
    private readonly steps: readonly number[],
    private readonly random: () => number = Math.random,
  ) {}

  /** Milliseconds until the next attempt. */
  after(ending: Ending): number {
    if (ending.welcomedMs >= healthyMs) this.#step = 0;
    if (ending.isOwnWish) return 0;
    switch (ending.code) {
      case closes.leaving:
      case closes.restarting:
        return this.random() * leavingMs;
      case closes.overloaded: {
        const asked = retryAfterMs(ending.reason);
        return asked === null ? this.#next() : Math.min(Math.max(asked, shortestAskedMs), longestWaitMs);
      }
      // An end that does not bind is one that the service would not have made.
      case closes.notAuthenticated:
      case closes.superseded:
      case closes.revoked:
      case closes.outdated:
        this.#step = this.steps.length - 1;
        return this.#next();
      default:
        return Math.max(this.#next(), Math.min(ending.retryAfterMs ?? 0, longestWaitMs));
    }
  }

  #next(): number {
    const seconds = this.steps[Math.min(this.#step, this.steps.length - 1)] ?? 60;
    this.#step = Math.min(this.#step + 1, this.steps.length - 1);
    return this.random() * seconds * 1_000;
  }
}
