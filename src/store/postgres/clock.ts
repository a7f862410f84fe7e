/**
 * One clock for all nodes: PostgreSQL's. A node measures how far its own steady clock is from it, at start and with
 * each heartbeat, so that a machine whose time is wrong, or is set while the node runs, changes no deadline and no order.
 */
import type { Sql } from "./pool.ts";

/** A clock that is ahead by less than this stands still until time has caught up; by more, it is set back, ms. */
const standsStillMs = 5_000;

/** How often a node measures at least, ms. */
export const measureEveryMs = 30_000;
/** Three measurements in a row that failed: within that time a steady clock drifts by some ten milliseconds. */
const knownForMs = 3 * measureEveryMs;

/** @returns milliseconds that never go back, from any moment on */
type SteadyClock = () => number;

export class DatabaseClock {
  /** Added to the steady clock it gives PostgreSQL's time. */
  private offset: number;
  private last = 0;
  /** By the steady clock. */
  private heardAt = Number.NEGATIVE_INFINITY;

  /**
   * @param wall what the machine takes for the time until the first measurement, Unix ms
   * @param steady not moved by changes of the machine's time
   */
  constructor(
    wall: () => number = Date.now,
    private readonly steady: SteadyClock = () => performance.now(),
  ) {
    this.offset = wall() - steady();
  }

  /** PostgreSQL's time as this node knows it: whole Unix milliseconds, never earlier than an answer before. */
  readonly now = (): number => {
    const time = Math.floor(this.steady() + this.offset);
    if (time > this.last || this.last - time > standsStillMs) this.last = time;
    return this.last;
  };

  /**
   * Whether PostgreSQL told its time of late. A node that has not heard of it goes on by its steady clock, which is good
   * enough for its own deadlines, and not for what is signed and judged by the second.
   */
  get isKnown(): boolean {
    return this.steady() - this.heardAt <= knownForMs;
  }

  /** The moment before a measurement; to be handed to `heard`. */
  asked(): number {
    return this.steady();
  }

  /**
   * Takes in what PostgreSQL's clock said between `asked` and now. Within that span each moment may have been the one, so
   * the clock moves only as far as a measurement contradicts it: a slow answer does not make it worse.
   * @param time Unix ms, with fractions
   */
  heard(time: number, asked: number): void {
    const latest = time - asked;
    const earliest = time - this.steady();
    this.offset = Math.min(latest, Math.max(earliest, this.offset));
    this.heardAt = this.steady();
  }

  /** Asks PostgreSQL for its time. @throws when it does not answer */
  async measure(sql: Sql): Promise<void> {
    const asked = this.asked();
    const [row] = await sql<[{ time: number }]>`select ${sql.unsafe(databaseTime)} as time`;
    this.heard(row.time, asked);
  }
}

/** PostgreSQL's clock in Unix milliseconds, as an SQL expression. */
export const databaseTime = "(extract(epoch from clock_timestamp()) * 1000)::float8";
